// The best assignment of columns to rows.
#pragma once

#include <cstddef>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// A different column for each row or, with more rows than columns, a different row for each column,
// so that the sum of the scores (rows, columns) is largest: shortest augmenting paths (Jonker and
// Volgenant 1987; Crouse 2016), O(min^2 max). y[i] is the column of row i, -1 if it has none.
// Returns the sum, -inf if none is legal. For constant scores row i gets column i.
double best_assignment(const double* score, std::size_t rows, std::size_t columns, Output& y);

}  // namespace structlearn
