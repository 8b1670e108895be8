#include "structures/chains/semimarkov.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/semimarkov_view.hpp"
#include "structures/lazy_kbest.hpp"

namespace structlearn {

SemiMarkov::SemiMarkov(std::size_t max_length) : max_length_(max_length) {
  if (max_length == 0) throw std::invalid_argument("max_length must be at least 1");
}

void SemiMarkov::check(const Layout& layout) const {
  const Block& segment = layout.block[kSegment];
  const std::size_t L = segment.sites / max_length_, K = segment.outcomes;
  if (!segment.present || segment.sites % max_length_ != 0 || L == 0 || K == 0) {
    throw std::invalid_argument("segment must have shape (L, " + std::to_string(max_length_) +
                                ", K) with at least one position and one label");
  }
  for (std::size_t b : {kStart, kEnd}) {
    if (layout.block[b].present && layout.block[b].outcomes != K) {
      throw std::invalid_argument(std::string(b == kStart ? "start" : "end") +
                                  " must have shape (K,) = (" + std::to_string(K) +
                                  ",) to go with segment");
    }
  }
  const Block& table = layout.block[kTransition];
  if (table.present && (table.outcomes != K * K || table.sites != (table.anchored ? L - 1 : 1))) {
    throw std::invalid_argument(
        "transition must have shape (K, K), or that with " + std::to_string(L - 1) +
        " positions in front; segment has L = " + std::to_string(L) + ", K = " + std::to_string(K));
  }
}

bool SemiMarkov::reads(const Layout& layout, std::size_t block, std::size_t site) const {
  if (block != kSegment) return true;
  return site / max_length_ + site % max_length_ < layout.block[block].sites / max_length_;
}

namespace {

enum class SegmentSearchScratch { kBest, kArrived, kTiled, kLast };

// Back-pointers are not stored: traceback finds the first place that gives the maximum. If rounding
// to infinity leaves none, it takes the last one.
std::size_t best_length(const SegmentView& v, const double* arrived, double best, std::size_t j,
                        std::size_t k) {
  std::size_t d = 1;
  while (d < v.longest_to(j) && arrived[(j - d) * v.K + k] + v.row(j - d, d)[k] != best) ++d;
  return d;
}

std::size_t best_label(const SegmentView& v, const double* before, double best, std::size_t i,
                       std::size_t k) {
  const double* T = v.table(i) + k;
  std::size_t k1 = 0;
  while (k1 + 1 < v.K && before[k1] + T[k1 * v.K] != best) ++k1;
  return k1;
}

// best[j][k]: over segmentations of 0..j whose last label is k; arrived[i][k]: over those of 0..i,
// with the transition to label k.
struct SegmentChart {
  double *best, *arrived;
};

SegmentChart best_chart(const SegmentView& v, Workspace& ws) {
  const std::size_t K = v.K;
  double* best = ws.real(SegmentSearchScratch::kBest, (v.L + 1) * K);
  double* arrived = ws.real(SegmentSearchScratch::kArrived, v.L * K);
  double* tiled = ws.real(SegmentSearchScratch::kTiled, v.D * K);
  std::fill(best, best + (v.L + 1) * K, kMinusInfinity);
  for (std::size_t i = 0; i < v.L; ++i) {
    double* now = arrived + i * K;
    if (i == 0) {
      for (std::size_t k = 0; k < K; ++k) now[k] = v.start_of(k);
    } else {
      kernels().max_step(best + i * K, v.table(i), now, K, 1, K);
    }
    // The scores of all lengths are adjacent in memory, and so are the ends that they reach.
    const std::size_t n = v.longest_from(i) * K;
    std::copy(now, now + K, tiled);
    for (std::size_t done = K; done < n; done *= 2) {
      std::copy(tiled, tiled + std::min(done, n - done), tiled + done);
    }
    kernels().max_sum(tiled, v.row(i, 1), best + (i + 1) * K, n);
  }
  return {best, arrived};
}

// The chart as a forest: nodes ended before j with label k, nodes arrived at i for label k, and the
// root.
struct SegmentForest {
  const SegmentView& v;
  SegmentChart chart;

  std::uint64_t ended(std::size_t j, std::size_t k) const { return j * v.K + k; }
  std::uint64_t arrived(std::size_t i, std::size_t k) const { return (v.L + 1 + i) * v.K + k; }
  std::uint64_t root() const { return arrived(v.L, 0); }
  bool has_ended(std::uint64_t at) const { return at < arrived(0, 0); }

  double best(std::uint64_t at) const {  // never called for the root
    return has_ended(at) ? chart.best[at] : chart.arrived[at - arrived(0, 0)];
  }
  std::uint32_t ways(std::uint64_t at) const {
    if (has_ended(at)) return static_cast<std::uint32_t>(v.longest_to(at / v.K));
    return at < arrived(1, 0) ? 1 : static_cast<std::uint32_t>(v.K);
  }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const std::size_t k = at % v.K;
    if (has_ended(at)) {  // by a segment of length e + 1
      const std::size_t i = at / v.K - e - 1;
      tails = {arrived(i, k)};
      return v.row(i, e + 1)[k];
    }
    const std::size_t i = at / v.K - (v.L + 1);
    tails.clear();
    if (i == 0) return v.start_of(k);
    tails = {ended(i, e)};
    return i == v.L ? v.end_of(e) : v.table(i)[e * v.K + k];
  }
};

}  // namespace

double SemiMarkov::argmax(const Layout& layout, const Scores& scores, Output& y,
                          Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const std::size_t K = v.K;
  const auto [best, arrived] = best_chart(v, ws);
  double* last = ws.real(SegmentSearchScratch::kLast, K);
  for (std::size_t k = 0; k < K; ++k) last[k] = best[v.L * K + k] + v.end_of(k);
  std::size_t k = first_max(last, K), j = v.L;
  const double value = last[k];
  y.assign(v.L, value == kMinusInfinity ? 0 : -1);
  if (value == kMinusInfinity) return value;
  while (true) {
    const std::size_t i = j - best_length(v, arrived, best[j * K + k], j, k);
    y[i] = static_cast<std::int32_t>(k);
    if (i == 0) return value;
    k = best_label(v, best + i * K, arrived[i * K + k], i, k);
    j = i;
  }
}

void SemiMarkov::encode(const Layout& layout, std::span<const std::int32_t> y,
                        std::vector<std::uint32_t>& parts) const {
  const Block& table = layout.block[kTransition];
  const std::size_t L = layout.block[kSegment].sites / max_length_;
  const std::size_t K = layout.block[kSegment].outcomes;
  const auto push = [&parts](std::size_t i) { parts.push_back(static_cast<std::uint32_t>(i)); };
  std::size_t before = 0;
  for (std::size_t i = 0; i < L;) {
    const std::size_t k = static_cast<std::size_t>(y[i]);
    std::size_t j = i + 1;
    while (j < L && y[j] < 0) ++j;
    push(layout.block[kSegment].offset + (i * max_length_ + j - i - 1) * K + k);
    if (i == 0 && layout.block[kStart].present) push(layout.block[kStart].offset + k);
    if (j == L && layout.block[kEnd].present) push(layout.block[kEnd].offset + k);
    if (i > 0 && table.present) {
      push(table.offset + (table.sites == 1 ? 0 : (i - 1) * K * K) + before * K + k);
    }
    before = k;
    i = j;
  }
}

std::vector<std::pair<double, Output>> SemiMarkov::kbest(const Layout& layout, const Scores& scores,
                                                         std::size_t n, Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const SegmentForest forest{v, best_chart(v, ws)};
  return kbest_outputs(forest, forest.root(), n, Output(v.L, -1),
                       [&](std::uint64_t at, std::uint32_t e, Output& y) {
                         if (!forest.has_ended(at)) return;
                         y[at / v.K - e - 1] = static_cast<std::int32_t>(at % v.K);
                       });
}

}  // namespace structlearn
