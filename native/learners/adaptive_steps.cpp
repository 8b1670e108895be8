#include "learners/adaptive_steps.hpp"

#include <algorithm>
#include <cmath>

namespace structlearn {
namespace {

// Keeps AdaGrad's first steps from being as long as its rate however small the gradient is.
constexpr double kDelta = 1.0;

}  // namespace

AdaptiveSteps::AdaptiveSteps(const Problem& problem, const OnlineSettings& settings,
                             OnlineState& state)
    : problem_(problem),
      settings_(settings),
      state_(state),
      average_(settings.average && !state.behind.empty()),
      scratch_(problem.weights(), 0.0) {
  if (settings.step == Step::kAdaGrad) {
    decay_ = settings.rate / (settings.C * static_cast<double>(problem.examples()));
    current_.assign(problem.weights(), state.steps);
  }
}

void AdaptiveSteps::gather(std::size_t i, const Layout& layout, const PartVector& r) {
  touched_.clear();
  gradient_.clear();
  problem_.scorer().gather(i, layout, r, scratch_.data(), touched_);
  for (const std::size_t q : touched_) {
    if (scratch_[q] != 0.0) gradient_.emplace_back(q, scratch_[q]);
    scratch_[q] = 0.0;  // a weight touched twice comes once
  }
}

void AdaptiveSteps::move(std::size_t q, double d) {
  state_.v[q] += d;
  if (average_) state_.behind[q] -= state_.ahead * d;
}

// A weight without a gradient is multiplied by 1 - x = H / (H + eta lambda) at each step: k of them
// at once, and their sum for the average.
void AdaptiveSteps::catch_up(std::size_t q) {
  double& w = state_.v[q];
  if (w == 0.0) return;  // and up to date with the step that will change that
  const double k = state_.steps - current_[q];
  if (k == 0.0) return;
  current_[q] = state_.steps;
  const double x = decay_ / (kDelta + std::sqrt(state_.squares[q]) + decay_);
  const double lost = std::expm1(k * std::log1p(-x));
  if (average_) state_.behind[q] -= w * (1.0 - x) * lost / x;
  w += w * lost;
}

void AdaptiveSteps::prepare(std::size_t i, const Layout& layout) {
  if (settings_.step != Step::kAdaGrad) return;
  ranges_.clear();
  problem_.scorer().rows(i, layout, ranges_);
  for (const auto& [begin, count] : ranges_) {
    for (std::size_t q = begin; q < begin + count; ++q) catch_up(q);
  }
}

void AdaptiveSteps::finish() {
  if (settings_.step != Step::kAdaGrad) return;
  for (std::size_t q = 0; q < state_.v.size(); ++q) catch_up(q);
}

bool AdaptiveSteps::take(std::size_t i, const Layout& layout, const PartVector& r, double loss,
                         double weight) {
  if (settings_.step != Step::kAdaGrad && !(loss > 0.0)) return false;
  gather(i, layout, r);
  if (gradient_.empty()) return false;  // outputs that no weight tells apart
  switch (settings_.step) {
    case Step::kAdaGrad:
      adagrad(weight);
      break;
    case Step::kArow:
      arow(loss, weight);
      break;
    default:
      passive_aggressive(loss, weight);
  }
  return true;
}

void AdaptiveSteps::passive_aggressive(double loss, double weight) {
  double norm = 0.0;
  for (const auto& [q, g] : gradient_) norm += g * g;
  const double C = settings_.C * weight;
  const double tau = settings_.step == Step::kPassiveAggressive ? std::min(C, loss / norm)
                                                                : loss / (norm + 0.5 / C);
  for (const auto& [q, g] : gradient_) move(q, -tau * g);
}

void AdaptiveSteps::arow(double loss, double weight) {
  const double r = settings_.rate;
  const auto variance = [&](std::size_t q) { return 1.0 / (1.0 + state_.squares[q] / r); };
  double confidence = 0.0;
  for (const auto& [q, g] : gradient_) confidence += g * g * variance(q);
  const double alpha = loss / (confidence + r / weight);
  for (const auto& [q, g] : gradient_) {
    move(q, -alpha * variance(q) * g);
    state_.squares[q] += weight * g * g;
  }
}

void AdaptiveSteps::adagrad(double weight) {
  for (const auto& [q, slope] : gradient_) {
    const double g = weight * slope;
    state_.squares[q] += g * g;
    const double H = kDelta + std::sqrt(state_.squares[q]);
    double& w = state_.v[q];
    w = (H * w - settings_.rate * g) / (H + decay_);
    if (average_) state_.behind[q] += w;
    current_[q] = state_.steps;  // the caller has counted this step already
  }
}

}  // namespace structlearn
