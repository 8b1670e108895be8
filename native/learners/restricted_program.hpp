// The restricted problem of cutting planes as one program for the interior-point method.
#pragma once

#include <cstddef>
#include <vector>

#include "learners/interior_point.hpp"
#include "learners/working_sets.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

// Adds the inequalities of a cone to a program, those that share a weight with its rows; returns
// which they are.
std::vector<std::size_t> add_cone(BlockProgram& program, const WeightCone& cone);

class RestrictedProgram {
 public:
  RestrictedProgram(const WorkingSets& sets, const ConePoint& cone);

  bool small_enough() const { return !too_large_ && program_.small_enough(); }
  // What a Newton step costs, in passes over the working sets.
  double passes_a_step() const;

  BlockSolution solve(const Precision& wanted, Interrupt& interrupt) const {
    return solve_blocks(program_, wanted, interrupt);
  }
  // Makes the solution the dual point, and w its weights.
  void take(const BlockSolution& found, WorkingSets& sets, double* w, const ConePoint& cone) const;

 private:
  BlockProgram program_;
  std::vector<std::size_t> example_, cone_row_, weight_;
  bool too_large_ = false;
};

}  // namespace structlearn
