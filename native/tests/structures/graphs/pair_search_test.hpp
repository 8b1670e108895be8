// The choice of a search, standard units, sums, and assignments, all against enumeration; and the
// way of an example from parts to a model and back.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "structures/graphs/assignment.hpp"
#include "structures/graphs/pair_search.hpp"
#include "structures/graphs/pair_sums.hpp"
#include "structures/graphs/pairwise_example.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/graphs/pairwise_test.hpp"

namespace test {

inline void test_pair_search() {
  using structlearn::PairMethod;
  Draw draw(21);
  structlearn::EliminationPlans plans;
  for (int round = 0; round < 80; ++round) {
    const std::size_t height = 1 + draw.below(3), width = 1 + draw.below(3), K = 1 + draw.below(3);
    const PairwiseCase c = draw_pairwise(height, width, K, round % 2 == 0, round % 3 != 0, draw);
    const double best = best_labelling(c.model);
    for (const char* name :
         {"auto", "elimination", "cut", "expansion", "swap", "max-product", "trws", "qpbo"}) {
      context = std::string(name) + " " + std::to_string(round);
      const auto found = structlearn::search_labels(c.model, *structlearn::pair_method(name), true,
                                                    plans, nullptr);
      if (found.refusal != structlearn::PairRefusal::kNone) {
        CHECK(std::string(name) == "cut" || (std::string(name) == "qpbo" && K != 2));
        continue;
      }
      CHECK_NEAR(c.model.score(found.y.data()), found.value, 1e-12);
      CHECK(found.value <= best + 1e-9 && found.bound >= best - 1e-9);
      if (found.exact() || std::string(name) == "auto") CHECK_NEAR(found.value, best, 1e-9);
    }
    structlearn::PairSums sums;
    CHECK(structlearn::exact_sums(c.model, 0.7, plans, sums));
    double mass = 0.0;
    std::vector<std::int32_t> y(c.model.nodes, 0);
    for (bool more = true; more;) {
      mass += std::exp((c.model.score(y.data()) - sums.value) / 0.7);
      std::size_t v = 0;
      while (v < c.model.nodes && static_cast<std::size_t>(++y[v]) == K) y[v++] = 0;
      more = v < c.model.nodes;
    }
    CHECK_NEAR(mass, 1.0, 1e-9);
  }
  context.clear();
  CHECK(!structlearn::pair_method("ilp"));
}

inline void test_assignments() {
  Draw draw(22);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + draw.below(4), m = 1 + draw.below(4);
    std::vector<double> score(n * m);
    for (double& x : score) x = static_cast<double>(draw.below(7));  // ties
    for (double& x : score) {
      if (draw.below(8) == 0) x = structlearn::kMinusInfinity;
    }
    // Every way to give the smaller side partners: permutations of the larger one.
    std::vector<std::size_t> order(std::max(n, m));
    std::iota(order.begin(), order.end(), std::size_t{0});
    double best = structlearn::kMinusInfinity;
    do {
      double value = 0.0;
      for (std::size_t k = 0; k < std::min(n, m); ++k) {
        value += n <= m ? score[k * m + order[k]] : score[order[k] * m + k];
      }
      best = std::max(best, value);
    } while (std::next_permutation(order.begin(), order.end()));
    structlearn::Output y;
    CHECK_NEAR(structlearn::best_assignment(score.data(), n, m, y), best, 1e-12);
  }
}

// <theta, encode(y)> is what the model scores, whatever blocks there are.
inline void test_pairwise_examples() {
  Draw draw(23);
  for (int round = 0; round < 60; ++round) {
    const std::size_t K = 2 + draw.below(2), height = 1 + draw.below(3), width = 1 + draw.below(3);
    const bool grid = round % 2 == 0;
    std::vector<std::int64_t> topology{static_cast<std::int64_t>(height),
                                       static_cast<std::int64_t>(width)};
    structlearn::Layout layout;
    const std::size_t N = height * width;
    layout.add(0, N, K, true);
    if (grid) {
      const std::size_t across = height * (width - 1), down = (height - 1) * width;
      if (draw.below(3) > 0) layout.add(1, 1, K * K, false);
      if (draw.below(3) > 0) layout.add(2, down, K * K, true);
      if (draw.below(3) > 0) layout.add(3, across, 1, true);
      if (draw.below(3) > 0) layout.add(4, 1, 1, false);
    } else {
      topology = {0};
      for (std::size_t v = 1; v < N; ++v) {
        topology.push_back(static_cast<std::int64_t>(v));
        topology.push_back(static_cast<std::int64_t>(draw.below(v)));
        ++topology[0];
      }
      const auto edges = static_cast<std::size_t>(topology[0]);
      layout.add(1, edges, K * K, true);
      if (draw.below(2) > 0) layout.add(2, edges, 1, true);
      topology.insert(topology.end(), {1, 0, static_cast<std::int64_t>(N)});
      for (std::size_t v = 0; v < N; ++v) topology.push_back(static_cast<std::int64_t>(v));
      layout.add(3, 1, K, true);
    }
    layout.topology = topology;
    const structlearn::PairwiseKind kind{grid, 0.4};
    CHECK(structlearn::PairwiseExample::fits(kind, layout));
    std::vector<double> theta(layout.parts);
    for (double& x : theta) x = draw.between(-1.0, 1.0);
    const structlearn::PairwiseExample example(kind, layout, theta.data());
    std::vector<std::int32_t> y(N);
    structlearn::PartVector p;
    for (int trial = 0; trial < 5; ++trial) {
      for (std::int32_t& k : y) k = static_cast<std::int32_t>(trial == 0 ? 1 : draw.below(K));
      example.encode(y.data(), p);
      double value = 0.0;
      for (std::size_t n = 0; n < p.index.size(); ++n) value += theta[p.index[n]] * p.value[n];
      CHECK_NEAR(value, example.model().score(y.data()), 1e-9);
      CHECK(std::is_sorted(p.index.begin(), p.index.end()));
    }
    // What does not fit is seen before it is read.
    for (std::size_t cut = 0; cut < topology.size(); ++cut) {
      structlearn::Layout broken = layout;
      broken.topology = std::span<const std::int64_t>(topology).first(cut);
      CHECK(!structlearn::PairwiseExample::fits(kind, broken));
    }
    topology.back() = static_cast<std::int64_t>(N) + 5;
    CHECK(!structlearn::PairwiseExample::fits(kind, layout));
  }
}

}  // namespace test
