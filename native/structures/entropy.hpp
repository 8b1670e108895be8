// The entropy of an output distribution, with an error estimate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// A difference is trusted if rounding may have cost at most this share of it.
inline constexpr double kTolerance = 1e-10;
// The precision of an exact entropy, relative to that of a fair choice of two.
inline constexpr double kExact = 1e-12;

struct Entropy {
  double value = 0.0;               // in nats; 0 if no output is legal
  double error = 0.0;               // its possible rounding error
  double log_sum = kMinusInfinity;  // eps log sum exp(score / eps)
};

// The largest size of a score that is read.
inline double largest(const Structure& structure, const Layout& layout, const Scores& scores) {
  double most = 0.0;
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = layout.block[b];
    for (std::size_t j = 0; block.present && j < block.size(); ++j) {
      const double x = std::abs(scores.block[b][j]);
      if (x > most && std::isfinite(x) && structure.reads(layout, b, j / block.outcomes)) most = x;
    }
  }
  return most;
}

// The entropy of P(y) ~ exp(score(y) / eps), as the surprise of the best output and the difference
// to the expected score: that is more precise than log Z minus the expected score.
inline Entropy entropy(const Structure& structure, const Layout& layout, const Scores& scores,
                       double eps, Workspace& ws) {
  Entropy found;
  Output best;
  const double most = structure.argmax(layout, scores, best, ws);
  if (most == kMinusInfinity) return found;
  std::vector<double> p(layout.parts, 0.0);
  Marginals out;
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    if (layout.block[b].present) out.block[b] = p.data() + layout.block[b].offset;
  }
  found.log_sum = structure.infer(layout, scores, eps, out, ws);
  std::vector<std::uint32_t> parts;
  structure.encode(layout, best, parts);
  double size = std::abs(found.log_sum) + 2.0 * std::abs(most), lag = 0.0;
  for (const std::uint32_t part : parts) {
    p[part] -= 1.0;
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {  // large scores may cancel in the best one's sum
      const Block& block = layout.block[b];
      if (block.present && part >= block.offset && part < block.offset + block.size())
        size += std::abs(scores.block[b][part - block.offset]);
    }
  }
  for (std::size_t b = 0; b < kMaxBlocks; ++b) {
    const Block& block = layout.block[b];
    for (std::size_t j = 0; block.present && j < block.size(); ++j) {
      const double q = p[block.offset + j];
      if (q == 0.0) continue;
      lag -= q * scores.block[b][j];
      size += std::abs(q * scores.block[b][j]);
    }
  }
  found.value = std::max(0.0, (found.log_sum - most + lag) / eps);
  // The probabilities are themselves inexact in proportion to the scores: hence the square.
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  found.error = kRounding * (1.0 + size / eps) * (1.0 + size / eps);
  // Sums over trees are measured against scores that no likely tree need have.
  const double shifts = kRounding * largest(structure, layout, scores) / eps;
  if (std::max(found.error, shifts) <= kTolerance * found.value) return found;
  if (const std::optional<double> exact = structure.exact_entropy(layout, scores, eps, ws)) {
    found.value = std::max(0.0, *exact);
    found.error = kExact * (1.0 + found.value);
  }
  return found;
}

}  // namespace structlearn
