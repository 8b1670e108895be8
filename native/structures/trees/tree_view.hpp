// One example of a tree, with its nodes ordered so that parents precede children.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "structures/trees/tree.hpp"

namespace structlearn {

// The arrays of a workspace for trees: three tables of K * K (zeros for a missing edge, and two of
// the sums, all allocated at once: an array that grows moves), and the order of the nodes.
enum class TreeScratch { kTables, kOrder, kFirstChild, kChildren };

// Writes the nodes from the root down and returns their number: fewer than n if some of them hang
// on a cycle. `first` has room for n + 1 numbers, `children` for n.
inline std::size_t from_the_root(const std::int64_t* parents, std::size_t n, std::uint32_t* order,
                                 std::uint32_t* first, std::uint32_t* children) {
  bool numbered = true;  // parents already precede children
  for (std::size_t v = 0; v < n; ++v) {
    numbered = numbered && (v == 0 ? parents[v] < 0 : parents[v] < static_cast<std::int64_t>(v));
  }
  if (numbered) {
    for (std::size_t v = 0; v < n; ++v) order[v] = static_cast<std::uint32_t>(v);
    return n;
  }
  std::fill(first, first + n + 1, 0u);
  std::size_t root = 0;
  for (std::size_t v = 0; v < n; ++v) {
    if (parents[v] < 0) {
      root = v;
    } else {
      ++first[parents[v] + 1];
    }
  }
  for (std::size_t v = 0; v < n; ++v) first[v + 1] += first[v];
  for (std::size_t v = n; v-- > 0;) {  // the last child of each node first
    if (parents[v] >= 0) children[--first[parents[v] + 1]] = static_cast<std::uint32_t>(v);
  }
  // The children of v are now those from first[v + 1] to first[v + 2].
  const std::size_t edges = n - 1;
  std::size_t found = 0;
  order[found++] = static_cast<std::uint32_t>(root);
  for (std::size_t i = 0; i < found; ++i) {
    const std::size_t v = order[i];
    const std::size_t end = v + 2 <= n ? first[v + 2] : edges;
    for (std::size_t c = first[v + 1]; c < end && found < n; ++c) order[found++] = children[c];
  }
  return found;
}

struct TreeView {
  std::size_t N, K;
  const double *label, *edge;
  std::size_t stride;  // of the edges; 0 if shared
  const std::int64_t* parents;
  const std::uint32_t* order;

  TreeView(const Layout& layout, const Scores& scores, Workspace& ws)
      : N(layout.block[Tree::kLabel].sites),
        K(layout.block[Tree::kLabel].outcomes),
        label(scores.block[Tree::kLabel]),
        edge(scores.block[Tree::kEdge]),
        stride(0),
        parents(layout.topology.data()) {
    const Block& table = layout.block[Tree::kEdge];
    if (!table.present) {
      double* zeros = ws.real(TreeScratch::kTables, 3 * K * K);
      std::fill(zeros, zeros + K * K, 0.0);
      edge = zeros;
    } else if (table.anchored) {
      stride = K * K;
    }
    std::uint32_t* nodes = ws.index(TreeScratch::kOrder, N);
    from_the_root(parents, N, nodes, ws.index(TreeScratch::kFirstChild, N + 1),
                  ws.index(TreeScratch::kChildren, N));
    order = nodes;
  }

  std::size_t root() const { return order[0]; }
  std::size_t parent(std::size_t v) const { return static_cast<std::size_t>(parents[v]); }
  // The number of the edge above a node that is not the root.
  std::size_t edge_of(std::size_t v) const { return v < root() ? v : v - 1; }
  const double* table(std::size_t v) const { return edge + edge_of(v) * stride; }
};

}  // namespace structlearn
