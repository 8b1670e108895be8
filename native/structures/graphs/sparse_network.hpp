// The network of a sparse graph for maximum flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "structures/graphs/max_flow.hpp"

namespace structlearn {

// The arcs of all nodes, concatenated, each with the number of its twin.
class SparseNetwork {
 public:
  static constexpr std::int32_t kTerminal = -1, kOrphan = -2;

  SparseNetwork(std::size_t nodes, const std::int64_t* edges, std::size_t n_edges)
      : nodes_(nodes),
        first_(nodes + 1, 0),
        arcs_(2 * n_edges),
        arc_of_edge_(n_edges),
        ends_(edges),
        seen_nodes_(nodes),
        n_edges_(n_edges) {
    for (std::size_t i = 0; i < 2 * n_edges; ++i) ++first_[static_cast<std::size_t>(edges[i]) + 1];
    for (std::size_t v = 0; v < nodes; ++v) first_[v + 1] += first_[v];
    std::vector<std::int32_t> at(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < n_edges; ++e) {
      const auto p = static_cast<std::size_t>(edges[2 * e]);
      const auto q = static_cast<std::size_t>(edges[2 * e + 1]);
      const std::int32_t there = at[p]++, back = at[q]++;
      arcs_[static_cast<std::size_t>(there)] = {0.0, static_cast<std::uint32_t>(q), back};
      arcs_[static_cast<std::size_t>(back)] = {0.0, static_cast<std::uint32_t>(p), there};
      arc_of_edge_[e] = there;
    }
  }

  void clear() {
    std::fill(nodes_.begin(), nodes_.end(), Node{});
    for (Arc& a : arcs_) a.left = 0.0;
  }
  // Excludes the nodes and edges after these from the loops below.
  void hide_helpers(std::size_t nodes, std::size_t edges) {
    seen_nodes_ = nodes;
    n_edges_ = edges;
  }
  std::int32_t arc_of_edge(std::size_t e) const { return arc_of_edge_[e]; }
  template <class Body>
  void for_each_node(Body&& body) {
    for (std::size_t v = 0; v < seen_nodes_; ++v) body(v, v);
  }
  template <class Body>
  void for_each_edge(Body&& body) {
    for (std::size_t e = 0; e < n_edges_; ++e) {
      const auto p = static_cast<std::size_t>(ends_[2 * e]);
      body(e, p, static_cast<std::size_t>(ends_[2 * e + 1]), p, arc_of_edge_[e]);
    }
  }

  template <class Body>
  void for_each_short_way(Body&& body) {
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      for (std::int32_t a = first_[p]; a < first_[p + 1] && nodes_[p].excess > 0.0; ++a) {
        if (arc(a).left > 0.0 && nodes_[arc(a).head].excess < 0.0) body(p, a);
      }
    }
  }

  std::size_t size() const { return nodes_.size(); }
  double& excess(std::size_t p) { return nodes_[p].excess; }
  std::size_t head(std::size_t, std::int32_t a) const { return arc(a).head; }
  std::int32_t reverse_arc(std::size_t, std::int32_t a) const { return arc(a).twin; }
  double& capacity(std::size_t, std::int32_t a) { return arcs_[static_cast<std::size_t>(a)].left; }
  double& reverse_capacity(std::size_t p, std::int32_t a) { return capacity(p, arc(a).twin); }
  bool send(std::size_t p, std::int32_t a, double flow) {
    reverse_capacity(p, a) += flow;
    double& left = capacity(p, a);
    left -= flow;
    return !(left > 0.0);
  }

  void plant(std::vector<std::uint32_t>& roots) {
    for (std::size_t p = 0; p < nodes_.size(); ++p) {
      Node& n = nodes_[p];
      n.tree = n.excess > 0.0   ? FlowTree::kSource
               : n.excess < 0.0 ? FlowTree::kSink
                                : FlowTree::kFree;
      n.parent = kTerminal;
      n.known = {0, 1};
      n.queued = n.tree != FlowTree::kFree;
      if (n.queued) roots.push_back(static_cast<std::uint32_t>(p));
    }
  }
  FlowTree tree(std::size_t p) const { return nodes_[p].tree; }
  void join(std::size_t p, FlowTree tree, std::int32_t parent) {
    nodes_[p].tree = tree;
    nodes_[p].parent = parent;
  }
  void leave(std::size_t p) { nodes_[p].tree = FlowTree::kFree; }
  std::int32_t parent(std::size_t p) const { return nodes_[p].parent; }
  void set_parent(std::size_t p, std::int32_t a) { nodes_[p].parent = a; }
  FlowDistance& known(std::size_t p) { return nodes_[p].known; }
  bool enqueue(std::size_t p) { return !std::exchange(nodes_[p].queued, true); }
  void dequeue(std::size_t p) { nodes_[p].queued = false; }

  template <class Body>
  void for_each_outward(std::size_t p, Body&& body) {
    const FlowTree tree = nodes_[p].tree;
    for (std::int32_t a = first_[p]; a < first_[p + 1]; ++a) {
      const std::size_t q = arc(a).head;
      if (nodes_[q].tree != tree && left(a, tree == FlowTree::kSource) && !body(a, q)) return;
    }
  }
  template <class Body>
  void for_each_inward(std::size_t p, Body&& body) {
    for_each_kin(p, [&](std::int32_t a, std::size_t q, bool inward) {
      if (inward) body(a, q);
    });
  }
  template <class Body>
  void for_each_kin(std::size_t p, Body&& body) {
    const FlowTree tree = nodes_[p].tree;
    for (std::int32_t a = first_[p]; a < first_[p + 1]; ++a) {
      const std::size_t q = arc(a).head;
      if (nodes_[q].tree == tree) body(a, q, left(a, tree == FlowTree::kSink));
    }
  }

 private:
  struct Node {
    double excess = 0.0;
    FlowDistance known;
    std::int32_t parent = kTerminal;
    FlowTree tree = FlowTree::kFree;
    bool queued = false;
  };
  struct Arc {
    double left;
    std::uint32_t head;
    std::int32_t twin;
  };
  const Arc& arc(std::int32_t a) const { return arcs_[static_cast<std::size_t>(a)]; }
  // Whether capacity is left on an arc, or on its twin.
  bool left(std::int32_t a, bool there) const { return arc(there ? a : arc(a).twin).left > 0.0; }

  std::vector<Node> nodes_;
  std::vector<std::int32_t> first_;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> arc_of_edge_;
  const std::int64_t* ends_;
  std::size_t seen_nodes_, n_edges_;
};

}  // namespace structlearn
