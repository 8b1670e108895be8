// A visit of example i wants the maximum of the dual over its distribution alone. That is where
// theta' = A w' with w' = w - C A^T (mu' - mu): an implicit step. With A A^T taken as diagonal (the
// squared norm of a site's features, times a damping that each example learns) every site has a
// step of its own between the old scores and those of w. A step that would lower the dual is taken
// back and the next one shortened, so the dual never falls.
#include "structlearn/dual_ascent.hpp"

#include <algorithm>
#include <cmath>

#include "structlearn/kernels.hpp"

namespace structlearn {
namespace {

constexpr int kTrials = 5;  // of a first step
constexpr std::size_t kLooks = 8;

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

class Visitor {
 public:
  Visitor(const Problem& problem, const AscentSettings& settings, AscentState& state)
      : problem_(problem), scorer_(problem.scorer()), s_(settings), state_(state) {
    difference_.dense = true;
  }

  void visit(std::size_t i, AscentReport& report) {
    const double weight = problem_.sample_weight(i);
    if (weight == 0.0) return;
    const Layout layout = scorer_.layout(i);
    const std::size_t at = static_cast<std::size_t>(state_.part_ptr[i]);
    theta_ = state_.theta.data() + at;
    mu_ = state_.mu.data() + at;
    model_ = own_.real(kModel, layout.parts);
    augmented_ = own_.real(kAugmented, layout.parts);
    next_ = own_.real(kNext, layout.parts);
    scorer_.score(i, layout, state_.w.data(), 1.0, model_);
    double clamp = 0.0;
    for (const std::uint32_t j : problem_.gold_parts(i)) clamp += model_[j];
    const double C = s_.C * weight;
    if (state_.visited[i]) {
      revisit(i, layout, C, report);
    } else {
      first_visit(i, layout, C, report);
    }
    report.loss += weight * (loss_ - clamp);
    ++report.seen;
  }

 private:
  enum Slot { kModel, kAugmented, kNext, kScratch };

  // What a step to the scores next_ does; w has taken it.
  struct Trial {
    double entropy;         // h at the new distribution
    double gain;            // the dual rises by C (gain - square / 2)
    double square;          // C |A'd|^2
    double slope0, slope1;  // of the dual over C, at the beginning and the end of the step
    bool good() const { return gain >= 0.5 * square; }
  };

  // infer at the given scores: value in the family's distribution, marginals in p_.
  double infer(std::size_t i, const Layout& layout, double* scores, AscentReport& report) {
    ++report.inferences;
    if (s_.margin != 0.0) {  // the cost is added in place
      std::copy(scores, scores + layout.parts, augmented_);
      scores = augmented_;
    }
    return problem_.augmented(i, layout, scores, s_.margin, s_.temperature, p_, ws_) +
           problem_.cost_constant(i, s_.margin);
  }

  Trial take(std::size_t i, const Layout& layout, double C, AscentReport& report) {
    const std::size_t n = layout.parts;
    const double value = infer(i, layout, next_, report);
    difference_.value.resize(n);
    double sums[4];
    kernels().dual_sums(model_, theta_, next_, p_.value.data(), mu_, n, difference_.value.data(),
                        sums);
    Trial t;
    t.entropy = value - sums[0];
    t.gain = t.entropy - state_.entropy[i] + sums[1];
    const double growth = scorer_.scatter_growth(i, layout, difference_, -C, state_.w.data());
    // |w - C A'd|^2 = |w|^2 - 2 C <A w, d> + C^2 |A'd|^2
    t.square = std::max(growth / C + 2.0 * sums[1], 0.0);
    t.slope0 = sums[1] - sums[2];
    t.slope1 = sums[1] - sums[3] - t.square;
    return t;
  }

  void keep(std::size_t i, const Layout& layout, const Trial& t) {
    state_.entropy[i] = t.entropy;
    std::copy(p_.value.begin(), p_.value.end(), mu_);
    std::copy(next_, next_ + layout.parts, theta_);
  }

  void take_back(std::size_t i, const Layout& layout, double C, AscentReport& report) {
    ++report.refused;
    scorer_.scatter(i, layout, difference_, C, state_.w.data());
  }

  void revisit(std::size_t i, const Layout& layout, double C, AscentReport& report) {
    double& damping = state_.damping[i];
    double& longest = state_.longest[i];
    each_site(i, layout, [&](std::size_t first, std::size_t n, double norm, bool) {
      kernels().dual_step(model_ + first, theta_ + first, mu_ + first, n, s_.temperature,
                          C * damping * norm, longest, own_.real(kScratch, 3 * (n + 8)),
                          next_ + first);
    });
    const Trial t = take(i, layout, C, report);
    // infer is convex: its tangent at the new scores bounds the loss at those of w from below.
    double model_old = 0.0;
    for (std::size_t j = 0; j < layout.parts; ++j) {
      if (mu_[j] != 0.0) model_old += model_[j] * mu_[j];
    }
    loss_ = t.gain + state_.entropy[i] + model_old;
    state_.gap[i] = C * std::max(t.gain, 0.5 * t.slope0);
    if (t.slope0 > t.slope1 && t.slope0 > 0.0) {
      const double best = t.slope0 / (t.slope0 - t.slope1);  // times this step
      damping = std::clamp(damping / std::clamp(best, 0.33, 1.5), 0.05, 1e6);
    }
    if (t.good()) {
      keep(i, layout, t);
      longest = std::min(1.0, 2.0 * longest);
    } else {
      take_back(i, layout, C, report);
      longest *= 0.25;
    }
  }

  // next_ = the scores of w, the gold output's raised and the others' lowered.
  void move_from_gold(std::size_t i, const Layout& layout, double C, double damping, bool boldly) {
    const auto move = [&](std::size_t first, std::size_t outcomes, double by) {
      for (std::size_t k = 0; k < outcomes; ++k) {
        const std::size_t j = first + k;
        next_[j] = model_[j] - by * (initial_[j] - mu_[j]);
      }
    };
    double moved = 0.0, wanted = 0.0;
    each_site(i, layout, [&](std::size_t first, std::size_t outcomes, double norm, bool anchored) {
      if (!anchored && !boldly) return;
      const double c = C * damping * norm;
      double distance;
      const double g = step_from_gold(initial_.data() + first, mu_ + first, outcomes,
                                      c / s_.temperature, own_.real(kScratch, outcomes), &distance);
      move(first, outcomes, c * g);
      moved += g * distance;
      wanted += distance;
    });
    // A table that all sites share cannot point at each site's gold outcome, only at the frequent
    // ones; where that went wrong it moves as the marginals will, no more.
    if (boldly) return;
    const double share = wanted > 0.0 ? moved / wanted : 1.0 / (1.0 + damping);
    each_site(i, layout, [&](std::size_t first, std::size_t outcomes, double norm, bool anchored) {
      if (!anchored) move(first, outcomes, C * norm * share);
    });
  }

  void first_visit(std::size_t i, const Layout& layout, double C, AscentReport& report) {
    const std::size_t n = layout.parts;
    loss_ = infer(i, layout, model_, report);
    initial_.assign(p_.value.begin(), p_.value.end());
    std::fill(mu_, mu_ + n, 0.0);
    std::fill(theta_, theta_ + n, 0.0);
    for (const std::uint32_t j : problem_.gold_parts(i)) mu_[j] += 1.0;
    double damping = s_.first_damping;
    for (int trial = 1;; ++trial, damping *= 3.0) {
      move_from_gold(i, layout, C, damping, trial == 1);
      const Trial t = take(i, layout, C, report);
      state_.gap[i] = C * std::max(t.gain, 0.0);
      if (t.good()) {
        keep(i, layout, t);
        state_.visited[i] = 1;
        return;
      }
      take_back(i, layout, C, report);
      if (trial == kTrials) return;  // better luck in the next pass, at other weights
    }
  }

  // each(first part, number of outcomes, squared norm of the features, anchored) for every site.
  template <class Each>
  void each_site(std::size_t i, const Layout& layout, Each&& each) const {
    for (std::size_t b = 0; b < scorer_.blocks().size(); ++b) {
      const Block& at = layout.block[b];
      if (!at.present) continue;
      for (std::size_t s = 0; s < at.sites; ++s) {
        each(at.offset + s * at.outcomes, at.outcomes, scorer_.squared_norm_of_site(i, b, s),
             at.anchored);
      }
    }
  }

  const Problem& problem_;
  const Scorer& scorer_;
  const AscentSettings& s_;
  AscentState& state_;
  Workspace ws_;   // the structure's
  Workspace own_;  // ours
  PartVector p_, difference_;
  std::vector<double> initial_;  // the marginals at the scores of w
  // Of the example at hand: memory, scores of w, new scores.
  double *theta_ = nullptr, *mu_ = nullptr, *model_ = nullptr, *augmented_ = nullptr,
         *next_ = nullptr;
  double loss_ = 0.0;
};

}  // namespace

AscentReport dual_ascent_pass(const Problem& problem, std::span<const std::int64_t> order,
                              const AscentSettings& settings, AscentState& state,
                              Interrupt& interrupt) {
  AscentReport report;
  Visitor visitor(problem, settings, state);
  // Weights that many examples share still sway from visit to visit; a few looks average it out.
  const std::size_t n = order.size(), stride = std::max<std::size_t>(n / (2 * kLooks), 1);
  double looks = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    visitor.visit(static_cast<std::size_t>(order[k]), report);
    if ((n - 1 - k) % stride == 0 && 2 * k >= n - 1) {
      looks += 1.0;
      for (std::size_t j = 0; j < state.w.size(); ++j) {
        state.mean[j] += (state.w[j] - state.mean[j]) / looks;
      }
    }
  }
  if (!report.complete) std::copy(state.w.begin(), state.w.end(), state.mean.begin());
  return report;
}

}  // namespace structlearn
