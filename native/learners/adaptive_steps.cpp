#include "learners/adaptive_steps.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"

namespace structlearn {

template <class Real>
AdaptiveSteps<Real>::AdaptiveSteps(const Problem& problem, const OnlineSettings& settings,
                                   OnlineState<Real>& state)
    : problem_(problem),
      settings_(settings),
      state_(state),
      average_(settings.average && !state.behind.empty()),
      merge_(problem.weights()) {
  if (settings.step == Step::kAdaGrad) {
    decay_ = settings.rate / (settings.C * static_cast<double>(problem.examples()));
    if (decay_ > 0.0) current_.assign(problem.weights(), state.steps);
  }
}

template <class Real>
void AdaptiveSteps<Real>::gather(std::size_t i, const Layout& layout, const PartVector& r) {
  gradient_.clear();
  problem_.scorer().gather(i, layout, r, gradient_, settings_.least);
  merge_(gradient_);
}

template <class Real>
void AdaptiveSteps<Real>::move(std::size_t q, double d) {
  state_.v[q] += static_cast<Real>(d);
  if (average_) state_.behind[q] -= static_cast<Real>(state_.ahead * d);
}

// A weight without a gradient is multiplied by 1 - x = H / (H + eta lambda) at each step: k of them
// at once, and their sum for the average.
template <class Real>
void AdaptiveSteps<Real>::catch_up(std::size_t q) {
  Real& w = state_.v[q];
  if (w == 0.0) return;  // and up to date with the step that will change that
  const double k = state_.steps - current_[q];
  if (k == 0.0) return;
  current_[q] = state_.steps;
  const double x = decay_ / (settings_.delta + std::sqrt(state_.squares[q]) + decay_);
  const double lost = elementary::expm1(k * elementary::log1p(-x));
  if (average_) state_.behind[q] -= static_cast<Real>(w * (1.0 - x) * lost / x);
  w += static_cast<Real>(w * lost);
}

template <class Real>
void AdaptiveSteps<Real>::prepare(std::size_t i, const Layout& layout) {
  if (current_.empty()) return;
  ranges_.clear();
  problem_.scorer().rows(i, layout, ranges_);
  for (const auto& [begin, count] : ranges_) {
    for (std::size_t q = begin; q < begin + count; ++q) catch_up(q);
  }
}

template <class Real>
void AdaptiveSteps<Real>::finish() {
  if (current_.empty()) return;
  for (std::size_t q = 0; q < state_.v.size(); ++q) catch_up(q);
}

template <class Real>
bool AdaptiveSteps<Real>::take(std::size_t i, const Layout& layout, const PartVector& r,
                               double loss, double weight) {
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

template <class Real>
void AdaptiveSteps<Real>::passive_aggressive(double loss, double weight) {
  double norm = 0.0;
  for (const auto& [q, g] : gradient_) norm += g * g;
  const double C = settings_.C * weight;
  const double tau = settings_.step == Step::kPassiveAggressive ? std::min(C, loss / norm)
                                                                : loss / (norm + 0.5 / C);
  for (const auto& [q, g] : gradient_) move(q, -tau * g);
}

template <class Real>
void AdaptiveSteps<Real>::arow(double loss, double weight) {
  const double r = settings_.rate;
  const auto variance = [&](std::size_t q) { return 1.0 / (1.0 + state_.squares[q] / r); };
  double confidence = 0.0;
  for (const auto& [q, g] : gradient_) confidence += g * g * variance(q);
  const double alpha = loss / (confidence + r / weight);
  for (const auto& [q, g] : gradient_) {
    move(q, -alpha * variance(q) * g);
    state_.squares[q] += static_cast<Real>(weight * g * g);
  }
}

template <class Real>
void AdaptiveSteps<Real>::adagrad(double weight) {
  for (const auto& [q, slope] : gradient_) {
    const double g = weight * slope;
    state_.squares[q] += static_cast<Real>(g * g);
    const double H = settings_.delta + std::sqrt(state_.squares[q]);
    if (H == 0.0) continue;  // the square of a gradient so small is 0
    if (current_.empty()) {
      move(q, -settings_.rate * g / H);
      continue;
    }
    Real& w = state_.v[q];
    w = static_cast<Real>((H * w - settings_.rate * g) / (H + decay_));
    if (average_) state_.behind[q] += w;
    current_[q] = state_.steps;  // the caller has counted this step already
  }
}

template class AdaptiveSteps<double>;
template class AdaptiveSteps<float>;

}  // namespace structlearn
