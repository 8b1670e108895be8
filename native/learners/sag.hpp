// Stochastic average gradient for eps > 0: one example's gradient at a time, the others remembered.
//
// The memory of example i is a vector over its parts, m_i = p_i - gold_i at its last visit, and
//
//   g = sum_i weight_i A_i^T m_i,   w <- (1 - step lambda) w - (step / seen) g,   lambda = 1 / (C
//   n)
//
// is a step on (lambda / 2) |w|^2 + mean_i weight_i L_i. The weights are kept as a v - b g, so that
// a step changes two numbers and the entries that the example's features touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "problem/problem.hpp"

namespace structlearn {

struct SagSettings {
  double margin = 0.0;
  double temperature = 1.0;
  double C = 1.0;
};

// Lives between passes; all borrowed.
struct SagState {
  std::span<double> w;
  std::span<double> g;
  std::span<const std::int64_t> part_ptr;  // of example i: [part_ptr[i], part_ptr[i+1])
  std::span<double> memory;                // m_i, one value a part of every example
  std::span<double> entropy;    // conjugate of infer at p_i: infer(theta + margin c) - <theta, p>
  std::span<double> loss;       // L_i at the last visit
  std::span<double> lipschitz;  // estimate for L_i's gradient
  std::span<std::int32_t> patience;  // visits until the estimate is tried again
  std::span<std::int32_t> streak;    // how often in a row it was found right
  std::span<std::uint8_t> visited;   // 0: no memory yet
  double step_factor = 1.0;          // below 1 where longer steps went wrong
};

struct SagReport {
  std::size_t seen = 0, inferences = 0;
  bool complete = true;
};

// Visits the examples of `order` or, where that is empty, as many as there are draws from [0, 1):
// half of them uniform, half in proportion to the Lipschitz estimates.
SagReport sag_pass(const Problem&, std::span<const std::int64_t> order,
                   std::span<const double> draws, const SagSettings&, SagState&, Interrupt&);

}  // namespace structlearn
