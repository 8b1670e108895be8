// Elimination and pseudo-likelihoods against enumeration, and cones of weights.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "scoring/weight_cone.hpp"
#include "structures/graphs/elimination.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/graphs/pairwise_test.hpp"

namespace test {

inline void test_elimination() {
  Draw draw(9);
  for (int round = 0; round < 60; ++round) {
    const std::size_t height = 1 + draw.below(3), width = 1 + draw.below(2), K = 2 + draw.below(2);
    const PairwiseCase c = draw_pairwise(height, width, K, false, true, draw);
    const structlearn::Pairwise& m = c.model;
    std::vector<std::int64_t> order(m.nodes), found(m.nodes);
    for (std::size_t k = 0; k < m.nodes; ++k) order[k] = static_cast<std::int64_t>(k);
    for (std::size_t k = m.nodes; k > 1; --k) std::swap(order[k - 1], order[draw.below(k)]);
    const structlearn::Elimination plan(m.nodes, K, c.ends, order);
    CHECK_NEAR(plan.best(c.label.data(), c.first.data(), found.data()), best_labelling(m), 1e-9);
    std::vector<std::int32_t> y(found.begin(), found.end());
    CHECK_NEAR(m.score(y.data()), best_labelling(m), 1e-9);
    std::vector<double> node(m.nodes * K, 0.0), edge(m.n_edges * K * K, 0.0);
    const double t = 0.5 + static_cast<double>(draw.below(100)) / 50.0;
    double entropy = 0.0;
    const double value =
        plan.sums(c.label.data(), c.first.data(), t, node.data(), edge.data(), &entropy);
    double total = 0.0, surprise = 0.0;
    std::vector<double> mass(m.nodes * K, 0.0), pairs(m.n_edges * K * K, 0.0);
    y.assign(m.nodes, 0);
    for (;;) {
      const double p = std::exp((m.score(y.data()) - value) / t);
      total += p;
      surprise -= p > 0.0 ? p * std::log(p) : 0.0;
      const auto label = [&](std::size_t v) { return static_cast<std::size_t>(y[v]); };
      for (std::size_t v = 0; v < m.nodes; ++v) mass[v * K + label(v)] += p;
      for (std::size_t e = 0; e < m.n_edges; ++e) {
        const auto [a, b] = m.edge(e);
        pairs[(e * K + label(a)) * K + label(b)] += p;
      }
      std::size_t v = 0;
      while (v < m.nodes && static_cast<std::size_t>(++y[v]) == K) y[v++] = 0;
      if (v == m.nodes) break;
    }
    CHECK_NEAR(total, 1.0, 1e-9);
    CHECK_NEAR(entropy, surprise, 1e-9);
    for (std::size_t i = 0; i < mass.size(); ++i) CHECK_NEAR(node[i], mass[i], 1e-9);
    for (std::size_t i = 0; i < pairs.size(); ++i) CHECK_NEAR(edge[i], pairs[i], 1e-9);

    // The pseudo-likelihood by changes of one label.
    y.assign(found.begin(), found.end());
    const double gold = m.score(y.data());
    double expected = gold;
    for (std::size_t v = 0; v < m.nodes; ++v) {
      double sum = 0.0;
      const std::int32_t kept = y[v];
      for (std::size_t k = 0; k < K; ++k) {
        y[v] = static_cast<std::int32_t>(k);
        sum += std::exp((m.score(y.data()) - gold) / t);
      }
      y[v] = kept;
      expected += t * std::log(sum);
    }
    std::vector<double> counts(m.n_edges * K * K, 0.0);
    CHECK_NEAR(structlearn::pseudo_likelihood(m, y.data(), t, node.data(), counts.data()), expected,
               1e-9);
  }
  // Nothing is legal.
  const double none = -std::numeric_limits<double>::infinity();
  const std::vector<double> label(4, 0.0), table(4, none);
  const structlearn::Elimination plan(2, 2, {0, 1}, {1, 0});
  std::vector<std::int64_t> y(2);
  std::vector<double> node(4), edge(4);
  CHECK(plan.best(label.data(), table.data(), y.data()) == none);
  double entropy = 0.0;
  CHECK(plan.sums(label.data(), table.data(), 1.0, node.data(), edge.data(), &entropy) == none);
}

inline void test_weight_cone() {
  const structlearn::WeightCone cone({0, 1, 5}, {5, 0, 1, 2, 3}, {1.0, 1.0, -1.0, -1.0, 1.0});
  Draw draw(10);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> u, l(2, 0.0);
    for (int j = 0; j < 6; ++j) u.push_back(static_cast<double>(draw.below(2001)) / 1000.0 - 1.0);
    std::vector<double> w = u, settled = u, shifted = u;
    cone.project(w.data());
    cone.settle(settled.data(), l.data());
    cone.shift(shifted.data(), l.data());
    for (std::size_t r = 0; r < 2; ++r) {
      CHECK(l[r] >= 0.0 && cone.product(r, w.data()) >= 0.0);
      CHECK_NEAR(l[r] * cone.product(r, w.data()), 0.0, 1e-9);
    }
    for (std::size_t j = 0; j < 6; ++j) {
      CHECK_NEAR(settled[j], w[j], 1e-12);
      CHECK_NEAR(shifted[j], w[j], 1e-12);
    }
    CHECK(w[4] == u[4]);
    // Where the pull turns round, multipliers go back to 0 and the weights to the pull.
    for (const std::size_t j : {0, 3, 5}) settled[j] += 10.0;
    cone.settle(settled.data(), l.data());
    CHECK(l[0] == 0.0 && l[1] == 0.0);
    CHECK_NEAR(settled[0], u[0] + 10.0, 1e-9);
    CHECK_NEAR(settled[5], u[5] + 10.0, 1e-9);
  }
}

}  // namespace test
