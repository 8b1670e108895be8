// The best assignment of columns to rows.
#pragma once

#include <cstddef>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// A column of its own for each row, or, with more rows than columns, a row of its own for each
// column, so that the scores (rows, columns) add up to the most: shortest augmenting paths (Jonker
// and Volgenant 1987; Crouse 2016), O(min^2 max). y[i] is the column of row i, -1 where it has
// none. Returns the sum, -inf where none is legal. Of constant scores row i gets column i.
double best_assignment(const double* score, std::size_t rows, std::size_t columns, Output& y);

}  // namespace structlearn
