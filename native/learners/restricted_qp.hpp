// The quadratic program of cutting planes: the dual over all working sets at once.
#pragma once

#include <cstddef>

#include "learners/interior_point.hpp"
#include "learners/working_sets.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

struct RestrictedReport {
  double gap = 0.0;  // of the restricted problem, weights held still: what was reached
  std::size_t passes = 0, newton_steps = 0;
  bool solved = false;  // to the precision that was asked for
  bool complete = true;
};

// Maximises the dual over the working sets from where it stands, until the restricted problem's
// gap is as small as wanted: block-coordinate ascent with exact blocks, and conjugate gradients on
// the face of the atoms in use, which ends what coordinate ascent only approaches. The multipliers
// of a cone of weights are one more block. Where that does not get there, an interior-point method
// does, if its linear systems are not too large; w is then its own, which may be much better than
// the sum of the outputs of the dual point as rounding leaves it (interior_point.hpp).
RestrictedReport solve_restricted(WorkingSets& sets, double* w, const Precision& wanted,
                                  std::size_t most_passes, const ConePoint& cone,
                                  Interrupt& interrupt);

}  // namespace structlearn
