// A visit of example i wants the maximum of the dual over its distribution alone. That is where
// theta' = A w' with w' = w - C A^T (mu' - mu): an implicit step. With A A^T taken as diagonal (the
// squared norm of a site's features) each site has a step of its own, found on a line.
#include "structlearn/dual.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "structlearn/kernels.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kNew = 8, kScratch = 9, kTheta = 10;

// <theta, mu> with 0 * -inf = 0.
double dot(const double* theta, const double* mu, std::size_t n) {
  double sum = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    if (mu[j] != 0.0) sum += theta[j] * mu[j];
  }
  return sum;
}

// One site of a later visit: how far to go from the old scores to those of w. The dual along
// theta + eta delta is, to second order, eta v - eta^2 (v + c q) / 2 with v = delta' Cov delta / eps
// and q = |Cov delta|^2 / eps^2.
double step_from_memory(const double* delta, const double* mu, std::size_t n, double eps,
                        double curvature, bool middle, double* scratch) {
  double mass = 0.0, mean = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    mass += mu[k];
    mean += mu[k] * delta[k];
  }
  if (!(mass > 0.0)) return 1.0;
  mean /= mass;
  double v = 0.0, q = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double x = mu[k] * (delta[k] - mean);
    v += x * (delta[k] - mean);
    q += x * x;
  }
  if (!(v > 0.0)) return 1.0;
  double ratio = q / v;
  if (middle) {
    // Where scores have moved far the covariance has changed; look at the other end too.
    double top = kMinusInfinity;
    for (std::size_t k = 0; k < n; ++k) if (mu[k] > 0.0) top = std::max(top, delta[k]);
    kernels().exp_shifted(delta, n, std::max(top, *std::max_element(delta, delta + n)), 1.0 / eps, scratch);
    double sum = 0.0;
    mean = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      scratch[k] *= mu[k];
      sum += scratch[k];
      mean += scratch[k] * delta[k];
    }
    if (sum > 0.0) {
      mean /= sum;
      const double back = mass / sum;
      double v2 = 0.0, q2 = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        const double x = scratch[k] * back * (delta[k] - mean);
        v2 += x * (delta[k] - mean);
        q2 += x * x;
      }
      if (v2 > 0.0) ratio = std::max(ratio, q2 / v2);
    }
  }
  return 1.0 / (1.0 + curvature * ratio / eps);
}

// One site of a first visit, mu the gold output: mu' - mu = g (p - mu) with g in [0, 1] such that
// mu' is, along p - mu, the softmax of log p - c g (p - mu) / eps.
double step_from_gold(const double* p, const double* mu, std::size_t n, double eps,
                      double curvature, double* scratch) {
  double rr = 0.0, pr = 0.0, prr = 0.0, mass = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double r = p[k] - mu[k];
    rr += r * r;
    pr += p[k] * r;
    mass += p[k];
    prr += p[k] * r * r;
  }
  if (!(rr > 0.0)) return 1.0;
  const double a = curvature / eps;
  double low = 0.0, high = 1.0, g = 1.0 / (1.0 + a * std::max(prr - pr * pr / mass, 0.0) / rr);
  if (rr < 1e-4) return g;
  for (int round = 0; round < 4; ++round) {
    // softmax(log p - a g r): weights p exp(-a g r)
    double sum = 0.0, along = 0.0, square = 0.0, gold = 0.0;
    double shift = 0.0;
    for (std::size_t k = 0; k < n; ++k) shift = std::max(shift, -a * g * (p[k] - mu[k]));
    for (std::size_t k = 0; k < n; ++k) scratch[k] = -a * g * (p[k] - mu[k]);
    kernels().exp_shifted(scratch, n, shift, 1.0, scratch);
    for (std::size_t k = 0; k < n; ++k) {
      const double r = p[k] - mu[k], x = scratch[k] * p[k];
      sum += x;
      along += x * r;
      square += x * r * r;
      gold += mu[k] * r;
    }
    if (!(sum > 0.0)) break;
    along *= mass / sum;
    square *= mass / sum;
    const double f = along - gold - g * rr, slope = -a * (square - along * along / mass) - rr;
    (f > 0.0 ? low : high) = g;
    double next = g - f / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - g) < 0.02 * g) { g = next; break; }
    g = next;
  }
  return g;
}

class Visitor {
 public:
  Visitor(const Problem& problem, const DualSettings& settings, DualState& state)
      : problem_(problem), scorer_(problem.scorer()), s_(settings), state_(state) {
        middle_ = !std::getenv("DUAL_PLAIN");
      }

  void visit(std::size_t i, DualReport& report) {
    const double weight = problem_.sample_weight(i), C = s_.C * weight;
    if (weight == 0.0) return;
    const Layout layout = scorer_.layout(i);
    const std::size_t n = layout.parts, at = static_cast<std::size_t>(state_.part_ptr[i]);
    double* theta = state_.theta.data() + at;
    double* mu = state_.mu.data() + at;
    double* model = ws_.real(kTheta, 2 * n);  // the scores of w
    double* plain = model + n;
    double* next = ws_.real(kNew, n);
    scorer_.score(i, layout, state_.w.data(), 1.0, model);
    if (state_.visited[i]) {
      const double* scores = model;
      each_site(i, layout, [&](std::size_t first, std::size_t R, double curvature) {
        double* delta = ws_.real(kScratch, 2 * R);
        for (std::size_t k = 0; k < R; ++k) {
          const double x = scores[first + k] - theta[first + k];
          delta[k] = scores[first + k] == kMinusInfinity ? 0.0 : x;
        }
        const double eta = step_from_memory(delta, mu + first, R, s_.temperature, C * curvature,
                                            middle_, delta + R);
        for (std::size_t k = 0; k < R; ++k) {
          next[first + k] = scores[first + k] == kMinusInfinity
                                ? kMinusInfinity
                                : theta[first + k] + eta * delta[k];
        }
      });
    } else {
      std::copy(model, model + n, plain);
      problem_.augmented(i, layout, plain, s_.margin, s_.temperature, p_, ws_);
      ++report.inferences;
      std::fill(mu, mu + n, 0.0);
      for (const std::uint32_t j : problem_.gold_parts(i)) mu[j] += 1.0;
      each_site(i, layout, [&](std::size_t first, std::size_t R, double curvature) {
        const double* p = p_.value.data() + first;
        const double g = step_from_gold(p, mu + first, R, s_.temperature, C * curvature,
                                        ws_.real(kScratch, R));
        for (std::size_t k = 0; k < R; ++k) {
          next[first + k] = model[first + k] - C * curvature * g * (p[k] - mu[first + k]);
        }
      });
    }
    // The new distribution; infer adds the cost to the scores in place.
    std::copy(next, next + n, plain);
    const double value = problem_.augmented(i, layout, plain, s_.margin, s_.temperature, p_, ws_);
    ++report.inferences;
    const bool first_time = !state_.visited[i];
    const double constant = problem_.cost_constant(i, s_.margin);
    if (first_time) state_.entropy[i] = 0.0;
    const double old_entropy = state_.entropy[i];
    const double entropy = value + constant - dot(next, p_.value.data(), n);
    // infer is convex, so its tangent at the new scores bounds its value at those of w.
    const double model_new = dot(model, p_.value.data(), n), model_old = dot(model, mu, n);
    const double gain = entropy - old_entropy + model_new - model_old;
    state_.gap[i] = C * gain;
    double clamp = 0.0;
    for (const std::uint32_t j : problem_.gold_parts(i)) clamp += model[j];
    report.loss += weight * (entropy + model_new - clamp);
    const double next_d = dot(next, p_.value.data(), n) - dot(next, mu, n);
    const double theta_d = first_time ? 0.0 : dot(theta, p_.value.data(), n) - dot(theta, mu, n);
    const double model_d = model_new - model_old;
    for (std::size_t j = 0; j < n; ++j) p_.value[j] -= mu[j];
    const double growth = scorer_.scatter_growth(i, layout, p_, -C, state_.w.data());
    // |w - C A'd|^2 = |w|^2 - 2 C <A w, d> + C^2 |A'd|^2
    const double square = std::max(growth + 2.0 * C * model_d, 0.0) / C;  // C |A'd|^2
    // Along mu + g d the dual rises by at least g gain - g^2 square / 2.
    double g = 1.0;
    if (gain < square) g = gain > 0.0 ? gain / square : 0.0;
    if (g < 1.0) {
      ++report.shortened;
      scorer_.scatter(i, layout, p_, (1.0 - g) * C, state_.w.data());
    }
    if (!first_time) {
      const double s0 = model_d - theta_d, s1 = model_d - next_d - square;
      if (s0 > s1 && s0 > 1e-12) {
        const double best = std::clamp(s0 / (s0 - s1), 0.5, 2.0);
        state_.damping[i] = std::clamp(state_.damping[i] / best, 0.05, 100.0);
      }
    }
    state_.entropy[i] = g == 1.0 ? entropy : (1.0 - g) * old_entropy + g * entropy;
    for (std::size_t j = 0; j < n; ++j) {
      mu[j] += g * p_.value[j];
      if (next[j] == kMinusInfinity) theta[j] = next[j];
      else theta[j] = first_time ? next[j] : theta[j] + g * (next[j] - theta[j]);
    }
    state_.visited[i] = 1;
    ++report.seen;
  }

 private:
  // each(first part, number of outcomes, squared norm of the features) for every site.
  template <class Each>
  void each_site(std::size_t i, const Layout& layout, Each&& each) const {
    for (std::size_t b = 0; b < scorer_.blocks().size(); ++b) {
      const Block& at = layout.block[b];
      if (!at.present) continue;
      for (std::size_t s = 0; s < at.sites; ++s) {
        each(at.offset + s * at.outcomes, at.outcomes,
             (state_.visited[i] ? state_.damping[i] : s_.damping) * scorer_.squared_norm_of_site(i, b, s));
      }
    }
  }

  const Problem& problem_;
  const Scorer& scorer_;
  const DualSettings& s_;
  DualState& state_;
  Workspace ws_;
  PartVector p_;
  bool middle_ = true;
};

}  // namespace

DualReport dual_pass(const Problem& problem, std::span<const std::int64_t> order,
                     const DualSettings& settings, DualState& state, Interrupt& interrupt) {
  DualReport report;
  Visitor visitor(problem, settings, state);
  for (const std::int64_t i : order) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    visitor.visit(static_cast<std::size_t>(i), report);
  }
  return report;
}

}  // namespace structlearn
