// Two networks for maximum flow: 4-connected grids, whose arcs are directions, and sparse graphs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numeric/large_pages.hpp"
#include "structures/graphs/max_flow.hpp"

namespace structlearn {

// A grid with a frame of nodes that nothing flows to: no node has to look whether it is at the
// border. A node and its four arcs share a cache line.
class GridNetwork {
 public:
  static constexpr std::int32_t kRight = 0, kLeft = 1, kDown = 2, kUp = 3;

  GridNetwork(std::size_t height, std::size_t width)
      : height_(height),
        width_(width),
        stride_(width + 2),
        step_{1, -1, static_cast<std::ptrdiff_t>(stride_), -static_cast<std::ptrdiff_t>(stride_)},
        cells_(std::move(spare())) {
    cells_.assign((height + 2) * stride_, Cell{});
  }
  GridNetwork(const GridNetwork&) = delete;
  GridNetwork& operator=(const GridNetwork&) = delete;
  ~GridNetwork() {
    if (cells_.capacity() * sizeof(Cell) <= kMostSpare) spare() = std::move(cells_);
  }

  void clear() { std::fill(cells_.begin(), cells_.end(), Cell{}); }

  // body(v, place) for pixels row by row; then body(e, p, q, place of p, arc to q).
  template <class Body>
  void for_each_node(Body&& body) {
    std::size_t v = 0;
    for (std::size_t i = 0; i < height_; ++i) {
      std::size_t at = (i + 1) * stride_ + 1;
      for (std::size_t j = 0; j < width_; ++j, ++v, ++at) body(v, at);
    }
  }
  template <class Body>
  void for_each_edge(Body&& body) {
    const std::size_t across = height_ * (width_ - 1);
    for (std::size_t i = 0; i < height_; ++i) {
      const std::size_t row = (i + 1) * stride_ + 1;
      for (std::size_t j = 0; j < width_; ++j) {
        const std::size_t v = i * width_ + j;
        if (j + 1 < width_) body(i * (width_ - 1) + j, v, v + 1, row + j, kRight);
        if (i + 1 < height_) body(across + v, v, v + width_, row + j, kDown);
      }
    }
  }

  std::size_t size() const { return cells_.size(); }
  FlowNode& node(std::size_t p) { return cells_[p].node; }
  static std::int32_t first_arc(std::size_t) { return 0; }
  static std::int32_t last_arc(std::size_t) { return 4; }
  std::size_t head(std::size_t p, std::int32_t a) const {
    return p + static_cast<std::size_t>(step_[static_cast<std::size_t>(a)]);
  }
  double& capacity(std::size_t p, std::int32_t a) {
    return cells_[p].left[static_cast<std::size_t>(a)];
  }
  double& reverse_capacity(std::size_t p, std::int32_t a) {
    return cells_[head(p, a)].left[static_cast<std::size_t>(a ^ 1)];
  }
  static std::int32_t reverse_arc(std::size_t, std::int32_t a) { return a ^ 1; }

 private:
  struct alignas(64) Cell {
    std::array<double, 4> left{};
    FlowNode node;
  };
  // The memory of a thread's last grid, for the next one: fresh pages cost as much as a tenth of a
  // cut. Grids of more than 700 x 700 nodes do not leave theirs.
  static constexpr std::size_t kMostSpare = std::size_t{1} << 25;
  static LargeArray<Cell>& spare() {
    thread_local LargeArray<Cell> cells;
    return cells;
  }

  std::size_t height_, width_, stride_;
  std::array<std::ptrdiff_t, 4> step_;
  LargeArray<Cell> cells_;
};

// Arcs of a node one after another, each with the number of its twin.
class SparseNetwork {
 public:
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
    std::fill(nodes_.begin(), nodes_.end(), FlowNode{});
    for (Arc& a : arcs_) a.left = 0.0;
  }
  // Leaves the nodes and edges after these out of the loops below.
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

  std::size_t size() const { return nodes_.size(); }
  FlowNode& node(std::size_t p) { return nodes_[p]; }
  std::int32_t first_arc(std::size_t p) const { return first_[p]; }
  std::int32_t last_arc(std::size_t p) const { return first_[p + 1]; }
  std::size_t head(std::size_t, std::int32_t a) const { return arc(a).head; }
  double& capacity(std::size_t, std::int32_t a) { return arcs_[static_cast<std::size_t>(a)].left; }
  double& reverse_capacity(std::size_t, std::int32_t a) {
    return arcs_[static_cast<std::size_t>(arc(a).twin)].left;
  }
  std::int32_t reverse_arc(std::size_t, std::int32_t a) const { return arc(a).twin; }

 private:
  struct Arc {
    double left;
    std::uint32_t head;
    std::int32_t twin;
  };
  const Arc& arc(std::int32_t a) const { return arcs_[static_cast<std::size_t>(a)]; }
  std::vector<FlowNode> nodes_;
  std::vector<std::int32_t> first_;
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> arc_of_edge_;
  const std::int64_t* ends_;
  std::size_t seen_nodes_, n_edges_;
};

}  // namespace structlearn
