// One visit of dual ascent.
//
// A visit of example i wants the maximum of the dual over its distribution alone. That is where
// theta' = A w' with w' = w - C A^T (mu' - mu): an implicit step. With A A^T taken as diagonal (the
// squared norm of a site's features, times a damping that each example learns) every site has a
// step of its own between the old scores and those of w. A step that would lower the dual is taken
// back, so the dual never falls. Where sites lean on each other (their scores move against each
// other, their marginals together) steps of different lengths need not rise at all, however short:
// then the example goes on with one length for all sites, along which the dual always rises first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "learners/dual_ascent.hpp"
#include "numeric/kernels.hpp"

namespace structlearn {

// Of a first step, each three times as damped as the one before. With five of them one example of
// CoNLL-2000 was refused pass after pass, and alone held a quarter of the gap in the end.
constexpr int kTrials = 12;
// The shortest step. Where an example is at its optimum rounding refuses half of the steps, and one
// that had shrunk to nothing could not follow the weights when they move again.
constexpr double kShortest = 1e-6;
// Steps of one length for all sites: how long the first is, and from what length on sites have
// lengths of their own again. With 0.1 and 0.35, or 0.35 and 0.9, gaps after nine passes of
// CoNLL-2000 were larger, by up to a quarter.
constexpr double kFirstCommon = 0.2, kLongestCommon = 0.5;
// How far the divergence at the scores of w is extrapolated from a short step.
constexpr double kFarthest = 20.0;

// One site of a first visit, mu the gold output: mu' - mu = g (p - mu) with g in [0, 1] such that
// mu' is, along p - mu, the softmax of log p - a g (p - mu).
inline double step_from_gold(const double* p, const double* mu, std::size_t n, double a,
                             double* scratch, double* distance) {
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

// A visit of one example. choose() and settle() touch nothing that belongs to other examples, and
// move() only some shares of w, so that each can be done for several visits at the same time.
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
      move_scores();
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

  bool counts() const { return weight_ != 0.0; }

  // Adds the step to the weights of some shares, or takes it back.
  void move(std::size_t first, std::size_t last) {
    scorer_.scatter_growth(i_, layout_, difference_, -C_, state_.w.data(), first, last, growth_);
  }
  void move_back(std::size_t first, std::size_t last) {
    scorer_.scatter_growth(i_, layout_, difference_, C_, state_.w.data(), first, last, back_);
  }

  // How much the step has raised the dual, and how much taking it back did so: exactly, wherever
  // other visits have moved the weights since they were scored.
  double rise() const { return C_ * (entropy_ - state_.entropy[i_]) - 0.5 * sum(growth_); }
  double rise_back() const { return C_ * (state_.entropy[i_] - entropy_) - 0.5 * sum(back_); }

  // Learns from the step and, if it was taken, remembers the new distribution.
  void settle(bool taken) {
    if (state_.visited[i_]) {
      learn(taken);
    } else {
      state_.gap[i_] = C_ * std::max(gain_, 0.0);
    }
    if (!taken) return;
    state_.entropy[i_] = entropy_;
    std::copy(p_.value.begin(), p_.value.end(), mu_);
    std::copy(next_, next_ + layout_.parts, theta_);
    state_.visited[i_] = 1;
  }

  // Shorter first steps, after one that was not taken. They are chosen at the scores from before
  // the round (model_), and taken if they raise the dual at the present weights.
  void try_again(Workspace& ws, AscentReport& report) {
    double damping = s_.first_damping;
    // If none is taken, the next pass tries again at other weights.
    for (int trial = 1; trial < kTrials && !state_.visited[i_]; ++trial) {
      damping *= 3.0;
      move_from_gold(damping, false);
      evaluate(ws);
      move(0, kShares);
      const bool taken = rise() >= 0.0;
      if (!taken) move_back(0, kShares);
      report.refused += !taken;
      settle(taken);
    }
  }

  bool first() const { return !state_.visited[i_]; }
  void add_to(AscentReport& report) const {
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
  void move_scores() {
    const double curvature = C_ * state_.damping[i_], longest = state_.longest[i_];
    if (longest < 1.0) {
      for (std::size_t j = 0; j < layout_.parts; ++j) {
        const double delta = theta_[j] > kMinusInfinity ? model_[j] - theta_[j] : 0.0;
        next_[j] = theta_[j] + longest * delta;
      }
      return;
    }
    each_site([&](std::size_t first, std::size_t n, double norm, bool) {
      kernels().dual_step(model_ + first, theta_ + first, mu_ + first, n, s_.temperature,
                          curvature * norm, own_.real(kScratch, 3 * (n + 8)), next_ + first);
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
    // infer is convex: its tangent at the new scores bounds the loss at those of w from below.
    if (state_.visited[i_]) loss_ = gain_ + state_.entropy[i_] + sums_[4];
  }

  static double sum(const double* shares) { return std::accumulate(shares, shares + kShares, 0.0); }

  void learn(bool taken) {
    // Slopes of the dual over C at the beginning of the step and at its end.
    const double slope0 = sums_[1] - sums_[2], along = sums_[3] - sums_[2];
    // With V the covariance and the scores moved by a share e of their distance x to those of w,
    // slope0 = e x'Vx and along = e^2 x'Vx: the divergence is about x'Vx / 2, however short the
    // step.
    const double divergence =
        along > 0.0 ? 0.5 * slope0 * std::min(slope0 / along, kFarthest) : 0.0;
    state_.gap[i_] = C_ * std::max(gain_, divergence);
    // |w - C A'd|^2 = |w|^2 - 2 C <A w, d> + C^2 |A'd|^2. The growth is that at weights which other
    // visits of the round have moved, sums_[1] that at the weights scored before: the difference
    // changes how long later steps are, never whether this one is taken.
    const double square = std::max(sum(growth_) / C_ + 2.0 * sums_[1], 0.0);
    const double slope1 = sums_[1] - sums_[3] - square;
    // The best length of the step, as a multiple of the one tried.
    const double best = slope0 > slope1 && slope0 > 0.0 ? slope0 / (slope0 - slope1) : 0.0;
    double &longest = state_.longest[i_], &damping = state_.damping[i_];
    if (longest < 1.0) {
      longest = std::max(longest * std::clamp(best, 0.33, 2.0), kShortest);
      if (longest >= kLongestCommon) longest = 1.0;
      return;
    }
    if (best > 0.0) damping = std::clamp(damping / std::clamp(best, 0.33, 1.5), 0.05, 1e6);
    if (!taken) longest = kFirstCommon;
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
  double sums_[5] = {};                               // see Kernels::dual_sums
  double entropy_ = 0.0;                              // h at the new distribution
  double gain_ = 0.0;                                 // the dual rises by C gain - |C A'd|^2 / 2
  double growth_[kShares] = {}, back_[kShares] = {};  // of |w|^2 by the step, and by taking it back
};

}  // namespace structlearn
