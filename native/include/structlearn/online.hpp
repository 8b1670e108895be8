// One pass of an online learner: look at an example, take a step against the loss's gradient.
//
// The weights are kept as w = scale * v, so that shrinking all of them costs nothing, and their
// running average as (ahead * v + behind) / total, so that averaging costs nothing either: an
// update of v by d changes `behind` by -ahead * d, at the weights that d touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "structlearn/problem.hpp"

namespace structlearn {

enum class Step {
  kUnit,      // w -= r                            perceptron (Algorithms 39, 40)
  kConstant,  // w -= r; w *= 1 - 1 / (2 C N)      Algorithm 41 as printed
  kDecaying,  // w  = (1 - 1/t) w - (C N / t) r    subgradient of eq. 17.24 with steps 1 / (lambda
              // t)
};

struct OnlineSettings {
  Step step = Step::kUnit;
  double margin = 0.0;
  double temperature = 0.0;
  double C = 1.0;
  bool average = true;
};

// Lives between passes; the vectors are borrowed, one value a weight (behind empty: no average).
struct OnlineState {
  std::span<double> v, behind;
  double scale = 1.0;
  double ahead = 0.0;
  double total = 0.0;  // of the averaging weights
  double steps = 0.0;
  double cost = 0.0;  // the decaying step's running average of the cost: the dual's linear term
};

struct EpochReport {
  std::size_t seen = 0, updates = 0;
  double loss = 0.0;
  bool complete = true;
};

EpochReport online_epoch(const Problem&, std::span<const std::int64_t> order, const OnlineSettings&,
                         OnlineState&, Interrupt&);

}  // namespace structlearn
