// The best projective tree, and the k best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "structures/structure.hpp"
#include "structures/trees/kbest_trees.hpp"

namespace structlearn {

// heads[m - 1] of the words m = 1..n, without crossing arcs, such that the sum of arc[h][m] and, if
// `sibling` is not null, of sibling[h][s][m] (see arborescence.hpp) is the largest; the sum, or
// -inf if there is no tree. O(n^3) time, O(n^2) memory.
double best_projective(const double* arc, const double* sibling, std::size_t n, bool single_root,
                       std::int32_t* heads, Workspace& ws);

// Up to k of the best, with labels, as (score, output of Arborescence): one chart, then the parts
// of it that each further tree needs (lazy_kbest.hpp). O(n^3 + k n^2) time.
std::vector<std::pair<double, Output>> kbest_projective(const ArcScores& arcs,
                                                        const double* sibling, bool single_root,
                                                        std::size_t k, Workspace& ws);

}  // namespace structlearn
