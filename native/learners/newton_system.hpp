// The linear systems of an interior-point method over simplices (interior_point.hpp):
//
//   M x = y,   M = I + sum_i V_i' (diag(d) - dd'/sum d) V_i + sum_r d_r v_r v_r'.
//
// V_i has the vectors of block i and, last, the gold output's zero. With the differences u_a to the
// vertex of largest d, the pivot, the bracket becomes diag(d) - dd'/sum d over the others alone:
// nothing cancels however many orders of magnitude the d lie apart.
#pragma once

#include <span>
#include <vector>

#include "learners/cholesky.hpp"
#include "learners/interior_point.hpp"

namespace structlearn {

class NewtonSystem {
 public:
  explicit NewtonSystem(const BlockProgram& program);

  // `d`: one a row; `d_gold`: one a block. False where rounding leaves no system.
  bool prepare(std::span<const double> d, std::span<const double> d_gold);
  void solve(std::span<double> x);

  // Whether the system is one of the weights, or of the rows (the Woodbury identity).
  static bool by_weights(const BlockProgram& program);
  static double work_by_weights(const BlockProgram& program);
  static double work_by_rows(const BlockProgram& program);

 private:
  struct Vertex {
    std::size_t row;    // kGold: the gold output
    std::size_t pivot;  // whose vector is subtracted; kGold: none is
    double d;
  };
  void add_block(std::span<const Vertex> vertices, double pivot_d);
  void difference(const Vertex& vertex);
  void add_square(double a);
  void prepare_rows();
  double product(std::size_t a, std::size_t b);

  const BlockProgram& program_;
  bool by_weights_;
  SymmetricMatrix matrix_;
  std::vector<Vertex> vertices_;          // all but the pivots, and the rows without a block
  std::vector<std::size_t> block_begin_;  // in vertices_
  std::vector<double> pivot_d_;
  // The difference at hand: columns ascending.
  std::vector<std::uint32_t> column_;
  std::vector<double> value_, sum_;
  std::vector<double> products_;  // of all rows with each other
};

}  // namespace structlearn
