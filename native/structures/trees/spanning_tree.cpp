#include "structures/trees/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "structures/trees/arc_scores.hpp"
#include "structures/trees/edmonds.hpp"
#include "structures/trees/kbest_trees.hpp"
#include "structures/trees/matrix_tree.hpp"
#include "structures/trees/spanning_levels.hpp"

namespace structlearn {
namespace {

// The arrays of a workspace.
enum class SpanningScratch { kArcs, kArcMarginals, kNearest, kInside, kHeads };

std::size_t node_count(const Layout& layout) {
  const auto ends = layout.topology;
  if (!ends.empty())
    return static_cast<std::size_t>(*std::max_element(ends.begin(), ends.end())) + 1;
  return nodes_of(layout);
}

// Calls visit(i, j, site) for every edge, i < j.
template <class Visit>
void for_edges(const Layout& layout, std::size_t n, Visit&& visit) {
  const auto ends = layout.topology;
  for (std::size_t e = 0; e < ends.size() / 2; ++e) {
    const auto i = static_cast<std::size_t>(ends[2 * e]);
    const auto j = static_cast<std::size_t>(ends[2 * e + 1]);
    visit(std::min(i, j), std::max(i, j), e);
  }
  for (std::size_t i = 0; i < n && ends.empty(); ++i) {
    for (std::size_t j = i + 1; j < n; ++j) visit(i, j, i * n + j);
  }
}

// The scores of both directions of every edge.
const double* both_ways(const Layout& layout, const double* edge, std::size_t n, Workspace& ws) {
  double* arc = ws.real(SpanningScratch::kArcs, n * n);
  std::fill(arc, arc + n * n, kMinusInfinity);
  for_edges(layout, n, [&](std::size_t i, std::size_t j, std::size_t site) {
    arc[i * n + j] = arc[j * n + i] = edge[site];
  });
  return arc;
}

// The ratio of score to temperature at which rounding is about as large as the temperature.
constexpr double kEnormous = 1e15;

using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

Output in_order(Edges edges) {
  std::sort(edges.begin(), edges.end());
  Output y;
  for (const auto& [i, j] : edges) {
    y.push_back(i);
    y.push_back(j);
  }
  return y;
}

// The edges of a tree given by the heads of nodes 1..n-1.
Output edges_of(const std::int32_t* heads, std::size_t n) {
  Edges edges;
  for (std::size_t m = 1; m < n; ++m) {
    const std::int32_t v = static_cast<std::int32_t>(m);
    edges.emplace_back(std::min(v, heads[m - 1]), std::max(v, heads[m - 1]));
  }
  return in_order(std::move(edges));
}

// Sums of scores that are much larger than the temperature; `p` may be null.
double infer_levels(const Layout& layout, const double* edge, std::size_t n, double eps,
                    double* p) {
  std::vector<ScoredEdge> scored;
  for_edges(layout, n, [&](std::size_t i, std::size_t j, std::size_t site) {
    if (edge[site] > kMinusInfinity) scored.push_back({i, j, site, edge[site], 0.0});
  });
  const double value = sum_by_levels(scored, n, eps);
  if (p == nullptr || value == kMinusInfinity) return value;
  for (const ScoredEdge& e : scored) p[e.site] = e.p;
  return value;
}

// Kruskal's algorithm on a list of edges: the best edge that joins two of the trees so far.
double best_tree(const Layout& layout, const double* edge, std::size_t n, Output& y) {
  const auto ends = layout.topology;
  std::vector<std::uint32_t> order(ends.size() / 2);
  if (order.size() + 1 < n) return kMinusInfinity;  // before allocating memory for n nodes
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return edge[a] > edge[b]; });
  std::vector<std::uint32_t> parent(n);
  std::iota(parent.begin(), parent.end(), 0u);
  const auto tree_of = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  Edges found;
  double value = 0.0;
  for (const std::uint32_t e : order) {
    if (found.size() + 1 == n || edge[e] == kMinusInfinity) break;
    const auto i = static_cast<std::int32_t>(ends[2 * std::size_t{e}]);
    const auto j = static_cast<std::int32_t>(ends[2 * std::size_t{e} + 1]);
    const std::uint32_t a = tree_of(static_cast<std::uint32_t>(i));
    const std::uint32_t b = tree_of(static_cast<std::uint32_t>(j));
    if (a == b) continue;
    parent[a] = b;
    found.emplace_back(std::min(i, j), std::max(i, j));
    value += edge[e];
  }
  if (found.size() + 1 < n) return kMinusInfinity;
  y = in_order(std::move(found));
  return value;
}

// Prim's algorithm on a matrix: the tree grows from node 0 by the best edge that leaves it.
double best_tree(const double* arc, std::size_t n, std::int32_t* heads, Workspace& ws) {
  double* nearest = ws.real(SpanningScratch::kNearest, n);
  std::uint8_t* inside = ws.flag(SpanningScratch::kInside, n);
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
  const auto ends = layout.topology;
  if (ends.empty()) {
    const std::size_t n = node_count(layout);
    if (!edge.present || n * n != edge.sites || n == 0 || edge.outcomes != 1) {
      throw std::invalid_argument(
          "edge must have shape (n, n) with at least one node, or (E,) with edges (E, 2)");
    }
    return;
  }
  if (!edge.present || 2 * edge.sites != ends.size() || edge.outcomes != 1) {
    throw std::invalid_argument("edge must have shape (" + std::to_string(ends.size() / 2) +
                                ",): a score for each of the edges");
  }
  Edges seen;
  for (std::size_t e = 0; e < ends.size(); e += 2) {
    const std::int64_t i = std::min(ends[e], ends[e + 1]), j = std::max(ends[e], ends[e + 1]);
    if (i < 0 || i == j || j > std::numeric_limits<std::int32_t>::max() - 1) {
      throw std::invalid_argument("edge " + std::to_string(e / 2) + " is (" +
                                  std::to_string(ends[e]) + ", " + std::to_string(ends[e + 1]) +
                                  "): edges connect two different nodes 0, 1, ...");
    }
    seen.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
  }
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    throw std::invalid_argument("edge (" + std::to_string(twice->first) + ", " +
                                std::to_string(twice->second) + ") is given twice");
  }
}

bool SpanningTree::reads(const Layout& layout, std::size_t, std::size_t site) const {
  if (!layout.topology.empty()) return true;
  const std::size_t n = node_count(layout);
  return site / n < site % n;
}

double SpanningTree::argmax(const Layout& layout, const Scores& scores, Output& y,
                            Workspace& ws) const {
  const std::size_t n = node_count(layout);
  if (!layout.topology.empty()) return best_tree(layout, scores.block[kEdge], n, y);
  std::int32_t* heads = ws.integer(SpanningScratch::kHeads, n);
  const double value = best_tree(both_ways(layout, scores.block[kEdge], n, ws), n, heads, ws);
  y = value > kMinusInfinity ? edges_of(heads, n) : Output(2 * (n - 1), 0);
  return value;
}

double SpanningTree::infer(const Layout& layout, const Scores& scores, double eps,
                           const Marginals& out, Workspace& ws) const {
  const std::size_t n = node_count(layout);
  double* edge = out.block[kEdge];
  if (edge != nullptr) std::fill(edge, edge + layout.block[kEdge].sites, 0.0);
  if (n == 1) return 0.0;
  double largest = 0.0;
  for_edges(layout, n, [&](std::size_t, std::size_t, std::size_t site) {
    const double score = scores.block[kEdge][site];
    if (score > kMinusInfinity) largest = std::max(largest, std::abs(score));
  });
  if (largest > kEnormous * eps) return infer_levels(layout, scores.block[kEdge], n, eps, edge);
  double* p = edge != nullptr ? ws.real(SpanningScratch::kArcMarginals, n * n) : nullptr;
  const double* arc = both_ways(layout, scores.block[kEdge], n, ws);
  const double value = sum_arborescences(arc, n - 1, false, eps, p);
  if (p == nullptr || value == kMinusInfinity) return value;
  for_edges(layout, n, [&](std::size_t i, std::size_t j, std::size_t site) {
    edge[site] = p[i * n + j] + p[j * n + i];
  });
  return value;
}

void SpanningTree::encode(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) const {
  const std::size_t n = node_count(layout), first = layout.block[kEdge].offset;
  if (y.size() != 2 * (n - 1)) {
    throw std::invalid_argument("the tree has " + std::to_string(y.size() / 2) +
                                " edges, the scores are for " + std::to_string(n) + " nodes");
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> site;  // of edges in a list
  if (!layout.topology.empty()) {
    for_edges(layout, n, [&](std::size_t i, std::size_t j, std::size_t e) { site[{i, j}] = e; });
  }
  for (std::size_t e = 0; e + 1 < y.size(); e += 2) {
    const auto i = static_cast<std::size_t>(y[e]), j = static_cast<std::size_t>(y[e + 1]);
    const auto listed = site.find({i, j});
    if (!layout.topology.empty() && listed == site.end()) {
      throw std::invalid_argument("edge (" + std::to_string(i) + ", " + std::to_string(j) +
                                  ") of the tree is not among the edges");
    }
    parts.push_back(
        static_cast<std::uint32_t>(first + (layout.topology.empty() ? i * n + j : listed->second)));
  }
}

std::vector<std::pair<double, Output>> SpanningTree::kbest(const Layout& layout,
                                                           const Scores& scores, std::size_t k,
                                                           Workspace& ws) const {
  const std::size_t n = node_count(layout);
  if (n == 1) return {{0.0, {}}};
  const double* arc = both_ways(layout, scores.block[kEdge], n, ws);
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
  const std::size_t n = node_count(layout);
  if (n == 1) return std::vector<Output>(count);
  const double* arc = both_ways(layout, scores.block[kEdge], n, ws);
  std::vector<Output> drawn = draw_arborescences(arc, n - 1, false, eps, count, seed);
  for (Output& y : drawn) y = edges_of(y.data(), n);
  return drawn;
}

}  // namespace structlearn
