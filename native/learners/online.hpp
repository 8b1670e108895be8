// One pass of an online learner: look at an example, take a step against the loss's gradient.
//
// The weights are kept as w = scale * v, so that shrinking all of them costs nothing, and their
// running average as (ahead * v + behind) / total, so that averaging costs nothing either: an
// update of v by d changes `behind` by -ahead * d, at the weights that d touches.
//
// Weights are doubles, or floats where a scorer's table is large: the same loops for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "problem/problem.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

// g = A^T r is the loss's gradient over weights, s the example's weight.
enum class Step {
  kUnit,      // w -= s g                          perceptron (Algorithms 39, 40)
  kConstant,  // w -= s g; w *= 1 - 1 / (2 C N)    Algorithm 41 as printed
  kDecaying,  // w  = (1 - 1/t) w - (C N / t) s g  subgradient of eq. 17.24, steps 1 / (lambda t)
  kPassiveAggressive,         // w -= min(C s, loss / |g|^2) g           PA-I, MIRA
  kPassiveAggressiveSquared,  // w -= loss / (|g|^2 + 1 / (2 C s)) g     PA-II
  kAdaGrad,  // w = (H w - rate s g) / (H + rate / (C N)), H = delta + sqrt(sum of (s g)^2)
  kArow,     // w -= loss / (<g, S g> + rate / s) S g, S = 1 / (1 + sum of s g^2 / rate)
};

// What the cost of the output found adds to its loss once it is found, at margin 0: the steps by
// predictions of K. Crammer et al. (2006), Online passive-aggressive algorithms, section 5.
enum class AddedCost {
  kNothing,
  kCounted,  // nothing; it is counted
  kOne,      // 1, whatever it is
  kRoot,
  kWhole,
};

struct OnlineSettings {
  Step step = Step::kUnit;
  double margin = 0.0;
  double temperature = 0.0;
  double C = 1.0;      // infinity: AdaGrad does not shrink weights
  double rate = 1.0;   // eta of AdaGrad, r of AROW
  double delta = 1.0;  // AdaGrad: keeps the first steps from being as long as the rate
  double least = 0.0;  // parts whose part of the gradient is at most this are left out of a step
  bool average = true;
  AddedCost added = AddedCost::kNothing;
  BeamSettings beam;                 // instead of exact inference, where it has a width
  const WeightCone* cone = nullptr;  // where weights are brought back to after each step
};

// Lives between passes; the vectors are borrowed, one value a weight (behind empty: no average).
template <class Real>
struct OnlineState {
  std::span<Real> v, behind;
  std::span<Real> squares;  // sums of squared gradients: AdaGrad and AROW, otherwise empty
  double scale = 1.0;
  double ahead = 0.0;
  double total = 0.0;  // of the averaging weights
  double steps = 0.0;
  double cost = 0.0;  // the decaying step's running average of the cost: the dual's linear term
};

struct EpochReport {
  std::size_t seen = 0, updates = 0;
  std::size_t invalid = 0;  // updates of a beam on an output that scores less than the gold one
  double loss = 0.0;
  double cost = 0.0;  // of the outputs found, where it was counted
  bool complete = true;
};

template <class Real>
EpochReport online_epoch(const Problem&, std::span<const std::int64_t> order, const OnlineSettings&,
                         OnlineState<Real>&, Interrupt&);

}  // namespace structlearn
