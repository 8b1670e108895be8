// Block-coordinate Frank-Wolfe over the working sets of the examples (Lacoste-Julien et al. 2013),
// with gap sampling, pairwise steps and cached outputs (Osokin et al. 2016).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learners/working_sets.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

struct FrankWolfeSettings {
  std::size_t steps = 10;     // pairwise steps a visit at most
  double inner = 0.1;         // a visit ends when the spread of the scores has shrunk to this share
  double cached_share = 0.5;  // no inference where the cached gap is this share of the last one
  std::uint32_t patience = 10;  // visits that an output without weight stays
  double uniform = 0.2;         // share of the visits that do not go by the gaps
  ConePoint cone;
};

struct FrankWolfeReport {
  std::size_t visits = 0, oracle_calls = 0, updates = 0;
  double loss = 0.0;  // weighted, as met on the way
  double gap = 0.0;   // the block gaps of the visits with inference, added up
  bool complete = true;
};

// An order of about as many visits as there are examples: example i comes n g_i / sum g times, up
// to rounding, mixed with a uniform share; shuffled. `random` is the generator's state.
std::vector<std::int64_t> gap_sampled_order(std::span<const double> gap, double uniform,
                                            std::uint64_t& random);

// Visits the examples in order. w and the gaps (the last ones known) follow.
FrankWolfeReport frank_wolfe_pass(WorkingSets& sets, std::span<const std::int64_t> order,
                                  const FrankWolfeSettings& settings, std::span<double> w,
                                  std::span<double> gap, Interrupt& interrupt);

}  // namespace structlearn
