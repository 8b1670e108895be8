// The best arborescence of a dense graph.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/structure.hpp"

namespace structlearn {

// heads[m - 1] of the words m = 1..n such that the sum of arc[heads[m - 1]][m] is the largest,
// `arc` a matrix of n + 1 rows; the sum, or -inf where there is no tree. O(n^2).
double best_arborescence(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
                         Workspace& ws);

}  // namespace structlearn
