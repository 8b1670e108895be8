#include "adaptive_steps.hpp"

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
      g_(problem.weights(), 0.0) {
  if (settings.step == Step::kAdaGrad) {
    decay_ = settings.rate / (settings.C * static_cast<double>(problem.examples()));
    current_.assign(problem.weights(), state.steps);
  }
}

// `touched_` ends with the weights whose gradient is not zero, each once.
void AdaptiveSteps::gather(std::size_t i, const Layout& layout, const PartVector& r) {
  touched_.clear();
  problem_.scorer().gather(i, layout, r, g_.data(), touched_);
  if (r.dense || touched_.size() > 1) {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  }
  std::erase_if(touched_, [&](std::size_t q) { return g_[q] == 0.0; });
}

void AdaptiveSteps::move(std::size_t q, double d) {
  state_.v[q] += d;
  if (average_) state_.behind[q] -= state_.ahead * d;
}

// A weight without a gradient is multiplied by 1 - x = H / (H + eta lambda) at each step: k of them
// at once, and their sum for the average.
void AdaptiveSteps::catch_up(std::size_t q) {
  const double k = state_.steps - current_[q];
  current_[q] = state_.steps;
  double& w = state_.v[q];
  if (k == 0.0 || w == 0.0) return;
  const double x = decay_ / (kDelta + std::sqrt(state_.squares[q]) + decay_);
  const double lost = std::expm1(k * std::log1p(-x));
  if (average_) state_.behind[q] -= w * (1.0 - x) * lost / x;
  w += w * lost;
}

void AdaptiveSteps::prepare(std::size_t i, const Layout& layout) {
  if (settings_.step != Step::kAdaGrad) return;
  everything_.clear(true);
  everything_.value.assign(layout.parts, 1.0);
  touched_.clear();
  problem_.scorer().gather(i, layout, everything_, g_.data(), touched_);
  for (const std::size_t q : touched_) {
    g_[q] = 0.0;
    catch_up(q);
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
  bool moved = false;
  switch (settings_.step) {
    case Step::kAdaGrad:
      moved = adagrad(weight);
      break;
    case Step::kArow:
      moved = arow(loss, weight);
      break;
    default:
      moved = passive_aggressive(loss, weight);
  }
  for (const std::size_t q : touched_) g_[q] = 0.0;
  return moved;
}

bool AdaptiveSteps::passive_aggressive(double loss, double weight) {
  double norm = 0.0;
  for (const std::size_t q : touched_) norm += g_[q] * g_[q];
  if (norm == 0.0) return false;  // outputs that no weight tells apart
  const double C = settings_.C * weight;
  const double tau = settings_.step == Step::kPassiveAggressive ? std::min(C, loss / norm)
                                                                : loss / (norm + 0.5 / C);
  for (const std::size_t q : touched_) move(q, -tau * g_[q]);
  return true;
}

bool AdaptiveSteps::arow(double loss, double weight) {
  const double r = settings_.rate;
  const auto variance = [&](std::size_t q) { return 1.0 / (1.0 + state_.squares[q] / r); };
  double confidence = 0.0;
  for (const std::size_t q : touched_) confidence += g_[q] * g_[q] * variance(q);
  if (confidence == 0.0) return false;
  const double alpha = loss / (confidence + r / weight);
  for (const std::size_t q : touched_) {
    move(q, -alpha * variance(q) * g_[q]);
    state_.squares[q] += weight * g_[q] * g_[q];
  }
  return true;
}

bool AdaptiveSteps::adagrad(double weight) {
  for (const std::size_t q : touched_) {
    const double g = weight * g_[q];
    state_.squares[q] += g * g;
    const double H = kDelta + std::sqrt(state_.squares[q]);
    double& w = state_.v[q];
    w = (H * w - settings_.rate * g) / (H + decay_);
    if (average_) state_.behind[q] += w;
    current_[q] = state_.steps;  // the caller has counted this step already
  }
  return !touched_.empty();
}

}  // namespace structlearn
