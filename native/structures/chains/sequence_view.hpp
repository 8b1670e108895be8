// One example of a chain or a segmentation, as input of searches over products: segments of up to D
// positions, of which a chain has one per position.
#pragma once

#include <algorithm>
#include <cstddef>

#include "structures/chains/chain_view.hpp"
#include "structures/chains/semimarkov_view.hpp"

namespace structlearn {

struct SequenceView {
  std::size_t L, K;
  std::size_t D = 1;      // the longest segment
  std::size_t order = 0;  // of the transitions; 0: none
  std::size_t windows;    // of the labels stored in a state, K if only the last
  std::size_t stay = 1;   // the windows that stay when the oldest label leaves
  const double* scores;   // of windows, by segment
  const double *start = nullptr, *end = nullptr;
  const double* transition = nullptr;
  std::size_t stride = 0;  // of the transitions from a position to the next; 0: shared

  // The scores of a chain's windows are summed up in the workspace.
  SequenceView(const ChainView& v, Workspace& ws)
      : L(v.L), K(v.K), order(v.order), windows(v.order == 0 ? v.K : v.states), stay(v.stay) {
    enum Scratch { kWindows };
    double* x = ws.real(kWindows, L * windows);
    for (std::size_t t = 0; t < L; ++t) {
      std::fill(x + t * windows, x + t * windows + v.states_at(t), 0.0);
      v.add_node(t, x + t * windows);
    }
    scores = x;
    if (order > 0) {
      transition = v.table[order].data;
      stride = v.table[order].stride;
    }
  }

  explicit SequenceView(const SegmentView& v)
      : L(v.L),
        K(v.K),
        D(v.D),
        order(1),
        windows(v.K),
        scores(v.segment),
        start(v.start),
        end(v.end),
        transition(v.transition),
        stride(v.stride) {}

  // The longest segment that can end before j.
  std::size_t longest_to(std::size_t j) const { return std::min(D, j); }
  // The scores of the segment of length d that starts at i.
  const double* row(std::size_t i, std::size_t d) const {
    return scores + (i * D + d - 1) * windows;
  }
  // The number of windows that end at position i.
  std::size_t windows_at(std::size_t i) const {
    std::size_t n = K;
    for (std::size_t j = 1; j < std::min(i + 1, order); ++j) n *= K;
    return n;
  }
  // Whether the window is still growing at position i.
  bool grows(std::size_t i) const { return i < order; }
  // Reads the previous window and the label at i; only where windows do not grow.
  const double* table(std::size_t i) const { return transition + (i - order) * stride; }
  std::size_t table_size() const { return windows * K; }

  double start_of(std::size_t k) const { return start != nullptr ? start[k] : 0.0; }
  double end_of(std::size_t w) const { return end != nullptr ? end[w % K] : 0.0; }
};

}  // namespace structlearn
