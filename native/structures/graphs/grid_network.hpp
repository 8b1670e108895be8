// The network of a 4-connected grid for maximum flow: arcs are directions, and the search state of
// a node and its arcs is a few bits, so that numbers are only read along augmenting paths.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numeric/large_pages.hpp"
#include "structures/graphs/max_flow.hpp"

namespace structlearn {

// The grid has a frame of nodes without flow, so that no node has to check whether it is at the
// border.
class GridNetwork {
 public:
  static constexpr std::int32_t kRight = 0, kLeft = 1, kDown = 2, kUp = 3;
  static constexpr std::int32_t kTerminal = 4, kOrphan = 5;

  GridNetwork(std::size_t height, std::size_t width)
      : height_(height),
        width_(width),
        stride_(width + 2),
        step_{1, -1, static_cast<std::ptrdiff_t>(stride_), -static_cast<std::ptrdiff_t>(stride_)},
        memory_(std::move(spare())) {
    const std::size_t n = (height + 2) * stride_;
    memory_.edges.assign(n, Edges{});
    memory_.excess.assign(n, 0.0);
    memory_.known.resize(n);
    memory_.marks.assign(n, Mark{0});
    edges_ = memory_.edges.data();
    excess_ = memory_.excess.data();
    known_ = memory_.known.data();
    marks_ = memory_.marks.data();
  }
  GridNetwork(const GridNetwork&) = delete;
  GridNetwork& operator=(const GridNetwork&) = delete;
  ~GridNetwork() {
    if (memory_.edges.capacity() <= kMostSpare) spare() = std::move(memory_);
  }

  void clear() {
    std::fill(memory_.edges.begin(), memory_.edges.end(), Edges{});
    std::fill(memory_.excess.begin(), memory_.excess.end(), 0.0);
  }

  // body(v, place) for pixels row by row.
  template <class Body>
  void for_each_node(Body&& body) {
    std::size_t v = 0;
    for (std::size_t i = 0; i < height_; ++i) {
      std::size_t at = (i + 1) * stride_ + 1;
      for (std::size_t j = 0; j < width_; ++j, ++v, ++at) body(v, at);
    }
  }
  // body(e, p, q, place of p, arc to q). Every other edge of a row comes first: these share no
  // node, so none waits for the one before.
  template <class Body>
  void for_each_edge(Body&& body) {
    const std::size_t across = height_ * (width_ - 1);
    for (std::size_t i = 0; i < height_; ++i) {
      const std::size_t row = (i + 1) * stride_ + 1, v = i * width_;
      for (std::size_t first = 0; first < 2; ++first) {
        for (std::size_t j = first; j + 1 < width_; j += 2) {
          body(i * (width_ - 1) + j, v + j, v + j + 1, row + j, kRight);
        }
      }
      if (i + 1 == height_) break;
      for (std::size_t j = 0; j < width_; ++j) {
        body(across + v + j, v + j, v + j + width_, row + j, kDown);
      }
    }
  }

  template <class Body>
  void for_each_short_way(Body&& body) {
    for_each_edge(
        [&](std::size_t, std::size_t, std::size_t, std::size_t p, std::int32_t a) { body(p, a); });
  }

  std::size_t size() const { return memory_.excess.size(); }
  double& excess(std::size_t p) { return excess_[p]; }
  std::size_t head(std::size_t p, std::int32_t a) const {
    return p + static_cast<std::size_t>(step_[static_cast<std::size_t>(a)]);
  }
  static std::int32_t reverse_arc(std::size_t, std::int32_t a) { return a ^ 1; }
  double& capacity(std::size_t p, std::int32_t a) { return both_ways(p, a)[a & 1]; }
  double& reverse_capacity(std::size_t p, std::int32_t a) { return both_ways(p, a)[~a & 1]; }
  bool send(std::size_t p, std::int32_t a, double flow) {
    double* both = both_ways(p, a);
    both[~a & 1] += flow;
    mark(head(p, a)) |= static_cast<Mark>(1 << (a ^ 1));
    double& left = both[a & 1];
    left -= flow;
    if (left > 0.0) return false;
    mark(p) &= static_cast<Mark>(~(1 << a));
    return true;
  }

  void plant(std::vector<std::uint32_t>& roots) {
    roots.resize(height_ * width_);
    std::size_t n = 0;
    for_each_node([&](std::size_t, std::size_t p) {
      const auto bit = [](double left, int a) { return static_cast<unsigned>(left > 0.0) << a; };
      const Edges &here = edges_[p], &before = edges_[p - 1], &above = edges_[p - stride_];
      const unsigned open = bit(here.right[0], kRight) | bit(before.right[1], kLeft) |
                            bit(here.down[0], kDown) | bit(above.down[1], kUp);
      const unsigned source = excess_[p] > 0.0, sink = excess_[p] < 0.0, root = source | sink;
      marks_[p] = static_cast<Mark>(open | source << kSourceBit | sink << kSinkBit |
                                    (root * kQueued) | kTerminal << kParentBit);
      known_[p] = {0, 1};
      roots[n] = static_cast<std::uint32_t>(p);  // overwritten by the next if it is not a root
      n += root;
    });
    roots.resize(n);
  }
  FlowTree tree(std::size_t p) const { return static_cast<FlowTree>(marks_[p] >> kSourceBit & 3); }
  void join(std::size_t p, FlowTree tree, std::int32_t parent) {
    mark(p) = static_cast<Mark>((mark(p) & (kArcs | kQueued)) |
                                static_cast<unsigned>(tree) << kSourceBit |
                                static_cast<unsigned>(parent) << kParentBit);
  }
  void leave(std::size_t p) { mark(p) &= static_cast<Mark>(kArcs | kQueued); }
  std::int32_t parent(std::size_t p) const { return marks_[p] >> kParentBit; }
  void set_parent(std::size_t p, std::int32_t a) {
    mark(p) = static_cast<Mark>((mark(p) & kNoParent) | static_cast<unsigned>(a) << kParentBit);
  }
  FlowDistance& known(std::size_t p) { return known_[p]; }
  bool enqueue(std::size_t p) {
    if ((mark(p) & kQueued) != 0) return false;
    mark(p) |= static_cast<Mark>(kQueued);
    return true;
  }
  void dequeue(std::size_t p) { mark(p) &= static_cast<Mark>(~kQueued); }

  template <class Body>
  void for_each_outward(std::size_t p, Body&& body) {
    const Around around = look_around(p);
    for (unsigned left = around.leaving & ~around.kin; left != 0; left &= left - 1) {
      const std::int32_t a = std::countr_zero(left);
      if (!body(a, head(p, a))) return;
    }
  }
  template <class Body>
  void for_each_inward(std::size_t p, Body&& body) {
    const Around around = look_around(p);
    for (unsigned left = around.coming & around.kin; left != 0; left &= left - 1) {
      const std::int32_t a = std::countr_zero(left);
      body(a, head(p, a));
    }
  }
  template <class Body>
  void for_each_kin(std::size_t p, Body&& body) {
    const Around around = look_around(p);
    for (unsigned left = around.kin; left != 0; left &= left - 1) {
      const std::int32_t a = std::countr_zero(left);
      body(a, head(p, a), (around.coming >> a & 1) != 0);
    }
  }

 private:
  // Capacities in both directions of the edges to the right and below: a path reads one pair per
  // edge.
  struct Edges {
    std::array<double, 2> right{}, down{};
  };
  // The search state of a node: by direction, whether its arc has capacity left (four bits); its
  // tree; whether it is active; the arc to its parent, or its substitute.
  using Mark = std::uint16_t;
  static constexpr unsigned kSourceBit = 4, kSinkBit = 5, kParentBit = 8;
  static constexpr unsigned kArcs = 15, kQueued = 64, kNoParent = 255;

  // Bits by direction.
  struct Around {
    unsigned kin;      // the neighbour is in the same tree
    unsigned leaving;  // the tree could grow over this arc
    unsigned coming;   // a tree could come over it to this node
  };
  Around look_around(std::size_t p) const {
    const unsigned here = marks_[p], right = marks_[p + 1], left = marks_[p - 1];
    const unsigned below = marks_[p + stride_], above = marks_[p - stride_];
    const auto bits = [](unsigned r, unsigned l, unsigned d, unsigned u) {
      return (r & 1) | (l & 1) << kLeft | (d & 1) << kDown | (u & 1) << kUp;
    };
    const unsigned sink = here >> kSinkBit & 1, all = 0 - sink, k = kSourceBit + sink;
    const unsigned out = here & kArcs;
    const unsigned in = bits(right >> kLeft, left >> kRight, below >> kUp, above >> kDown);
    // The sink's tree grows against the flow. Both are swapped by bits: a branch would be
    // mispredicted half of the time.
    const unsigned swapped = (in ^ out) & all;
    return {bits(right >> k, left >> k, below >> k, above >> k), out ^ swapped, in ^ swapped};
  }

  Mark& mark(std::size_t p) { return marks_[p]; }
  double* both_ways(std::size_t p, std::int32_t a) const {
    Edges& e = edges_[(a & 1) != 0 ? head(p, a) : p];
    return (a & 2) != 0 ? e.down.data() : e.right.data();
  }

  // The memory of a thread's last grid, for reuse: fresh pages cost as much as a tenth of a cut.
  // Grids of more than half a million nodes free theirs.
  struct Memory {
    LargeArray<Edges> edges;
    LargeArray<double> excess;
    LargeArray<FlowDistance> known;
    LargeArray<Mark> marks;
  };
  static constexpr std::size_t kMostSpare = std::size_t{1} << 19;
  static Memory& spare() {
    thread_local Memory memory;
    return memory;
  }

  std::size_t height_, width_, stride_;
  std::array<std::ptrdiff_t, 4> step_;
  Memory memory_;
  Edges* edges_;
  double* excess_;
  FlowDistance* known_;
  Mark* marks_;
};

}  // namespace structlearn
