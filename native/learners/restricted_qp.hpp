// The quadratic program of cutting planes: the dual over all working sets at once.
#pragma once

#include <cstddef>

#include "learners/working_sets.hpp"
#include "scoring/weight_cone.hpp"

namespace structlearn {

struct RestrictedReport {
  double gap = 0.0;  // of the restricted problem, weights held still
  std::size_t passes = 0;
  bool complete = true;
};

// Maximises the dual over the working sets from where it stands, until the restricted problem's
// gap is at most `tolerance`: block-coordinate ascent with exact blocks, and conjugate gradients on
// the face of the atoms in use, which ends what coordinate ascent only approaches. The multipliers
// of a cone of weights are one more block.
RestrictedReport solve_restricted(WorkingSets& sets, double* w, double tolerance,
                                  std::size_t most_passes, const ConePoint& cone,
                                  Interrupt& interrupt);

}  // namespace structlearn
