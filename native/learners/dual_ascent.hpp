// Dual coordinate ascent for eps > 0: one example's distribution at a time.
//
// The dual variable of example i is a distribution of the same family that the model has, given by
// scores theta_i over its parts; mu_i are its marginals, and
//
//   w = C sum_i A_i^T (gold_i - mu_i),
//   D = -|w|^2 / 2 + C sum_i h_i,   h_i = infer(theta_i + margin c, eps).value - <theta_i, mu_i>
//
// so that the entropy in h_i costs nothing, whatever the structure. Before its first visit mu_i is
// the gold output, or the marginals that were filled in for it, and h_i = 0 a bound from below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "problem/problem.hpp"

namespace structlearn {

struct AscentSettings {
  double margin = 0.0;
  double temperature = 1.0;
  double C = 1.0;
  double first_damping = 0.4;  // of first visits
};

// Lives between passes; all borrowed.
struct AscentState {
  std::span<double> w;
  std::span<double> mean;                  // of w over the second half of the pass
  std::span<const std::int64_t> part_ptr;  // of example i: [part_ptr[i], part_ptr[i+1])
  std::span<double> theta, mu;             // one value a part of every example
  std::span<double> entropy;               // h_i with its constant; one an example
  std::span<double> gap;                   // estimate of C eps KL(mu_i | p_i(w)) at the last visit
  std::span<double> damping;               // of the example's own steps
  std::span<double> longest;               // 1: sites have steps of their own; below: one for all
  std::span<std::uint8_t> visited;         // 0: mu_i is the gold output still
};

struct AscentReport {
  std::size_t seen = 0, inferences = 0, refused = 0;
  double loss = 0.0;  // sum of weight_i L_i at the weights met on the way, from below
  bool complete = true;
};

// Steps are chosen in parallel for batches of a fixed size and taken one after another: the number
// of threads changes nothing. Examples may come several times.
AscentReport dual_ascent_pass(const Problem&, std::span<const std::int64_t> order,
                              const AscentSettings&, AscentState&, std::size_t threads, Interrupt&);

}  // namespace structlearn
