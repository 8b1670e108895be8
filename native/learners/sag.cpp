#include "learners/sag.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace structlearn {
namespace {

constexpr double kSmallestScale = 1e-4;  // of v; below it rounding would show
constexpr double kFlat = 1e-8;           // |gradient|^2 whose curvature rounding hides
constexpr int kDoublings = 60;
constexpr std::int32_t kLongestStreak = 5;

// Weights of examples with their sum and maximum; every node is a function of the leaves alone.
class SumTree {
 public:
  explicit SumTree(std::span<const double> leaves) : size_(std::bit_ceil(leaves.size() + 1)) {
    sum_.assign(2 * size_, 0.0);
    max_.assign(2 * size_, 0.0);
    for (std::size_t i = 0; i < leaves.size(); ++i) sum_[size_ + i] = max_[size_ + i] = leaves[i];
    for (std::size_t k = size_ - 1; k > 0; --k) join(k);
  }
  double sum() const { return sum_[1]; }
  double max() const { return max_[1]; }
  void set(std::size_t i, double weight) {
    std::size_t k = size_ + i;
    if (sum_[k] == weight) return;
    sum_[k] = max_[k] = weight;
    while (k >>= 1) join(k);
  }
  // The example at the share u of the sum; the sum must not be 0.
  std::size_t at(double u) const {
    double x = u * sum_[1];
    std::size_t k = 1;
    while (k < size_) {
      k *= 2;
      if (x >= sum_[k] && sum_[k + 1] > 0.0) x -= sum_[k++];
    }
    return k - size_;
  }

 private:
  void join(std::size_t k) {
    sum_[k] = sum_[2 * k] + sum_[2 * k + 1];
    max_[k] = std::max(max_[2 * k], max_[2 * k + 1]);
  }
  std::size_t size_;
  std::vector<double> sum_, max_;
};

class Visitor {
 public:
  Visitor(const Problem& problem, const SagSettings& settings, SagState& state)
      : problem_(problem),
        scorer_(problem.scorer()),
        s_(settings),
        state_(state),
        tree_(weighted(problem, state)),
        scratch_(problem.weights(), 0.0) {
    gradient_.dense = difference_.dense = true;
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      if (!(problem.sample_weight(i) > 0.0)) continue;
      active_.push_back(i);
      if (state.visited[i]) seen_ += 1.0;
    }
  }

  bool nothing_to_do() const { return active_.empty(); }

  std::size_t draw(double u) const {
    if (u < 0.5 || !(tree_.sum() > 0.0)) {
      const double share = u < 0.5 ? 2.0 * u : 2.0 * u - 1.0;
      const auto k = static_cast<std::size_t>(share * static_cast<double>(active_.size()));
      return active_[std::min(k, active_.size() - 1)];
    }
    return tree_.at(2.0 * u - 1.0);
  }

  void visit(std::size_t i, SagReport& report) {
    const double weight = problem_.sample_weight(i);
    if (!(weight > 0.0)) return;
    const Layout layout = scorer_.layout(i);
    double* theta = scores_at_weights(i, layout);
    const double clamp = problem_.gold_dot(i, theta);
    const double value = infer(i, layout, theta, gradient_, report);
    double score = 0.0;
    for (std::size_t j = 0; j < layout.parts; ++j) {
      if (gradient_.value[j] != 0.0) score += gradient_.value[j] * theta[j];  // not 0 times -inf
    }
    problem_.add_gold(i, -1.0, gradient_.value.data());
    const bool first = !state_.visited[i];
    if (first) state_.lipschitz[i] = seen_ > 0.0 ? tree_.sum() / (seen_ * weight) : 0.0;
    if (--state_.patience[i] < 0) search(i, layout, theta, value - clamp, first, report);
    tree_.set(i, weight * state_.lipschitz[i]);
    if (first) {
      state_.visited[i] = 1;
      seen_ += 1.0;
    }

    state_.entropy[i] = value - score;
    state_.loss[i] = value - clamp;
    double* memory = state_.memory.data() + state_.part_ptr[i];
    difference_.value.resize(layout.parts);
    for (std::size_t j = 0; j < layout.parts; ++j) {
      difference_.value[j] = gradient_.value[j] - memory[j];
      memory[j] = gradient_.value[j];
    }
    // w stays where it is when g changes.
    scorer_.scatter(i, layout, difference_, weight, state_.g.data(), weight * b_ / a_,
                    state_.w.data());
    step();
    ++report.seen;
  }

  // Writes the weights out: v becomes w.
  void settle() {
    for (std::size_t j = 0; j < state_.w.size(); ++j) {
      state_.w[j] = a_ * state_.w[j] - b_ * state_.g[j];
    }
    a_ = 1.0;
    b_ = 0.0;
  }

 private:
  enum Scratch { kTheta, kOther, kAugmented };

  static std::vector<double> weighted(const Problem& problem, const SagState& state) {
    std::vector<double> weights(problem.examples());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = state.visited[i] ? problem.sample_weight(i) * state.lipschitz[i] : 0.0;
    }
    return weights;
  }

  double* scores_at_weights(std::size_t i, const Layout& layout) {
    double* theta = ws_.real(kTheta, layout.parts);
    scorer_.score(i, layout, state_.w.data(), a_, theta);
    if (b_ != 0.0) {
      double* other = ws_.real(kOther, layout.parts);
      scorer_.score(i, layout, state_.g.data(), -b_, other);
      for (std::size_t j = 0; j < layout.parts; ++j) theta[j] += other[j];
    }
    return theta;
  }

  // infer at the scores with the cost and its constant.
  double infer(std::size_t i, const Layout& layout, const double* theta, PartVector& p,
               SagReport& report) {
    ++report.inferences;
    double* augmented = ws_.real(kAugmented, layout.parts);
    std::copy(theta, theta + layout.parts, augmented);
    return problem_.augmented(i, layout, augmented, s_.margin, s_.temperature, p, ws_) +
           problem_.cost_constant(i, s_.margin);
  }

  // Halves the estimate, but for a first one, if L_i(w - L_i' / l) <= L_i(w) - |L_i'|^2 / 2l holds
  // for the half, doubles it until it does.
  void search(std::size_t i, const Layout& layout, const double* theta, double loss, bool first,
              SagReport& report) {
    const auto& r = gradient_.value;
    scorer_.scatter(i, layout, gradient_, 1.0, scratch_.data());
    double* along = ws_.real(kOther, layout.parts);  // A A^T r, and the masks
    scorer_.score(i, layout, scratch_.data(), 1.0, along);
    scorer_.clear(i, layout, gradient_, scratch_.data());
    double square = 0.0, size = 0.0;
    for (std::size_t j = 0; j < layout.parts; ++j) {
      if (r[j] == 0.0) continue;
      square += r[j] * along[j];
      size += r[j] * r[j];
    }
    if (!(square > kFlat)) return;
    double& estimate = state_.lipschitz[i];
    const double before = estimate;
    if (estimate == 0.0) {
      estimate = 0.25 * square / (size * s_.temperature);
    } else if (!first) {
      estimate *= 0.5;
    }
    trial_.resize(layout.parts);
    for (int k = 0; k < kDoublings; ++k, estimate *= 2.0) {
      for (std::size_t j = 0; j < layout.parts; ++j) {
        trial_[j] = std::isinf(theta[j]) ? theta[j] : theta[j] - along[j] / estimate;
      }
      const double clamp = problem_.gold_dot(i, trial_.data());
      const double there = infer(i, layout, trial_.data(), elsewhere_, report) - clamp;
      if (there <= loss - 0.5 * square / estimate) break;
    }
    std::int32_t& streak = state_.streak[i];
    if (estimate == before) {
      streak = std::min(streak + 1, kLongestStreak);
    } else if (estimate > before) {
      streak = 0;
    }
    state_.patience[i] = (std::int32_t{2} << streak) - 1;
  }

  void step() {
    const double lambda = 1.0 / (s_.C * static_cast<double>(active_.size()));
    const double highest = tree_.max() + lambda, mean = tree_.sum() / seen_ + lambda;
    const double step = 0.5 * state_.step_factor * (1.0 / highest + 1.0 / mean);
    const double keep =
        std::max(1.0 - step * lambda, 0.25);  // of the weights; 0 could not be undone
    a_ *= keep;
    b_ = keep * b_ + (1.0 - keep) / (lambda * seen_);
    if (a_ < kSmallestScale) settle();
  }

  const Problem& problem_;
  const Scorer& scorer_;
  const SagSettings& s_;
  SagState& state_;
  SumTree tree_;
  std::vector<double> scratch_;  // one zero a weight
  std::vector<std::size_t> active_;
  double seen_ = 0.0;         // examples that have a memory
  double a_ = 1.0, b_ = 0.0;  // the weights are a v - b g; v lies where they will
  Workspace ws_;
  PartVector gradient_, difference_, elsewhere_;
  std::vector<double> trial_;
};

}  // namespace

SagReport sag_pass(const Problem& problem, std::span<const std::int64_t> order,
                   std::span<const double> draws, const SagSettings& settings, SagState& state,
                   Interrupt& interrupt) {
  SagReport report;
  Visitor visitor(problem, settings, state);
  if (visitor.nothing_to_do()) return report;
  const std::size_t n = order.empty() ? draws.size() : order.size();
  try {
    for (std::size_t k = 0; k < n && report.complete; ++k) {
      if (interrupt.requested()) {
        report.complete = false;
      } else {
        visitor.visit(order.empty() ? visitor.draw(draws[k]) : static_cast<std::size_t>(order[k]),
                      report);
      }
    }
  } catch (...) {  // a structure failed: the weights are as they were before the visit
    visitor.settle();
    throw;
  }
  visitor.settle();
  return report;
}

}  // namespace structlearn
