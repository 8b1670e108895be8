#include "structures/trees/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "structures/trees/edmonds.hpp"
#include "structures/trees/kbest_trees.hpp"
#include "structures/trees/matrix_tree.hpp"

namespace structlearn {
namespace {

// What a workspace holds.
enum Scratch { kArcs, kArcMarginals, kNearest, kInside, kHeads };

std::size_t nodes_of(const Layout& layout) {
  return static_cast<std::size_t>(
      std::llround(std::sqrt(static_cast<double>(layout.block[SpanningTree::kEdge].sites))));
}

// The scores of both directions of every edge.
const double* both_ways(const double* edge, std::size_t n, Workspace& ws) {
  double* arc = ws.real(kArcs, n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) arc[i * n + j] = arc[j * n + i] = edge[i * n + j];
    arc[i * n + i] = kMinusInfinity;
  }
  return arc;
}

// The edges of a tree given by the heads of nodes 1..n-1.
Output edges_of(const std::int32_t* heads, std::size_t n) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::size_t m = 1; m < n; ++m) {
    const std::int32_t v = static_cast<std::int32_t>(m);
    edges.emplace_back(std::min(v, heads[m - 1]), std::max(v, heads[m - 1]));
  }
  std::sort(edges.begin(), edges.end());
  Output y;
  for (const auto& [i, j] : edges) {
    y.push_back(i);
    y.push_back(j);
  }
  return y;
}

// Prim's algorithm on a matrix: the tree grows from node 0 by the best edge that leaves it.
double best_tree(const double* arc, std::size_t n, std::int32_t* heads, Workspace& ws) {
  double* nearest = ws.real(kNearest, n);
  std::uint8_t* inside = ws.flag(kInside, n);
  std::fill(inside, inside + n, std::uint8_t{0});
  std::fill(heads, heads + n - 1, 0);
  std::copy(arc, arc + n, nearest);
  double value = 0.0;
  for (std::size_t step = 1; step < n; ++step) {
    std::size_t next = 0;
    for (std::size_t v = 1; v < n; ++v) {
      if (!inside[v] && (next == 0 || nearest[v] > nearest[next])) next = v;
    }
    value += nearest[next];
    inside[next] = 1;
    for (std::size_t v = 1; v < n; ++v) {
      if (!inside[v] && arc[next * n + v] > nearest[v]) {
        nearest[v] = arc[next * n + v];
        heads[v - 1] = static_cast<std::int32_t>(next);
      }
    }
  }
  return value;
}

}  // namespace

void SpanningTree::check(const Layout& layout) const {
  const Block& edge = layout.block[kEdge];
  const std::size_t n = nodes_of(layout);
  if (!edge.present || n * n != edge.sites || n == 0 || edge.outcomes != 1) {
    throw std::invalid_argument("edge must have shape (n, n) with at least one node");
  }
}

bool SpanningTree::reads(const Layout& layout, std::size_t, std::size_t site) const {
  const std::size_t n = nodes_of(layout);
  return site / n < site % n;
}

double SpanningTree::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const std::size_t n = nodes_of(layout);
  std::int32_t* heads = ws.integer(kHeads, n);
  const double value = best_tree(both_ways(scores.block[kEdge], n, ws), n, heads, ws);
  y = value > kMinusInfinity ? edges_of(heads, n) : Output(2 * (n - 1), 0);
  return value;
}

double SpanningTree::infer(const Layout& layout, const Scores& scores, double eps,
                           const Marginals& out, Workspace& ws) const {
  const std::size_t n = nodes_of(layout);
  double* edge = out.block[kEdge];
  if (edge != nullptr) std::fill(edge, edge + n * n, 0.0);
  if (n == 1) return 0.0;
  double* p = edge != nullptr ? ws.real(kArcMarginals, n * n) : nullptr;
  const double* arc = both_ways(scores.block[kEdge], n, ws);
  const double value = sum_arborescences(arc, n - 1, false, eps, p);
  for (std::size_t i = 0; i < n && p != nullptr && value > kMinusInfinity; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) edge[i * n + j] = p[i * n + j] + p[j * n + i];
  }
  return value;
}

void SpanningTree::encode(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) const {
  const std::size_t n = nodes_of(layout), first = layout.block[kEdge].offset;
  if (y.size() != 2 * (n - 1)) {
    throw std::invalid_argument("the tree has " + std::to_string(y.size() / 2) +
                                " edges, the scores are for " + std::to_string(n) + " nodes");
  }
  for (std::size_t e = 0; e + 1 < y.size(); e += 2) {
    parts.push_back(static_cast<std::uint32_t>(first + static_cast<std::size_t>(y[e]) * n +
                                               static_cast<std::size_t>(y[e + 1])));
  }
}

std::vector<std::pair<double, Output>> SpanningTree::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t k,
                                                           Workspace& ws) const {
  const std::size_t n = nodes_of(layout);
  if (n == 1) return {{0.0, {}}};
  const double* arc = both_ways(scores.block[kEdge], n, ws);
  // With arcs forbidden in one direction only, the search is for arborescences.
  auto found = kbest_trees({arc, arc, n - 1, 1}, k, [&](const double* some, std::int32_t* heads) {
    return best_arborescence(some, n - 1, false, heads, ws);
  });
  for (auto& [value, y] : found) y = edges_of(y.data(), n);
  return found;
}

std::vector<Output> SpanningTree::sample(const Layout& layout, const Scores& scores, double eps,
                                         std::size_t count, std::uint64_t seed,
                                         Workspace& ws) const {
  const std::size_t n = nodes_of(layout);
  if (n == 1) return std::vector<Output>(count);
  const double* arc = both_ways(scores.block[kEdge], n, ws);
  std::vector<Output> drawn = draw_arborescences(arc, n - 1, false, eps, count, seed);
  for (Output& y : drawn) y = edges_of(y.data(), n);
  return drawn;
}

}  // namespace structlearn
