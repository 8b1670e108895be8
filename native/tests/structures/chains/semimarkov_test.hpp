// Segmentations against enumeration, against chains, and wide ones against plain loops.
#pragma once

#include <string>

#include "numeric/kernels.hpp"
#include "structures/chains/semimarkov.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/structures_test.hpp"

namespace test {

struct SegmentShape {
  std::size_t L, D, K;
  bool transition, anchored, ends;
};

// All rows of L labels or -1 (the segment goes on) whose segments are at most D long.
inline std::vector<Output> segmentations(std::size_t L, std::size_t D, std::size_t K) {
  std::vector<Output> result;
  for (Output y : sequences(L, K + 1)) {
    std::size_t length = 0, longest = 0;
    for (std::int32_t& k : y) {
      length = --k < 0 ? length + 1 : 1;
      longest = std::max(longest, length);
    }
    if (y[0] >= 0 && longest <= D) result.push_back(y);
  }
  return result;
}

inline Layout segment_layout(const SegmentShape& s) {
  Layout layout;
  layout.add(SemiMarkov::kSegment, s.L * s.D, s.K, true);
  if (s.ends) {
    layout.add(SemiMarkov::kStart, 1, s.K, false);
    layout.add(SemiMarkov::kEnd, 1, s.K, false);
  }
  if (s.transition) {
    layout.add(SemiMarkov::kTransition, s.anchored ? s.L - 1 : 1, s.K * s.K, s.anchored);
  }
  return layout;
}

// The parts of each output are found from its segments here, not by the core's encode.
inline Example make_segments(const SegmentShape& s, Draw& draw, double scale, double forbidden) {
  Example e;
  e.layout = segment_layout(s);
  draw_theta(e, draw, scale, forbidden);
  for (std::size_t i = 0; i < s.L; ++i) {  // what runs beyond the end is never read
    for (std::size_t d = s.L - i + 1; d <= s.D; ++d) {
      for (std::size_t k = 0; k < s.K; ++k) e.theta[(i * s.D + d - 1) * s.K + k] = std::nan("");
    }
  }
  e.outputs = segmentations(s.L, s.D, s.K);
  const auto& block = e.layout.block;
  for (const Output& y : e.outputs) {
    std::vector<double> mu(e.layout.parts, 0.0);
    std::vector<std::size_t> starts;
    for (std::size_t t = 0; t < s.L; ++t) {
      if (y[t] >= 0) starts.push_back(t);
    }
    for (std::size_t n = 0; n < starts.size(); ++n) {
      const std::size_t i = starts[n], j = n + 1 < starts.size() ? starts[n + 1] : s.L;
      const auto k = static_cast<std::size_t>(y[i]);
      mu[(i * s.D + (j - i - 1)) * s.K + k] += 1.0;
      if (s.ends && n == 0) mu[block[SemiMarkov::kStart].offset + k] += 1.0;
      if (s.ends && j == s.L) mu[block[SemiMarkov::kEnd].offset + k] += 1.0;
      if (s.transition && n > 0) {
        const auto k1 = static_cast<std::size_t>(y[starts[n - 1]]);
        const std::size_t site = s.anchored ? i - 1 : 0;
        mu[block[SemiMarkov::kTransition].offset + (site * s.K + k1) * s.K + k] += 1.0;
      }
    }
    e.mu.push_back(std::move(mu));
  }
  e.add_up();
  return e;
}

inline void test_small_segmentations() {
  Workspace ws;
  Draw draw(11);
  for (const double scale : {1.0, 1e3, 1e5}) {
    for (const double forbidden : {0.0, 0.1, 0.4}) {
      for (std::size_t D = 1; D <= 5; ++D) {
        for (int repeat = 0; repeat < 8; ++repeat) {
          const SegmentShape shape{1 + draw.below(4), D,
                                   1 + draw.below(3), draw.chance(0.8),
                                   draw.chance(0.5),  draw.chance(0.5)};
          context = "segments, L " + std::to_string(shape.L) + ", D " + std::to_string(D) + ", K " +
                    std::to_string(shape.K) + ", scale " + std::to_string(scale);
          check_structure(SemiMarkov(D), make_segments(shape, draw, scale, forbidden), ws);
        }
      }
    }
  }
}

// Segments of length one are a first-order chain: the same bits for maxima.
inline void test_segments_of_one() {
  Workspace ws;
  Draw draw(12);
  for (std::size_t L = 1; L <= 12; ++L) {
    context = "segments of one position, L " + std::to_string(L);
    const std::size_t K = 1 + L % 5;
    Example e;
    e.layout = segment_layout({L, 1, K, true, L % 2 == 0, true});
    draw_theta(e, draw, 3.0, 0.1);
    const SemiMarkov semi(1);
    const Chain chain;
    Output y, z;
    const double value = semi.argmax(e.layout, e.scores(), y, ws);
    CHECK(value == chain.argmax(e.layout, e.scores(), z, ws));
    CHECK(value == kMinusInfinity || y == z);
    const auto ours = semi.kbest(e.layout, e.scores(), 7, ws);
    const auto theirs = chain.kbest(e.layout, e.scores(), 7, ws);
    CHECK(ours.size() == theirs.size());
    for (std::size_t n = 0; n < std::min(ours.size(), theirs.size()); ++n) {
      CHECK(ours[n].second == theirs[n].second);
      CHECK_NEAR(ours[n].first, theirs[n].first, 1e-12);  // the end's score is added elsewhere
    }
    std::vector<double> p, q;
    const double sum = infer_with(chain, e, e.theta, 0.7, &q, ws);
    CHECK_NEAR(infer_with(semi, e, e.theta, 0.7, &p, ws), sum, 1e-12);
    for (std::size_t j = 0; j < p.size() && sum > kMinusInfinity; ++j) {
      CHECK_NEAR(p[j], q[j], 1e-12);
    }
  }
}

// Ties: from the end backwards the first label, then the shortest segment.
inline void test_tied_segments() {
  context = "tied segments";
  Workspace ws;
  Draw draw(13);
  const Example e = make_segments({4, 3, 2, true, false, true}, draw, 0.0, 0.0);
  const SemiMarkov semi(3);
  Output y;
  CHECK(semi.argmax(e.layout, e.scores(), y, ws) == 0.0);
  CHECK(y == Output(4, 0));
  CHECK(semi.kbest(e.layout, e.scores(), 1, ws)[0].second == y);
  std::vector<Output> drawn = semi.sample(e.layout, e.scores(), 1.0, 3000, 9, ws);
  std::sort(drawn.begin(), drawn.end());
  CHECK(static_cast<std::size_t>(std::unique(drawn.begin(), drawn.end()) - drawn.begin()) ==
        e.outputs.size());
}

// A label that leads by far is forbidden later: what was far behind must not be lost.
inline void test_lost_leads() {
  Workspace ws;
  for (const double lead : {100.0, 800.0, 1e5}) {
    context = "lead that is lost, " + std::to_string(lead);
    // Two positions; label 0 leads, but only label 1 may be followed.
    Example e;
    e.layout = segment_layout({2, 1, 2, true, false, false});
    e.theta = {lead, 1.0, 0.5, 0.25, kMinusInfinity, kMinusInfinity, 0.0, 0.0};
    std::vector<double> p;
    const double expected = 1.0 + std::log(std::exp(0.5) + std::exp(0.25));
    CHECK_NEAR(infer_with(SemiMarkov(1), e, e.theta, 1.0, &p, ws), expected, 1e-12);
    CHECK_NEAR(p[1], 1.0, 1e-12);
    CHECK_NEAR(p[6], 1.0 / (1.0 + std::exp(-0.25)), 1e-12);
    // And backwards: label 0 leads at the end, only label 1 can come before it is forbidden.
    e.theta = {0.5, 0.25, lead, 1.0, kMinusInfinity, 0.0, kMinusInfinity, 0.0};
    CHECK_NEAR(infer_with(SemiMarkov(1), e, e.theta, 1.0, &p, ws), expected, 1e-12);
    CHECK_NEAR(p[0], 1.0 / (1.0 + std::exp(-0.25)), 1e-12);
    CHECK_NEAR(p[5], p[0], 1e-12);
  }
}

// Widths at which the vector loops change, by plain loops over segments; the same bits with every
// instruction set.
inline void test_wide_segmentations() {
  Workspace ws;
  for (const std::size_t K : {1, 7, 8, 9, 17, 33}) {
    context = "wide segmentation, K " + std::to_string(K);
    Draw draw(K);
    const std::size_t L = 9, D = 4;
    Example e;
    e.layout = segment_layout({L, D, K, true, false, false});
    draw_theta(e, draw, 2.0, 0.1);
    const double* T = e.theta.data() + L * D * K;
    std::vector<double> best((L + 1) * K, kMinusInfinity), total((L + 1) * K, 0.0);
    for (std::size_t j = 1; j <= L; ++j) {
      for (std::size_t d = 1; d <= std::min(D, j); ++d) {
        for (std::size_t k = 0; k < K; ++k) {
          const std::size_t i = j - d;
          const double x = e.theta[(i * D + d - 1) * K + k];
          if (i == 0) best[j * K + k] = std::max(best[j * K + k], x);
          if (i == 0) total[j * K + k] += std::exp(x);
          for (std::size_t k1 = 0; k1 < K && i > 0; ++k1) {
            best[j * K + k] = std::max(best[j * K + k], best[i * K + k1] + T[k1 * K + k] + x);
            total[j * K + k] += total[i * K + k1] * std::exp(T[k1 * K + k] + x);
          }
        }
      }
    }
    const SemiMarkov semi(D);
    Output y;
    std::vector<double> p;
    const double value = semi.argmax(e.layout, e.scores(), y, ws);
    double sum = 0.0;
    for (std::size_t k = 0; k < K; ++k) sum += total[L * K + k];
    CHECK_NEAR(value, *std::max_element(best.end() - static_cast<long>(K), best.end()), 1e-12);
    if (value == kMinusInfinity) continue;
    CHECK_NEAR(infer_with(semi, e, e.theta, 1.0, &p, ws), std::log(sum), 1e-10);
    std::vector<std::uint32_t> parts;
    semi.encode(e.layout, y, parts);
    double walked = 0.0;
    for (const std::uint32_t j : parts) walked += e.theta[j];
    CHECK_NEAR(walked, value, 1e-12);
    const std::string before = kernels().name;
    for (const char* name : {"baseline", "avx2", "avx512"}) {
      if (!use_kernels(name)) continue;
      std::vector<double> q;
      Output z;
      CHECK(semi.argmax(e.layout, e.scores(), z, ws) == value && z == y);
      infer_with(semi, e, e.theta, 1.0, &q, ws);
      CHECK(q == p);
    }
    use_kernels(before.c_str());
  }
}

// A shared table's marginals position by position are those of a table given by position.
inline void test_segment_marginals_by_position() {
  context = "segment marginals by position";
  Workspace ws;
  const SemiMarkov semi(2);
  Draw draw(14);
  const SegmentShape shape{4, 2, 3, true, false, false};
  const Example shared = make_segments(shape, draw, 1.0, 0.0);
  Example anchored;
  anchored.layout = segment_layout({4, 2, 3, true, true, false});
  anchored.theta = shared.theta;
  for (int copy = 0; copy < 2; ++copy) {
    anchored.theta.insert(anchored.theta.end(), shared.theta.end() - 9, shared.theta.end());
  }
  std::vector<double> p, segment(24), pair(27);
  infer_with(semi, anchored, anchored.theta, 1.0, &p, ws);
  Marginals out;
  out.by_position = true;
  out.block[SemiMarkov::kSegment] = segment.data();
  out.block[SemiMarkov::kTransition] = pair.data();
  semi.infer(shared.layout, shared.scores(), 1.0, out, ws);
  for (std::size_t j = 0; j < 24; ++j) CHECK_NEAR(segment[j], p[j], 1e-12);
  for (std::size_t j = 0; j < 27; ++j) CHECK_NEAR(pair[j], p[24 + j], 1e-12);
}

inline void test_segment_refusals() {
  context = "wrong layouts of segments";
  const SemiMarkov semi(3);
  const auto refuse = [&](auto&& build) {
    Layout layout;
    build(layout);
    CHECK_THROWS(std::invalid_argument, semi.check(layout));
  };
  refuse([](Layout&) {});
  refuse([](Layout& l) { l.add(SemiMarkov::kSegment, 0, 3, true); });
  refuse([](Layout& l) { l.add(SemiMarkov::kSegment, 6, 0, true); });
  refuse([](Layout& l) { l.add(SemiMarkov::kSegment, 7, 2, true); });
  refuse([](Layout& l) {
    l.add(SemiMarkov::kSegment, 6, 2, true);
    l.add(SemiMarkov::kEnd, 1, 3, false);
  });
  refuse([](Layout& l) {
    l.add(SemiMarkov::kSegment, 6, 2, true);
    l.add(SemiMarkov::kTransition, 2, 4, true);
  });
  CHECK_THROWS(std::invalid_argument, SemiMarkov(0));
  const Layout two = segment_layout({2, 3, 2, true, false, false});
  for (std::size_t site = 0; site < 6; ++site) {  // starts 0 and 1, lengths 1 to 3
    CHECK(semi.reads(two, SemiMarkov::kSegment, site) == (site < 2 || site == 3));
  }
  // Finite scores whose sum is not finite must not lead out of the table.
  Workspace ws;
  Example e;
  e.layout = segment_layout({3, 2, 2, true, false, false});
  e.theta.assign(e.layout.parts, 1e308);
  e.theta[12] = e.theta[15] = kMinusInfinity;
  Output y;
  semi.check(segment_layout({3, 3, 2, true, true, true}));
  SemiMarkov(2).argmax(e.layout, e.scores(), y, ws);
  CHECK(y.size() == 3 && y[0] >= 0);
  for (const std::int32_t k : y) CHECK(k >= -1 && k <= 1);
}

}  // namespace test
