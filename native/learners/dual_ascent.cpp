// A visit of example i wants the maximum of the dual over its distribution alone. That is where
// theta' = A w' with w' = w - C A^T (mu' - mu): an implicit step. With A A^T taken as diagonal (the
// squared norm of a site's features, times a damping that each example learns) every site has a
// step of its own between the old scores and those of w. A step that would lower the dual is taken
// back and the next one shortened, so the dual never falls.
#include "learners/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numeric/kernels.hpp"
#include "numeric/team.hpp"

namespace structlearn {
namespace {

constexpr int kTrials = 5;  // of a first step
constexpr std::size_t kLooks = 8;
// The shortest step. Where an example is at its optimum rounding refuses half of the steps, and one
// that had shrunk to nothing could not follow the weights when they move again.
constexpr double kShortest = 1e-6;
// How much longer than the best for the example alone a step is meant to be (over-relaxation). To
// a gap of 0.1 % on CoNLL-2000, seed 0, 13 passes at 1, 11 at 1.2 and 12 at 1.35; on a fifth of it
// 10 passes at 1 and at 1.3, 12 at 1.6.
constexpr double kBeyond = 1.2;
// The most visits whose steps are chosen at the same weights. Up to 8 of some thousand the passes
// hardly notice; at 16 and 32 it took more of them (a fifth of CoNLL-2000, two seeds).
constexpr std::size_t kBatch = 8;
// Few examples have much to say to each other.
constexpr std::size_t kExamplesOfSlot = 32;

// One site of a first visit, mu the gold output: mu' - mu = g (p - mu) with g in [0, 1] such that
// mu' is, along p - mu, the softmax of log p - a g (p - mu).
double step_from_gold(const double* p, const double* mu, std::size_t n, double a, double* scratch,
                      double* distance) {
  double rr = 0.0, pr = 0.0, prr = 0.0, gold = 0.0, mass = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double r = p[k] - mu[k];
    rr += r * r;
    pr += p[k] * r;
    prr += p[k] * r * r;
    gold += mu[k] * r;
    mass += p[k];
  }
  *distance = rr;
  if (!(rr > 0.0) || !(mass > 0.0)) return 1.0;
  double low = 0.0, high = 1.0, g = 1.0 / (1.0 + a * std::max(prr - pr * pr / mass, 0.0) / rr);
  if (rr < 1e-3) return g;  // the linear answer is good enough
  for (int round = 0; round < 6; ++round) {
    double shift = kMinusInfinity;
    for (std::size_t k = 0; k < n; ++k) {
      scratch[k] = -a * g * (p[k] - mu[k]);
      shift = std::max(shift, scratch[k]);
    }
    kernels().exp_shifted(scratch, n, shift, 1.0, scratch);
    double sum = 0.0, along = 0.0, square = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double r = p[k] - mu[k], x = scratch[k] * p[k];
      sum += x;
      along += x * r;
      square += x * r * r;
    }
    if (!(sum > 0.0)) break;
    along *= mass / sum;
    square *= mass / sum;
    const double f = along - gold - g * rr;
    (f > 0.0 ? low : high) = g;
    double next = g + f / (a * (square - along * along / mass) + rr);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool close = std::abs(next - g) < 0.05 * g;
    g = next;
    if (close) break;
  }
  return g;
}

// A visit of one example in two halves: choose() reads w and writes nothing that other visits read,
// so that several can be under way; settle() moves w.
class Visit {
 public:
  Visit(const Problem& problem, const AscentSettings& settings, AscentState& state)
      : problem_(problem), scorer_(problem.scorer()), s_(settings), state_(state) {
    difference_.dense = true;
  }

  // Finds the step of example i; `ws` is for the structure, and free again afterwards.
  void choose(std::size_t i, Workspace& ws) {
    i_ = i;
    weight_ = problem_.sample_weight(i);
    inferences_ = 0;
    if (weight_ == 0.0) return;
    C_ = s_.C * weight_;
    layout_ = scorer_.layout(i);
    const std::size_t at = static_cast<std::size_t>(state_.part_ptr[i]);
    theta_ = state_.theta.data() + at;
    mu_ = state_.mu.data() + at;
    model_ = own_.real(kModel, layout_.parts);
    augmented_ = own_.real(kAugmented, layout_.parts);
    next_ = own_.real(kNext, layout_.parts);
    scorer_.score(i, layout_, state_.w.data(), 1.0, model_);
    clamp_ = problem_.gold_dot(i, model_);
    if (state_.visited[i]) {
      move();
      model_old_ = 0.0;
      for (std::size_t j = 0; j < layout_.parts; ++j) {
        if (mu_[j] != 0.0) model_old_ += model_[j] * mu_[j];
      }
    } else {
      loss_ = infer(model_, ws);
      initial_.assign(p_.value.begin(), p_.value.end());
      std::fill(mu_, mu_ + layout_.parts, 0.0);
      std::fill(theta_, theta_ + layout_.parts, 0.0);
      problem_.add_gold(i, 1.0, mu_);
      move_from_gold(s_.first_damping, true);
    }
    evaluate(ws);
  }

  // Takes the step if the dual rises.
  void settle(Workspace& ws, AscentReport& report) {
    if (weight_ == 0.0) return;
    if (state_.visited[i_]) {
      settle_later(report);
    } else {
      settle_first(ws, report);
    }
    report.inferences += inferences_;
    report.loss += weight_ * (loss_ - clamp_);
    ++report.seen;
  }

 private:
  enum Scratch { kModel, kAugmented, kNext, kScratch };

  // infer at the given scores: value in the family's distribution, marginals in p_.
  double infer(double* scores, Workspace& ws) {
    ++inferences_;
    if (s_.margin != 0.0) {  // the cost is added in place
      std::copy(scores, scores + layout_.parts, augmented_);
      scores = augmented_;
    }
    return problem_.augmented(i_, layout_, scores, s_.margin, s_.temperature, p_, ws) +
           problem_.cost_constant(i_, s_.margin);
  }

  // next_: the scores of w, or as far towards them as a diagonal model thinks best.
  void move() {
    const double curvature = C_ * state_.damping[i_], longest = state_.longest[i_];
    each_site([&](std::size_t first, std::size_t n, double norm, bool) {
      kernels().dual_step(model_ + first, theta_ + first, mu_ + first, n, s_.temperature,
                          curvature * norm, longest, own_.real(kScratch, 3 * (n + 8)),
                          next_ + first);
    });
  }

  // The distribution at the scores next_, and what it would bring at the weights that were scored.
  void evaluate(Workspace& ws) {
    const double value = infer(next_, ws);
    difference_.value.resize(layout_.parts);
    kernels().dual_sums(model_, theta_, next_, p_.value.data(), mu_, layout_.parts,
                        difference_.value.data(), sums_);
    entropy_ = value - sums_[0];
    gain_ = entropy_ - state_.entropy[i_] + sums_[1];
  }

  // Moves w. False, and w is where it was, if the dual would have fallen: exactly, wherever other
  // visits have moved the weights since they were scored.
  bool take(AscentReport& report) {
    growth_ = scorer_.scatter_growth(i_, layout_, difference_, -C_, state_.w.data());
    if (C_ * (entropy_ - state_.entropy[i_]) >= 0.5 * growth_) {
      state_.entropy[i_] = entropy_;
      std::copy(p_.value.begin(), p_.value.end(), mu_);
      std::copy(next_, next_ + layout_.parts, theta_);
      return true;
    }
    ++report.refused;
    scorer_.scatter(i_, layout_, difference_, C_, state_.w.data());
    return false;
  }

  void settle_later(AscentReport& report) {
    // infer is convex: its tangent at the new scores bounds the loss at those of w from below.
    loss_ = gain_ + state_.entropy[i_] + model_old_;
    // Slopes of the dual over C at the beginning of the step and at its end.
    const double slope0 = sums_[1] - sums_[2];
    state_.gap[i_] = C_ * std::max(gain_, 0.5 * slope0);
    const bool good = take(report);
    // |w - C A'd|^2 = |w|^2 - 2 C <A w, d> + C^2 |A'd|^2
    const double square = std::max(growth_ / C_ + 2.0 * sums_[1], 0.0);
    const double slope1 = sums_[1] - sums_[3] - square;
    if (slope0 > slope1 && slope0 > 0.0) {
      const double best = slope0 / (slope0 - slope1);  // times this step
      double& damping = state_.damping[i_];
      damping = std::clamp(damping / std::clamp(kBeyond * best, 0.33, 1.5), 0.05, 1e6);
    }
    double& longest = state_.longest[i_];
    longest = good ? std::min(1.0, 2.0 * longest) : std::max(0.25 * longest, kShortest);
  }

  void settle_first(Workspace& ws, AscentReport& report) {
    double damping = s_.first_damping;
    for (int trial = 1;; ++trial) {
      state_.gap[i_] = C_ * std::max(gain_, 0.0);
      if (take(report)) {
        state_.visited[i_] = 1;
        return;
      }
      if (trial == kTrials) return;  // better luck in the next pass, at other weights
      damping *= 3.0;
      move_from_gold(damping, false);
      evaluate(ws);
    }
  }

  // next_ = the scores of w, the gold output's raised and the others' lowered.
  void move_from_gold(double damping, bool boldly) {
    const auto shift = [&](std::size_t first, std::size_t outcomes, double by) {
      for (std::size_t k = 0; k < outcomes; ++k) {
        const std::size_t j = first + k;
        next_[j] = model_[j] - by * (initial_[j] - mu_[j]);
      }
    };
    double moved = 0.0, wanted = 0.0;
    each_site([&](std::size_t first, std::size_t outcomes, double norm, bool anchored) {
      if (!anchored && !boldly) return;
      const double c = C_ * damping * norm;
      double distance;
      const double g = step_from_gold(initial_.data() + first, mu_ + first, outcomes,
                                      c / s_.temperature, own_.real(kScratch, outcomes), &distance);
      shift(first, outcomes, c * g);
      moved += g * distance;
      wanted += distance;
    });
    // A table that all sites share cannot point at each site's gold outcome, only at the frequent
    // ones; where that went wrong it moves as the marginals will, no more.
    if (boldly) return;
    const double share = wanted > 0.0 ? moved / wanted : 1.0 / (1.0 + damping);
    each_site([&](std::size_t first, std::size_t outcomes, double norm, bool anchored) {
      if (!anchored) shift(first, outcomes, C_ * norm * share);
    });
  }

  // each(first part, number of outcomes, squared norm of the features, anchored) for every site.
  template <class Each>
  void each_site(Each&& each) const {
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      const Block& at = layout_.block[b];
      if (!at.present) continue;
      for (std::size_t s = 0; s < at.sites; ++s) {
        each(at.offset + s * at.outcomes, at.outcomes, scorer_.squared_norm_of_site(i_, b, s),
             at.anchored);
      }
    }
  }

  const Problem& problem_;
  const Scorer& scorer_;
  const AscentSettings& s_;
  AscentState& state_;
  Workspace own_;
  PartVector p_, difference_;    // the new marginals, and how far they are from the old ones
  std::vector<double> initial_;  // the marginals at the scores of w
  // Of the example at hand: memory, scores of w, new scores.
  double *theta_ = nullptr, *mu_ = nullptr, *model_ = nullptr, *augmented_ = nullptr,
         *next_ = nullptr;
  std::size_t i_ = 0, inferences_ = 0;
  Layout layout_;
  double weight_ = 0.0, C_ = 0.0;  // C times the example's weight
  double clamp_ = 0.0, loss_ = 0.0;
  double model_old_ = 0.0;  // of the old marginals at the scores of w
  double sums_[4] = {};     // see Kernels::dual_sums
  double entropy_ = 0.0;    // h at the new distribution
  double gain_ = 0.0;       // the dual rises by C gain - |C A'd|^2 / 2
  double growth_ = 0.0;     // of |w|^2 by the step
};

// Up to `most` of the first examples, none of them twice.
std::size_t batch_size(std::span<const std::int64_t> order, std::size_t most) {
  std::size_t size = 1;
  const auto known = [&](std::int64_t i) {
    return std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size), i) !=
           order.begin() + static_cast<std::ptrdiff_t>(size);
  };
  while (size < std::min(most, order.size()) && !known(order[size])) ++size;
  return size;
}

}  // namespace

AscentReport dual_ascent_pass(const Problem& problem, std::span<const std::int64_t> order,
                              const AscentSettings& settings, AscentState& state,
                              std::size_t threads, Interrupt& interrupt) {
  AscentReport report;
  const std::size_t n = order.size();
  // Of the problem alone, never of the threads.
  const std::size_t most = std::clamp<std::size_t>(problem.examples() / kExamplesOfSlot, 1, kBatch);
  Team team(problem.oracle().threads_allowed() ? std::min(threads, most) : 1);
  std::vector<Workspace> workspace(team.size());
  std::vector<std::size_t> turn(most);
  std::vector<Visit> batch;
  for (std::size_t slot = 0; slot < std::min(most, n); ++slot) {
    batch.emplace_back(problem, settings, state);
  }
  // Weights that many examples share still sway from visit to visit; a few looks average it out.
  const std::size_t stride = std::max<std::size_t>(n / (2 * kLooks), 1);
  double looks = 0.0;
  for (std::size_t begin = 0, size; begin < n; begin += size) {
    size = batch_size(order.subspan(begin), most);
    // The longest first: the threads end at nearly the same time.
    std::iota(turn.begin(), turn.begin() + static_cast<std::ptrdiff_t>(size), std::size_t{0});
    const auto parts = [&](std::size_t slot) {
      const std::size_t i = static_cast<std::size_t>(order[begin + slot]);
      return state.part_ptr[i + 1] - state.part_ptr[i];
    };
    std::sort(turn.begin(), turn.begin() + static_cast<std::ptrdiff_t>(size),
              [&](std::size_t a, std::size_t b) { return parts(a) > parts(b); });
    team.run(size, [&](std::size_t task, std::size_t thread) {
      if (interrupt.requested()) return;
      const std::size_t slot = turn[task];
      batch[slot].choose(static_cast<std::size_t>(order[begin + slot]), workspace[thread]);
    });
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    for (std::size_t slot = 0; slot < size; ++slot) {
      batch[slot].settle(workspace[0], report);
      const std::size_t k = begin + slot;
      if ((n - 1 - k) % stride == 0 && 2 * k >= n - 1) {
        looks += 1.0;
        for (std::size_t j = 0; j < state.w.size(); ++j) {
          state.mean[j] += (state.w[j] - state.mean[j]) / looks;
        }
      }
    }
  }
  if (!report.complete) std::copy(state.w.begin(), state.w.end(), state.mean.begin());
  return report;
}

}  // namespace structlearn
