// Sums over spanning trees whose edges differ by far more than the temperature.
#pragma once

#include <cstddef>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

struct ScoredEdge {
  std::size_t i, j;
  std::size_t site;  // the caller's
  double score;      // finite
  double p;          // its probability
};

// eps log sum exp(score / eps) over the spanning trees of nodes 0..n-1, and the probability of each
// edge; -inf if there is none. Sorts the edges in descending order of their scores.
double sum_by_levels(std::vector<ScoredEdge>& edges, std::size_t n, double eps);

}  // namespace structlearn
