// The scores of labelled arcs as those of bare arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/open_number.hpp"
#include "structures/trees/arborescence.hpp"

namespace structlearn {

// The arrays of a workspace for labelled arcs: one score and one probability per arc.
enum class ArcScratch { kScores, kMarginals, kLabels };

// The number of words plus the root: the first block is a square of this size.
inline std::size_t nodes_of(const Layout& layout) {
  return static_cast<std::size_t>(
      std::llround(std::sqrt(static_cast<double>(layout.block[0].sites))));
}

// The score of each arc's best label, (n + 1, n + 1); the block itself if arcs have no labels.
inline const double* best_labels(const Layout& layout, const Scores& scores, Workspace& ws) {
  const Block& block = layout.block[Arborescence::kArc];
  const double* arc = scores.block[Arborescence::kArc];
  if (block.outcomes == 1) return arc;
  double* best = ws.real(ArcScratch::kScores, block.sites);
  for (std::size_t s = 0; s < block.sites; ++s) {
    best[s] = kernels().largest(arc + s * block.outcomes, block.outcomes);
  }
  return best;
}

// The labels of a tree, the first that gives each arc its score, after its n heads.
inline void choose_labels(const double* arc, const double* best, std::size_t n, std::size_t R,
                          std::int32_t* y) {
  for (std::size_t m = 1; m <= n; ++m) {
    const std::size_t site = static_cast<std::size_t>(y[m - 1]) * (n + 1) + m;
    std::size_t r = 0;
    while (r + 1 < R && arc[site * R + r] != best[site]) ++r;
    y[n + m - 1] = static_cast<std::int32_t>(r);
  }
}

// The sum, in four parts side by side.
inline double added(const double* x, std::size_t n) {
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) s[j] += x[i + j];
  }
  for (; i < n; ++i) s[0] += x[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

// eps log sum exp(score / eps) over each arc's labels; the block itself if arcs have none. For
// entries that are not read the sum is -inf.
inline const double* summed_labels(const Layout& layout, const Scores& scores, double eps,
                                   Workspace& ws) {
  const Block& block = layout.block[Arborescence::kArc];
  const double* arc = scores.block[Arborescence::kArc];
  const std::size_t N = nodes_of(layout), R = block.outcomes;
  if (R == 1) return arc;
  double* sum = ws.real(ArcScratch::kScores, block.sites);
  double* scratch = ws.real(ArcScratch::kLabels, R);
  for (std::size_t s = 0; s < block.sites; ++s) {
    const bool read = s % N != 0 && s % N != s / N;
    const double top = read ? kernels().largest(arc + s * R, R) : kMinusInfinity;
    sum[s] = top;
    if (top == kMinusInfinity) continue;
    kernels().exp_shifted(arc + s * R, R, top, 1.0 / eps, scratch);
    sum[s] += eps * elementary::log(added(scratch, R));
  }
  return sum;
}

// The contribution of an arc's labels to its weight: their total weight relative to the best one,
// and the entropy of the choice among them.
inline Open openness_of_labels(const double* scores, std::size_t R, double eps) {
  if (R == 1) return Open::one();
  const std::size_t best = static_cast<std::size_t>(std::max_element(scores, scores + R) - scores);
  double rest = 0.0, mean = 0.0;
  for (std::size_t r = 0; r < R; ++r) {
    const double lag = (scores[best] - scores[r]) / eps, weight = elementary::exp(-lag);
    if (r == best || !(weight > 0.0)) continue;
    rest += weight;
    mean += weight * lag;
  }
  return {Wide::exp(elementary::log1p(rest)), elementary::log1p(rest) + mean / (1.0 + rest)};
}

// The probability of each arc, divided among its labels.
inline void share_among_labels(const Layout& layout, const Scores& scores, const double* sum,
                               const double* p, double eps, double* out) {
  const Block& block = layout.block[Arborescence::kArc];
  const double* arc = scores.block[Arborescence::kArc];
  const std::size_t R = block.outcomes;
  for (std::size_t s = 0; s < block.sites; ++s) {
    double* row = out + s * R;
    if (p[s] == 0.0) {
      std::fill(row, row + R, 0.0);
      continue;
    }
    kernels().exp_shifted(arc + s * R, R, sum[s], 1.0 / eps, row);
    kernels().scale(p[s], row, R);
  }
}

}  // namespace structlearn
