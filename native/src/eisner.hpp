// The best projective tree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structlearn/structure.hpp"

namespace structlearn {

// heads[m - 1] of the words m = 1..n, without crossing arcs, such that the sum of arc[h][m] and,
// where `sibling` is not null, of sibling[h][s][m] (see arborescence.hpp) is the largest; the sum,
// or -inf where there is no tree. O(n^3) time, O(n^2) memory.
double best_projective(const double* arc, const double* sibling, std::size_t n, bool single_root,
                       std::int32_t* heads, Workspace& ws);

}  // namespace structlearn
