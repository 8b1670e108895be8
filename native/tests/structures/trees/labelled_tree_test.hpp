// Labels on trees against enumeration, and every kind of tree that is none.
#pragma once

#include <string>
#include <vector>

#include "structures/trees/tree.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/structures_test.hpp"

namespace test {

using Parents = std::vector<std::int64_t>;

// A tree whose nodes are numbered in any order, or with parents before children.
inline Parents draw_parents(std::size_t n, bool in_order, Draw& draw) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  for (std::size_t i = n; !in_order && i-- > 1;) std::swap(order[i], order[draw.below(i + 1)]);
  Parents parents(n, -1);
  for (std::size_t i = 1; i < n; ++i) {
    parents[order[i]] = static_cast<std::int64_t>(order[draw.below(i)]);
  }
  return parents;
}

struct LabelledTreeShape {
  std::size_t N, K;
  bool edge, anchored;
};

inline Layout tree_layout(const LabelledTreeShape& s, const Parents& parents) {
  Layout layout;
  layout.add(Tree::kLabel, s.N, s.K, true);
  if (s.edge) layout.add(Tree::kEdge, s.anchored ? s.N - 1 : 1, s.K * s.K, s.anchored);
  layout.topology = parents;
  return layout;
}

// The parts of each output are found from the parents here, not by the core's encode.
inline Example make_tree(const LabelledTreeShape& s, const Parents& parents, Draw& draw,
                         double scale, double forbidden) {
  Example e;
  e.layout = tree_layout(s, parents);
  draw_theta(e, draw, scale, forbidden);
  e.outputs = sequences(s.N, s.K);
  for (const Output& y : e.outputs) {
    std::vector<double> mu(e.layout.parts, 0.0);
    std::size_t edge = 0;
    for (std::size_t v = 0; v < s.N; ++v) {
      const auto k = static_cast<std::size_t>(y[v]);
      mu[v * s.K + k] += 1.0;
      if (parents[v] < 0 || !s.edge) continue;
      const auto above = static_cast<std::size_t>(y[static_cast<std::size_t>(parents[v])]);
      mu[s.N * s.K + ((s.anchored ? edge : 0) * s.K + above) * s.K + k] += 1.0;
      ++edge;
    }
    e.mu.push_back(std::move(mu));
  }
  e.add_up();
  return e;
}

inline void test_small_labelled_trees() {
  Workspace ws;
  Draw draw(21);
  for (const double scale : {1.0, 1e3, 1e5}) {
    for (const double forbidden : {0.0, 0.1, 0.4}) {
      for (int repeat = 0; repeat < 30; ++repeat) {
        const LabelledTreeShape shape{1 + draw.below(5), 1 + draw.below(3), draw.chance(0.8),
                                      draw.chance(0.5)};
        const Parents parents = draw_parents(shape.N, draw.chance(0.3), draw);
        context = "tree, N " + std::to_string(shape.N) + ", K " + std::to_string(shape.K) +
                  ", scale " + std::to_string(scale);
        check_structure(Tree(), make_tree(shape, parents, draw, scale, forbidden), ws);
      }
    }
  }
}

inline void test_tree_refusals() {
  context = "trees that are none";
  const Tree tree;
  const auto check = [&tree](const Parents& parents, std::size_t n) {
    tree.check(tree_layout({n, 2, true, false}, parents));
  };
  check({-1}, 1);
  check({1, 2, -1}, 3);
  const std::vector<Parents> none = {{},         {-1, 0},     {-1, -1, 0},  {0, 1, 2},
                                     {1, 2, 0},  {-1, 2, 1},  {-1, 5, 0},   {-2, 0, 0},
                                     {-1, 0, 2}, {-1, 0, -7}, {-1, 0, 1, 0}};
  for (const Parents& parents : none) {
    CHECK_THROWS(std::invalid_argument, check(parents, 3));
  }
  const Parents star{-1, 0, 0};
  CHECK_THROWS(std::invalid_argument, {
    Layout layout = tree_layout({3, 2, false, false}, star);
    layout.add(Tree::kEdge, 3, 4, true);
    tree.check(layout);
  });
}

}  // namespace test
