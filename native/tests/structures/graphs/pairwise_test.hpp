// Labels on grids and graphs against enumeration: cuts, moves, messages, roof duality.
#pragma once

#include <cmath>
#include <vector>

#include "structures/graphs/pairwise.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/structures_test.hpp"

namespace test {

struct PairwiseCase {
  std::vector<double> label, first, second;
  std::vector<std::int64_t> ends;
  structlearn::Pairwise model;
};

inline double best_labelling(const structlearn::Pairwise& m) {
  std::vector<std::int32_t> y(m.nodes, 0);
  double best = structlearn::kMinusInfinity;
  for (;;) {
    best = std::max(best, m.score(y.data()));
    std::size_t v = 0;
    while (v < m.nodes && static_cast<std::size_t>(++y[v]) == m.labels) y[v++] = 0;
    if (v == m.nodes) return best;
  }
}

// A grid (or the sparse graph of the same edges) with strengths, or tables of any kind.
inline PairwiseCase draw_pairwise(std::size_t height, std::size_t width, std::size_t labels,
                                  bool grid, bool tables, Draw& draw) {
  PairwiseCase c;
  structlearn::Pairwise& m = c.model;
  m.nodes = height * width;
  m.labels = labels;
  const std::size_t across = height * (width - 1), down = (height - 1) * width;
  m.n_edges = across + down;
  const auto number = [&] { return static_cast<double>(draw.below(2001)) / 1000.0 - 1.0; };
  for (std::size_t i = 0; i < m.nodes * labels; ++i) c.label.push_back(2.0 * number());
  const std::size_t one = tables ? labels * labels : 1;
  for (std::size_t i = 0; i < m.n_edges * one; ++i) {
    (i < across * one ? c.first : c.second).push_back(tables ? number() : number() + 1.0);
  }
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t j = 0; j + 1 < width; ++j) {
      c.ends.push_back(static_cast<std::int64_t>(i * width + j));
      c.ends.push_back(static_cast<std::int64_t>(i * width + j + 1));
    }
  }
  for (std::size_t v = 0; v < down; ++v) {
    c.ends.push_back(static_cast<std::int64_t>(v));
    c.ends.push_back(static_cast<std::int64_t>(v + width));
  }
  if (!grid) c.first.insert(c.first.end(), c.second.begin(), c.second.end());
  m.label = c.label.data();
  m.pairs[0] = {tables ? c.first.data() : nullptr, tables ? nullptr : c.first.data(), one,
                grid ? across : m.n_edges};
  if (grid) {
    m.height = height;
    m.width = width;
    m.pairs[1] = {tables ? c.second.data() : nullptr, tables ? nullptr : c.second.data(), one,
                  down};
  } else {
    m.ends = c.ends.data();
  }
  return c;
}

inline void test_cliques() {
  Draw draw(8);
  const std::vector<std::int64_t> start{0, 2, 5}, members{0, 3, 1, 2, 3};
  for (int round = 0; round < 60; ++round) {
    const std::vector<double> slack{1.0, round % 2 == 0 ? 1.0 : 1.5};
    std::vector<double> reward;
    for (int i = 0; i < 6; ++i) reward.push_back(static_cast<double>(draw.below(1000)) / 300.0);
    std::vector<std::int32_t> y;
    PairwiseCase two = draw_pairwise(2, 2, 2, false, false, draw);
    two.model.cliques = {2, start.data(), members.data(), reward.data(), slack.data()};
    CHECK(structlearn::binary_cut(two.model, y, nullptr).not_submodular < 0);
    CHECK_NEAR(two.model.score(y.data()), best_labelling(two.model), 1e-9);
    PairwiseCase three = draw_pairwise(2, 2, 3, false, false, draw);
    three.model.cliques = {2, start.data(), members.data(), reward.data(), slack.data()};
    for (const bool swap : {false, true}) {
      y.assign(4, 0);
      const double before = three.model.score(y.data());
      CHECK(structlearn::climb_by_cuts(three.model, {swap, 100}, y, nullptr).converged);
      CHECK(three.model.score(y.data()) >= before - 1e-12);
    }
  }
}

inline void test_pairwise() {
  Draw draw(7);
  for (int round = 0; round < 60; ++round) {
    const std::size_t height = 1 + draw.below(3), width = 1 + draw.below(3);
    for (const bool grid : {true, false}) {
      std::vector<std::int32_t> y;
      const PairwiseCase two = draw_pairwise(height, width, 2, grid, false, draw);
      const double best = best_labelling(two.model);
      CHECK(structlearn::binary_cut(two.model, y, nullptr).not_submodular < 0);
      CHECK(std::fabs(two.model.score(y.data()) - best) < 1e-9);

      const PairwiseCase any = draw_pairwise(height, width, 2, grid, true, draw);
      CHECK(structlearn::roof_dual(any.model, y, nullptr) >= best_labelling(any.model) - 1e-9);

      const PairwiseCase three =
          draw_pairwise(height, std::min<std::size_t>(width, 2), 3, grid, round % 2 == 0, draw);
      const double most = best_labelling(three.model);
      for (const bool swap : {false, true}) {
        y.assign(three.model.nodes, 0);
        const double before = three.model.score(y.data());
        CHECK(structlearn::climb_by_cuts(three.model, {swap, 100}, y, nullptr).converged);
        const double after = three.model.score(y.data());
        CHECK(after >= before - 1e-12 && after <= most + 1e-9);
      }
      std::vector<double> belief(three.model.nodes * 3), pairs(three.model.n_edges * 9);
      const auto found = structlearn::pass_messages(three.model, {0.0, true, 0.0, 50, 1e-9}, y,
                                                    belief.data(), nullptr, nullptr);
      CHECK(found.bound >= most - 1e-9);
      structlearn::pass_messages(three.model, {1.0, false, 0.1, 50, 1e-9}, y, belief.data(),
                                 pairs.data(), nullptr);
      for (std::size_t v = 0; v < three.model.nodes; ++v) {
        CHECK(std::fabs(belief[3 * v] + belief[3 * v + 1] + belief[3 * v + 2] - 1.0) < 1e-9);
      }
    }
  }
}

}  // namespace test
