// One example of a segmentation, with computed strides.
#pragma once

#include <algorithm>
#include <cstddef>

#include "structures/chains/semimarkov.hpp"

namespace structlearn {

// The arrays of a workspace: three tables of K * K, zeros for a missing transition, and two of the
// sums. All are allocated at once: an array that grows moves.
enum class SegmentScratch { kTables };

struct SegmentView {
  std::size_t L, D, K;
  const double *segment, *start, *end, *transition;
  std::size_t stride;  // of the transition from a position to the next; 0 if shared

  SegmentView(const Layout& layout, const Scores& scores, std::size_t max_length, Workspace& ws)
      : L(layout.block[SemiMarkov::kSegment].sites / max_length),
        D(max_length),
        K(layout.block[SemiMarkov::kSegment].outcomes),
        segment(scores.block[SemiMarkov::kSegment]),
        start(scores.block[SemiMarkov::kStart]),
        end(scores.block[SemiMarkov::kEnd]),
        transition(scores.block[SemiMarkov::kTransition]),
        stride(0) {
    const Block& table = layout.block[SemiMarkov::kTransition];
    if (!table.present) {
      double* zeros = ws.real(SegmentScratch::kTables, 3 * K * K);
      std::fill(zeros, zeros + K * K, 0.0);
      transition = zeros;
    } else if (table.sites != 1) {
      stride = K * K;
    }
  }

  // The longest segment that can start at i, and that can end before j.
  std::size_t longest_from(std::size_t i) const { return std::min(D, L - i); }
  std::size_t longest_to(std::size_t j) const { return std::min(D, j); }

  // Scores by label of the segment of length d that starts at i; those of d + 1 follow.
  const double* row(std::size_t i, std::size_t d) const { return segment + (i * D + d - 1) * K; }

  // The table for a segment that starts at i >= 1.
  const double* table(std::size_t i) const { return transition + (i - 1) * stride; }

  double end_of(std::size_t k) const { return end != nullptr ? end[k] : 0.0; }
  double start_of(std::size_t k) const { return start != nullptr ? start[k] : 0.0; }
};

}  // namespace structlearn
