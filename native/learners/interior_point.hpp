// Quadratic programs over many simplices at once, by a primal-dual interior-point method:
//
//   min_w  1/2 |w|^2 + sum_i C_i max(gold_i, max_a cost_ia + <v_ia, w>),   <v_r, w> <= 0,
//   max_b  -1/2 |w(b)|^2 + sum_ia b_ia cost_ia + sum_i rest_i gold_i,
//          w(b) = -sum b_ia v_ia - sum_r b_r v_r,   b >= 0,   rest_i + sum_a b_ia = C_i.
//
// Coordinate ascent and conjugate gradients need the more steps the worse the vectors are scaled.
// Here a step is a Newton step: some twenty to forty of them, whatever the scale.
//
// The weights are variables of their own. Where C |v|^2 is large, the sums that w(b) consists of
// are many orders of magnitude above it, and what rounding leaves of it may be of no use although
// b and the weights are both right to many digits. The gap between the two,
//   1/2 |w - w(b)|^2 + sum_i C_i (best_i - mean_i) - sum_r b_r <v_r, w>,
// is a sum of terms that are not negative, and has no such trouble.
//
// S. Mehrotra (1992), On the implementation of a primal-dual interior point method; J. Gondzio
// (2012), Interior point methods 25 years later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "numeric/parallel.hpp"

namespace structlearn {

// The vectors in rows, sparse, columns ascending.
struct SparseRows {
  std::vector<std::size_t> ptr{0};
  std::vector<std::uint32_t> column;
  std::vector<double> value;

  std::size_t size() const { return ptr.size() - 1; }
  double dot(std::size_t row, const double* x) const;
  void add(std::size_t row, double a, double* x) const;  // x += a * row
};

struct BlockProgram {
  std::size_t columns = 0;
  // Those of the blocks, then those that bound w; of the latter no two share a column.
  SparseRows rows;
  std::vector<std::size_t> block{0};  // rows of block i: [block[i], block[i + 1])
  std::vector<double> cost;           // one a row of a block
  std::vector<double> gold, C;        // one a block

  std::size_t blocks() const { return C.size(); }
  // Takes one more vector: those of a block, one block after another, then those that bound w.
  // Columns may repeat and come in any order.
  void add_row(std::vector<std::pair<std::size_t, double>>& entries);
  // Ends a block.
  void end_block(double gold_cost, double scale);
  // Leaves the columns without an entry out; returns those that stay, in order.
  std::vector<std::size_t> compact();
  // Multiplications of one Newton step, on the better side.
  double work() const;
  // Whether the Newton systems fit into memory.
  bool small_enough() const;
};

struct BlockSolution {
  std::vector<double> w, b, rest;
  double gap = 0.0, primal = 0.0;
  std::size_t steps = 0;
  bool reached = false;
};

// How small a gap has to be: the larger of a number and a share of the dual.
struct Precision {
  double gap = 0.0, share = 0.0;

  double at(double dual) const { return std::max(gap, share * dual); }
};

// Solves it to a precision and, where that takes little more, to a thousandth of the primal; what
// it returns is the best point on the way.
BlockSolution solve_blocks(const BlockProgram& program, const Precision& wanted,
                           Interrupt& interrupt);

}  // namespace structlearn
