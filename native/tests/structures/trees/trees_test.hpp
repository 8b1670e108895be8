// Dependency trees and spanning trees against enumeration.
#pragma once

#include <cmath>
#include <string>

#include "structures/trees/arborescence.hpp"
#include "structures/trees/spanning_tree.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/structures_test.hpp"

namespace test {

struct TreeShape {
  std::size_t n, R;
  bool projective, single_root, sibling;
};

inline bool is_tree(const Output& heads, bool projective, bool single_root) {
  const std::size_t n = heads.size();
  const auto head = [&](std::size_t m) { return static_cast<std::size_t>(heads[m - 1]); };
  std::size_t roots = 0;
  for (std::size_t m = 1; m <= n; ++m) {
    roots += head(m) == 0;
    std::size_t v = m, steps = 0;
    while (v != 0 && steps++ <= n) v = head(v);
    if (v != 0) return false;
    for (std::size_t k = 1; k <= n && projective; ++k) {
      const std::size_t a = std::min(m, head(m)), b = std::max(m, head(m));
      const std::size_t c = std::min(k, head(k)), d = std::max(k, head(k));
      if (a < c && c < b && b < d) return false;
    }
  }
  return !single_root || roots == 1;
}

// Parts are found from the heads here, not by the core's encode.
inline Example make_trees(const TreeShape& s, Draw& draw, double scale, double forbidden) {
  const std::size_t N = s.n + 1;
  Example e;
  e.layout.add(Arborescence::kArc, N * N, s.R, s.R > 1);
  if (s.sibling) e.layout.add(Arborescence::kSibling, N * N * N, 1, false);
  draw_theta(e, draw, scale, forbidden);
  const Arborescence structure(s.projective, s.single_root);
  for (std::size_t b = 0; b < 2; ++b) {
    const Block& block = e.layout.block[b];
    for (std::size_t x = 0; block.present && x < block.sites; ++x) {
      if (structure.reads(e.layout, b, x)) continue;
      for (std::size_t r = 0; r < block.outcomes; ++r) {
        e.theta[block.offset + x * block.outcomes + r] = std::nan("");
      }
    }
  }
  for (const Output& heads : sequences(s.n, N)) {
    if (!is_tree(heads, s.projective, s.single_root)) continue;
    for (const Output& labels : sequences(s.n, s.R)) {
      Output y = heads;
      if (s.R > 1) y.insert(y.end(), labels.begin(), labels.end());
      std::vector<double> mu(e.layout.parts, 0.0);
      for (std::size_t m = 1; m <= s.n; ++m) {
        const auto h = static_cast<std::size_t>(heads[m - 1]);
        mu[(h * N + m) * s.R + static_cast<std::size_t>(labels[m - 1])] = 1.0;
        if (!s.sibling) continue;
        std::size_t nearest = h;  // the sibling next to m on its way to h
        for (std::size_t k = std::min(h, m) + 1; k < std::max(h, m); ++k) {
          if (heads[k - 1] != heads[m - 1]) continue;
          if (h < m || nearest == h) nearest = k;
        }
        mu[e.layout.block[Arborescence::kSibling].offset + (h * N + nearest) * N + m] = 1.0;
      }
      e.outputs.push_back(y);
      e.mu.push_back(std::move(mu));
    }
  }
  e.add_up();
  return e;
}

inline void test_small_trees() {
  Workspace ws;
  Draw draw(21);
  for (const double scale : {1.0, 1e3}) {
    for (const double forbidden : {0.0, 0.2}) {
      for (int kind = 0; kind < 6; ++kind) {
        for (int repeat = 0; repeat < 4; ++repeat) {
          const std::size_t R = 1 + draw.below(2);
          const TreeShape shape{1 + draw.below(R > 1 ? 3 : 4), R, kind % 3 > 0, kind > 2,
                                kind % 3 == 2};
          context = "trees, n " + std::to_string(shape.n) + ", kind " + std::to_string(kind) +
                    ", scale " + std::to_string(scale);
          check_structure(Arborescence(shape.projective, shape.single_root),
                          make_trees(shape, draw, scale, forbidden), ws);
        }
      }
    }
  }
}

// Long sentences and tied scores: what is read and written stays inside.
inline void test_long_trees() {
  Workspace ws;
  Draw draw(22);
  for (const std::size_t n : {5, 8, 9, 17, 40, 64}) {
    for (int kind = 0; kind < 4; ++kind) {
      context = "long trees, n " + std::to_string(n) + ", kind " + std::to_string(kind);
      const std::size_t N = n + 1;
      Example e;
      e.layout.add(Arborescence::kArc, N * N, 1, false);
      e.theta.resize(N * N);
      for (double& x : e.theta) x = std::floor(draw.between(0.0, 4.0));
      const Arborescence structure(kind % 2 == 1, kind > 1);
      Output y;
      const double value = structure.argmax(e.layout, e.scores(), y, ws);
      CHECK(is_tree(y, kind % 2 == 1, kind > 1));
      const auto best = structure.kbest(e.layout, e.scores(), 5, ws);
      CHECK(best.size() == 5 && best[0].first == value);
      std::vector<double> p(N * N);
      Marginals out;
      out.block[0] = p.data();
      CHECK(structure.infer(e.layout, e.scores(), 0.5, out, ws) >= value);
      for (std::size_t m = 1; m < N; ++m) {
        double sum = 0.0;
        for (std::size_t h = 0; h < N; ++h) sum += p[h * N + m];
        CHECK_NEAR(sum, 1.0, 1e-9);
      }
      for (const Output& drawn : structure.sample(e.layout, e.scores(), 1.0, 3, 7, ws)) {
        CHECK(is_tree(drawn, kind % 2 == 1, kind > 1));
      }
    }
  }
}

inline void test_small_spanning_trees() {
  Workspace ws;
  Draw draw(23);
  for (const double forbidden : {0.0, 0.2}) {
    for (std::size_t n = 2; n <= 5; ++n) {
      context = "spanning trees, n " + std::to_string(n);
      Example e;
      e.layout.add(SpanningTree::kEdge, n * n, 1, false);
      draw_theta(e, draw, 10.0, forbidden);
      for (const Output& heads : sequences(n - 1, n)) {
        if (!is_tree(heads, false, false)) continue;
        std::vector<double> mu(n * n, 0.0);
        for (std::size_t m = 1; m < n; ++m) {
          const auto h = static_cast<std::size_t>(heads[m - 1]);
          mu[std::min(h, m) * n + std::max(h, m)] = 1.0;
        }
        Output y;
        for (std::size_t x = 0; x < n * n; ++x) {
          if (mu[x] == 0.0) continue;
          y.push_back(static_cast<std::int32_t>(x / n));
          y.push_back(static_cast<std::int32_t>(x % n));
        }
        e.outputs.push_back(y);
        e.mu.push_back(std::move(mu));
      }
      e.add_up();
      check_structure(SpanningTree(), e, ws);
    }
  }
}

}  // namespace test
