// Maximum flow by augmenting paths between two search trees (Boykov and Kolmogorov 2004), over any
// network that says how its arcs are stored: grids need no adjacency lists, sparse graphs have
// them. Trees are kept from one path to the next, so that on images most of the work is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "numeric/parallel.hpp"
#include "structures/watch.hpp"

namespace structlearn {

// What the search knows of a node. `excess` > 0: what the source can still send it; < 0: what it
// can still send to the sink.
struct FlowNode {
  double excess = 0.0;
  std::int32_t parent = -1;  // arc to the parent, or one of the marks below
  std::int32_t next = -1;    // in the queue of active nodes; itself: the last one; -1: not in it
  std::uint32_t time = 0;    // when `distance` was known to be right
  std::uint32_t distance = 0;
  bool in_sink_tree = false;
};

// Network needs: size(), node(p), first_arc(p), last_arc(p), head(p, a), capacity(p, a),
// reverse_capacity(p, a), reverse_arc(p, a). Capacities are what is left of them.
//
// A watcher is told of every path, (its nodes), (its flow), and of the trees after it: (0, 1 or 2
// where a node is free, in the source's tree or in the sink's, for all).
template <class Network, class Watch = Unwatched>
class MaxFlow {
 public:
  static constexpr std::int32_t kFree = -1, kTerminal = -2, kOrphan = -3;

  explicit MaxFlow(Network& network, Watch watch = {}) : net_(network), watch_(watch) {}

  // False if it was interrupted. Then, and not before, the flow is no maximum.
  bool run(Interrupt* interrupt) {
    shortest_paths();
    for (std::size_t p = 0; p < net_.size(); ++p) {
      FlowNode& n = net_.node(p);
      n.next = -1;
      n.time = 0;
      n.distance = 1;
      n.in_sink_tree = n.excess < 0.0;
      n.parent = n.excess == 0.0 ? kFree : kTerminal;
      if (n.parent == kTerminal) activate(p);
    }
    std::size_t rounds = 0;
    for (std::size_t p; (p = next_active()) != kNobody;) {
      if (interrupt != nullptr && (++rounds & 4095) == 0 && interrupt->requested()) return false;
      while (net_.node(p).parent != kFree) {
        const Meeting met = grow(p);
        if (met.node == kNobody) break;
        ++time_;
        augment(met);
        adopt();
        if constexpr (Watch::kOn) tell_trees();
      }
    }
    return true;
  }

  // Whether a node can still reach the sink: those that can are cut off from the source, and there
  // is no smaller such set.
  bool on_sink_side(std::size_t p) const {
    const FlowNode& n = net_.node(p);
    return n.parent != kFree && n.in_sink_tree;
  }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  struct Meeting {
    std::size_t node = kNobody;  // in the source tree
    std::int32_t arc = 0;        // to a node of the sink tree
  };

  // Source, node, neighbour, sink: these paths need no trees.
  void shortest_paths() {
    for (std::size_t p = 0; p < net_.size(); ++p) {
      double& have = net_.node(p).excess;
      if (!(have > 0.0)) continue;
      for (std::int32_t a = net_.first_arc(p); a < net_.last_arc(p) && have > 0.0; ++a) {
        double& capacity = net_.capacity(p, a);
        if (!(capacity > 0.0)) continue;
        double& want = net_.node(net_.head(p, a)).excess;
        if (!(want < 0.0)) continue;
        const double flow = smallest(have, smallest(capacity, -want));
        have -= flow;
        want += flow;
        capacity -= flow;
        net_.reverse_capacity(p, a) += flow;
        if constexpr (Watch::kOn) tell_path({p, net_.head(p, a)}, flow);
      }
    }
  }

  void tell_path(const std::vector<std::size_t>& path, double flow) {
    watch_("path", {path.begin(), path.end()}, {flow});
  }
  void tell_trees() {
    std::vector<std::int64_t> states(net_.size());
    for (std::size_t p = 0; p < net_.size(); ++p) {
      const FlowNode& n = net_.node(p);
      states[p] = n.parent == kFree ? 0 : n.in_sink_tree ? 2 : 1;
    }
    watch_("trees", std::move(states));
  }

  static double smallest(double a, double b) { return a < b ? a : b; }

  void activate(std::size_t p) {
    FlowNode& n = net_.node(p);
    if (n.next >= 0) return;
    n.next = static_cast<std::int32_t>(p);
    if (queue_last_ == kNobody) {
      queue_first_ = p;
    } else {
      net_.node(queue_last_).next = static_cast<std::int32_t>(p);
    }
    queue_last_ = p;
  }

  std::size_t next_active() {
    while (queue_first_ != kNobody) {
      const std::size_t p = queue_first_;
      FlowNode& n = net_.node(p);
      const auto following = static_cast<std::size_t>(n.next);
      if (following == p) {
        queue_first_ = queue_last_ = kNobody;
      } else {
        queue_first_ = following;
      }
      n.next = -1;
      if (n.parent != kFree) return p;
    }
    return kNobody;
  }

  // Takes in free neighbours until one of the other tree is met.
  Meeting grow(std::size_t p) {
    const FlowNode& n = net_.node(p);
    const bool sink = n.in_sink_tree;
    for (std::int32_t a = net_.first_arc(p); a < net_.last_arc(p); ++a) {
      const double left = sink ? net_.reverse_capacity(p, a) : net_.capacity(p, a);
      if (!(left > 0.0)) continue;
      const std::size_t q = net_.head(p, a);
      FlowNode& m = net_.node(q);
      if (m.parent == kFree) {
        m.in_sink_tree = sink;
        m.parent = net_.reverse_arc(p, a);
        m.time = n.time;
        m.distance = n.distance + 1;
        activate(q);
      } else if (m.in_sink_tree != sink) {
        if (sink) return {q, net_.reverse_arc(p, a)};
        return {p, a};
      } else if (m.time <= n.time && m.distance > n.distance) {
        m.parent = net_.reverse_arc(p, a);  // a shorter way to the terminal
        m.time = n.time;
        m.distance = n.distance + 1;
      }
    }
    return {};
  }

  void augment(const Meeting& met) {
    double& middle = net_.capacity(met.node, met.arc);
    const std::size_t other = net_.head(met.node, met.arc);
    double flow = middle;
    std::size_t p = met.node;
    for (; net_.node(p).parent != kTerminal; p = net_.head(p, net_.node(p).parent)) {
      flow = smallest(flow, net_.reverse_capacity(p, net_.node(p).parent));
    }
    flow = smallest(flow, net_.node(p).excess);
    for (p = other; net_.node(p).parent != kTerminal; p = net_.head(p, net_.node(p).parent)) {
      flow = smallest(flow, net_.capacity(p, net_.node(p).parent));
    }
    flow = smallest(flow, -net_.node(p).excess);
    if constexpr (Watch::kOn) {
      std::vector<std::size_t> path;
      for (std::size_t q = met.node;; q = net_.head(q, net_.node(q).parent)) {
        path.insert(path.begin(), q);
        if (net_.node(q).parent == kTerminal) break;
      }
      for (std::size_t q = other;; q = net_.head(q, net_.node(q).parent)) {
        path.push_back(q);
        if (net_.node(q).parent == kTerminal) break;
      }
      tell_path(path, flow);
    }
    middle -= flow;
    net_.reverse_capacity(met.node, met.arc) += flow;
    for (p = met.node; net_.node(p).parent != kTerminal;) {
      const std::int32_t a = net_.node(p).parent;
      net_.capacity(p, a) += flow;
      double& left = net_.reverse_capacity(p, a);
      left -= flow;
      if (!(left > 0.0)) orphan(p);
      p = net_.head(p, a);
    }
    net_.node(p).excess -= flow;
    if (!(net_.node(p).excess > 0.0)) orphan(p);
    for (p = other; net_.node(p).parent != kTerminal;) {
      const std::int32_t a = net_.node(p).parent;
      net_.reverse_capacity(p, a) += flow;
      double& left = net_.capacity(p, a);
      left -= flow;
      if (!(left > 0.0)) orphan(p);
      p = net_.head(p, a);
    }
    net_.node(p).excess += flow;
    if (!(net_.node(p).excess < 0.0)) orphan(p);
  }

  void orphan(std::size_t p) {
    net_.node(p).parent = kOrphan;
    orphans_.push_back(static_cast<std::uint32_t>(p));
  }

  // Finds orphans another parent whose way to the terminal is whole, the nearest one, or sets them
  // free.
  void adopt() {
    for (std::size_t i = 0; i < orphans_.size(); ++i) find_parent(orphans_[i]);
    orphans_.clear();
  }

  void find_parent(std::size_t p) {
    FlowNode& n = net_.node(p);
    const bool sink = n.in_sink_tree;
    constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t nearest = kNever;
    std::int32_t best = kFree;
    for (std::int32_t a = net_.first_arc(p); a < net_.last_arc(p); ++a) {
      const double left = sink ? net_.capacity(p, a) : net_.reverse_capacity(p, a);
      if (!(left > 0.0)) continue;
      const std::size_t q = net_.head(p, a);
      if (net_.node(q).in_sink_tree != sink || net_.node(q).parent == kFree) continue;
      std::uint32_t distance = 0;
      std::size_t u = q;
      for (;;) {
        FlowNode& m = net_.node(u);
        if (m.time == time_) {
          distance += m.distance;
          break;
        }
        if (m.parent == kOrphan) {
          distance = kNever;
          break;
        }
        ++distance;
        if (m.parent == kTerminal) {
          m.time = time_;
          m.distance = 1;
          break;
        }
        u = net_.head(u, m.parent);
      }
      if (distance == kNever) continue;
      if (distance < nearest) {
        nearest = distance;
        best = a;
      }
      // Every node on the way learns its distance.
      for (u = q; net_.node(u).time != time_;) {
        FlowNode& m = net_.node(u);
        m.time = time_;
        m.distance = distance--;
        u = net_.head(u, m.parent);
      }
    }
    if (best != kFree) {
      n.parent = best;
      n.time = time_;
      n.distance = nearest + 1;
      return;
    }
    for (std::int32_t a = net_.first_arc(p); a < net_.last_arc(p); ++a) {
      const std::size_t q = net_.head(p, a);
      const FlowNode& m = net_.node(q);
      if (m.in_sink_tree != sink || m.parent == kFree) continue;
      const double left = sink ? net_.capacity(p, a) : net_.reverse_capacity(p, a);
      if (left > 0.0) activate(q);
      if (m.parent >= 0 && net_.head(q, m.parent) == p) orphan(q);
    }
    n.parent = kFree;
  }

  Network& net_;
  Watch watch_;
  std::size_t queue_first_ = kNobody, queue_last_ = kNobody;
  std::vector<std::uint32_t> orphans_;
  std::uint32_t time_ = 0;
};

}  // namespace structlearn
