// The scores of labelled arcs as those of bare arcs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "structlearn/arborescence.hpp"

namespace structlearn {

// Slot of the workspace for one score an arc; those before it are for the search.
inline constexpr std::size_t kArcScores = 9;

// The number of words and the root.
inline std::size_t nodes_of(const Layout& layout) {
  return static_cast<std::size_t>(
      std::llround(std::sqrt(static_cast<double>(layout.block[Arborescence::kArc].sites))));
}

// The score of each arc's best label, (n + 1, n + 1); the block itself where arcs have no labels.
inline const double* best_labels(const Layout& layout, const Scores& scores, Workspace& ws) {
  const Block& block = layout.block[Arborescence::kArc];
  const double* arc = scores.block[Arborescence::kArc];
  if (block.outcomes == 1) return arc;
  double* best = ws.real(kArcScores, block.sites);
  for (std::size_t s = 0; s < block.sites; ++s) {
    const double* row = arc + s * block.outcomes;
    double top = kMinusInfinity;
    for (std::size_t r = 0; r < block.outcomes; ++r) top = row[r] > top ? row[r] : top;
    best[s] = top;
  }
  return best;
}

// The labels of a tree, the first that gives each arc its score, behind its n heads.
inline void choose_labels(const double* arc, const double* best, std::size_t n, std::size_t R,
                          std::int32_t* y) {
  for (std::size_t m = 1; m <= n; ++m) {
    const std::size_t site = static_cast<std::size_t>(y[m - 1]) * (n + 1) + m;
    std::size_t r = 0;
    while (r + 1 < R && arc[site * R + r] != best[site]) ++r;
    y[n + m - 1] = static_cast<std::int32_t>(r);
  }
}

}  // namespace structlearn
