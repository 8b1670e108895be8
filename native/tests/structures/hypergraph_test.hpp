// The hyperedge engine against a list of all derivations.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "structures/hypergraph.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"

namespace test {

struct Edge {
  std::uint32_t head;
  std::vector<std::uint32_t> tails, parts;
};

inline Hypergraph build(std::size_t nodes, std::size_t parts, const std::vector<Edge>& edges) {
  std::vector<std::uint32_t> head, tail_ptr{0}, tail, part_ptr{0}, part;
  for (const Edge& e : edges) {
    head.push_back(e.head);
    tail.insert(tail.end(), e.tails.begin(), e.tails.end());
    part.insert(part.end(), e.parts.begin(), e.parts.end());
    tail_ptr.push_back(static_cast<std::uint32_t>(tail.size()));
    part_ptr.push_back(static_cast<std::uint32_t>(part.size()));
  }
  return Hypergraph(nodes, parts, head, tail_ptr, tail, part_ptr, part);
}

// Every derivation of a node, as the list of its edges in depth-first order.
inline std::vector<std::vector<std::uint32_t>> derivations(const std::vector<Edge>& edges,
                                                           std::uint32_t node) {
  std::vector<std::vector<std::uint32_t>> result;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].head != node) continue;
    std::vector<std::vector<std::uint32_t>> partial{{e}};
    for (const std::uint32_t tail : edges[e].tails) {
      std::vector<std::vector<std::uint32_t>> longer;
      for (const auto& front : partial) {
        for (const auto& back : derivations(edges, tail)) {
          longer.push_back(front);
          longer.back().insert(longer.back().end(), back.begin(), back.end());
        }
      }
      partial = std::move(longer);
    }
    result.insert(result.end(), partial.begin(), partial.end());
  }
  return result;
}

inline void check_hypergraph(std::size_t nodes, std::size_t parts, const std::vector<Edge>& edges,
                             const std::vector<double>& theta) {
  const Hypergraph graph = build(nodes, parts, edges);
  auto all = derivations(edges, static_cast<std::uint32_t>(nodes - 1));
  std::vector<double> values;
  std::map<std::vector<std::uint32_t>, double> known;  // by the sorted edges
  for (auto& derivation : all) {
    double value = 0.0;
    for (const std::uint32_t e : derivation) {
      for (const std::uint32_t j : edges[e].parts) value += theta[j];
    }
    values.push_back(value);
    std::sort(derivation.begin(), derivation.end());
    known[derivation] = value;
  }
  std::vector<double> sorted;
  for (const double x : values) {
    if (x > kMinusInfinity) sorted.push_back(x);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  const auto value_of = [&](Hypergraph::Edges derivation) {
    std::sort(derivation.begin(), derivation.end());
    const auto at = known.find(derivation);
    return at == known.end() ? std::nan("") : at->second;
  };

  Hypergraph::Edges derivation;
  const double best = graph.best(theta.data(), derivation);
  CHECK_NEAR(best, sorted.empty() ? kMinusInfinity : sorted[0], 1e-12);
  if (!sorted.empty()) CHECK_NEAR(value_of(derivation), best, 1e-12);

  const auto found = graph.kbest(theta.data(), 1000);
  CHECK(found.size() == std::min<std::size_t>(1000, sorted.size()));
  for (std::size_t i = 0; i < found.size() && i < sorted.size(); ++i) {
    CHECK_NEAR(found[i].first, sorted[i], 1e-12);
    CHECK_NEAR(value_of(found[i].second), sorted[i], 1e-12);
  }
  CHECK(graph.kbest(theta.data(), 2).size() == std::min<std::size_t>(2, sorted.size()));

  for (const double eps : {0.3, 1.0, 5.0}) {
    std::vector<double> p(parts), right(parts, 0.0), ignored(parts);
    const double value = graph.infer(theta.data(), eps, p.data());
    const double entropy = graph.entropy(theta.data(), eps);
    if (sorted.empty()) {
      CHECK(value == kMinusInfinity);
      CHECK(entropy == kMinusInfinity);
      continue;
    }
    double sum = 0.0, lag = 0.0;
    for (const double x : values) sum += std::exp((x - sorted[0]) / eps);
    for (const double x : sorted) lag += std::exp((x - sorted[0]) / eps) * (sorted[0] - x) / eps;
    CHECK_NEAR(value, sorted[0] + eps * std::log(sum), 1e-11);
    CHECK_NEAR(entropy, std::log(sum) + lag / sum, 1e-11);
    for (std::size_t d = 0; d < all.size(); ++d) {
      for (const std::uint32_t e : all[d]) {
        for (const std::uint32_t j : edges[e].parts) {
          right[j] += std::exp((values[d] - sorted[0]) / eps) / sum;
        }
      }
    }
    for (std::size_t j = 0; j < parts; ++j) {
      CHECK_NEAR(p[j], right[j], 1e-11);
      if (theta[j] == kMinusInfinity) continue;
      const double h = 1e-4 * eps;
      std::vector<double> up = theta, down = theta;
      up[j] += h;
      down[j] -= h;
      const double slope = (graph.infer(up.data(), eps, ignored.data()) -
                            graph.infer(down.data(), eps, ignored.data())) /
                           (2.0 * h);
      CHECK_NEAR(p[j], slope, 1e-5);
    }
  }
  const auto drawn = graph.sample(theta.data(), 1.0, 25, 3);
  CHECK(drawn.size() == (sorted.empty() ? 0u : 25u));
  for (const auto& one : drawn) CHECK(value_of(one) > kMinusInfinity);
  CHECK(graph.sample(theta.data(), 1.0, 25, 3) == drawn);
}

inline void test_hypergraphs() {
  Draw draw(5);
  for (int repeat = 0; repeat < 60; ++repeat) {
    context = "hypergraph " + std::to_string(repeat);
    const std::size_t nodes = 1 + draw.below(5), parts = 6;
    std::vector<Edge> edges;
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (std::size_t i = draw.below(4); i-- > 0;) {
        Edge e{v, {}, {}};
        for (std::size_t t = v == 0 ? 0 : draw.below(3); t-- > 0;) {
          e.tails.push_back(static_cast<std::uint32_t>(draw.below(v)));
        }
        for (std::size_t k = draw.below(3); k-- > 0;) {
          e.parts.push_back(static_cast<std::uint32_t>(draw.below(parts)));
        }
        edges.push_back(e);
      }
    }
    if (derivations(edges, static_cast<std::uint32_t>(nodes - 1)).size() > 900) continue;
    std::vector<double> theta(parts);
    for (double& x : theta) x = draw.chance(0.15) ? kMinusInfinity : draw.between(-2.0, 2.0);
    check_hypergraph(nodes, parts, edges, theta);
  }
  context = "wrong hypergraphs";
  CHECK_THROWS(std::invalid_argument, build(0, 1, {}));
  CHECK_THROWS(std::invalid_argument, build(1, 1, {{1, {}, {}}}));
  CHECK_THROWS(std::invalid_argument, build(2, 1, {{1, {}, {}}, {0, {}, {}}}));
  CHECK_THROWS(std::invalid_argument, build(2, 1, {{1, {1}, {}}}));
  CHECK_THROWS(std::invalid_argument, build(1, 1, {{0, {}, {1}}}));
  CHECK_THROWS(std::invalid_argument, Hypergraph(1, 1, {0}, {0}, {}, {0, 0}, {}));
  CHECK_THROWS(std::invalid_argument, Hypergraph(1, 1, {0}, {0, 1}, {}, {0, 0}, {}));
}

}  // namespace test
