// Maximum flow by augmenting paths between two search trees (Boykov and Kolmogorov 2004), over any
// network that defines the storage of its arcs: grids need no adjacency lists, sparse graphs have
// them. Trees are kept from one path to the next, so that on images most of the work is local.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "numeric/parallel.hpp"
#include "structures/watch.hpp"

namespace structlearn {

enum class FlowTree : std::uint8_t { kFree, kSource, kSink };

// The distance of a node from its terminal, and the time when it was known to be right.
struct FlowDistance {
  std::uint32_t time = 0, distance = 1;
};

// A network has
// - excess(p): > 0: what the source can still send to p; < 0: what p can still send to the sink;
// - size(), head(p, a), reverse_arc(p, a);
// - capacity(p, a), reverse_capacity(p, a): their residual capacities;
// - for_each_short_way(body): body(p, a) for arcs, one of an edge's two or both, at least where one
//   end has excess for the other;
// - plant(roots): makes each node with an excess the root of a tree and active, frees the others,
//   and lists the roots. Required by what follows, and again after capacities are set:
// - send(p, a, flow): moves capacity from an arc to its reverse; true if none is left;
// - tree(p), join(p, tree, parent), leave(p); known(p);
// - parent(p), set_parent(p, a): an arc, or kTerminal for a root, or kOrphan;
// - enqueue(p): marks p as active, false if it was; dequeue(p);
// - for_each_outward(p, body): body(a, q) for arcs over which p's tree can grow, until it returns
//   false; for_each_inward: for those to nodes that could be p's parents; for_each_kin:
//   body(a, q, inward) for all those to nodes of p's tree.
//
// Each augmenting path is reported to the watcher: (its nodes), (its flow), then the search trees
// (0, 1 or 2 if a node is free, in the source's tree or in the sink's, for all).
template <class Network, class Watch = Unwatched>
class MaxFlow {
 public:
  explicit MaxFlow(Network& network, Watch watch = {}) : net_(network), watch_(watch) {}

  // False if interrupted: only then is the flow not maximal.
  bool run(Interrupt* interrupt) {
    shortest_paths();
    net_.plant(later_);
    std::size_t rounds = 0;
    for (std::size_t p; (p = next_active()) != kNobody;) {
      if (interrupt != nullptr && (++rounds & 4095) == 0 && interrupt->requested()) return false;
      while (net_.tree(p) != FlowTree::kFree) {
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

  // Whether a node can still reach the sink: those that can are separated from the source, and this
  // is the smallest such set.
  bool on_sink_side(std::size_t p) const { return net_.tree(p) == FlowTree::kSink; }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  struct Meeting {
    std::size_t node = kNobody;  // in the source tree
    std::int32_t arc = 0;        // to a node of the sink tree
  };

  // Source, node, neighbour, sink: these paths need no trees. Written without branches, half of
  // which would be mispredicted.
  void shortest_paths() {
    net_.for_each_short_way([&](std::size_t p, std::int32_t a) {
      const std::size_t q = net_.head(p, a);
      double &one = net_.excess(p), &other = net_.excess(q);
      double &there = net_.capacity(p, a), &back = net_.reverse_capacity(p, a);
      // > 0: from p to q. Of two excesses with one sign `wanted` is 0.
      const double less = smallest(one, -other), more = largest(one, -other);
      const double wanted = largest(less, smallest(more, 0.0));
      const double flow = smallest(largest(wanted, -back), there);
      one -= flow;
      other += flow;
      there -= flow;
      back += flow;
      if constexpr (Watch::kOn) {
        if (flow > 0.0) tell(std::vector{p, q}, flow);
        if (flow < 0.0) tell(std::vector{q, p}, -flow);
      }
    });
  }

  void tell(const std::vector<std::size_t>& path, double flow) {
    watch_("path", {path.begin(), path.end()}, {flow});
  }
  void tell_trees() {
    std::vector<std::int64_t> states(net_.size());
    for (std::size_t p = 0; p < net_.size(); ++p) states[p] = static_cast<int>(net_.tree(p));
    watch_("trees", std::move(states));
  }

  static double smallest(double a, double b) { return a < b ? a : b; }
  static double largest(double a, double b) { return a > b ? a : b; }

  // First come, first served: nodes that arrive during a round wait for the next one.
  void activate(std::size_t p) {
    if (net_.enqueue(p)) later_.push_back(static_cast<std::uint32_t>(p));
  }
  std::size_t next_active() {
    if (served_ == now_.size()) {
      now_.swap(later_);
      later_.clear();
      served_ = 0;
      if (now_.empty()) return kNobody;
    }
    const std::size_t p = now_[served_++];
    net_.dequeue(p);
    return p;
  }

  // Adds free neighbours to the tree until it meets the other tree.
  Meeting grow(std::size_t p) {
    const FlowTree tree = net_.tree(p);
    Meeting met;
    net_.for_each_outward(p, [&](std::int32_t a, std::size_t q) {
      if (net_.tree(q) != FlowTree::kFree) {
        met = tree == FlowTree::kSource ? Meeting{p, a} : Meeting{q, net_.reverse_arc(p, a)};
        return false;
      }
      net_.join(q, tree, net_.reverse_arc(p, a));
      net_.known(q) = {net_.known(p).time, net_.known(p).distance + 1};
      activate(q);
      return true;
    });
    return met;
  }

  // body(p, a) for each node of a tree from p up to the root, which is returned, a being the arc to
  // its parent.
  template <class Body>
  std::size_t climb(std::size_t p, Body&& body) {
    for (std::int32_t a; (a = net_.parent(p)) != Network::kTerminal;) {
      const std::size_t above = net_.head(p, a);
      body(p, a);
      p = above;
    }
    return p;
  }

  void augment(const Meeting& met) {
    const std::size_t here = met.node, there = net_.head(here, met.arc);
    double flow = net_.capacity(here, met.arc);
    const std::size_t source = climb(here, [&](std::size_t p, std::int32_t a) {
      flow = smallest(flow, net_.reverse_capacity(p, a));
    });
    const std::size_t sink = climb(
        there, [&](std::size_t p, std::int32_t a) { flow = smallest(flow, net_.capacity(p, a)); });
    flow = smallest(flow, smallest(net_.excess(source), -net_.excess(sink)));
    if constexpr (Watch::kOn) tell_path(met, flow);
    net_.send(here, met.arc, flow);
    climb(here, [&](std::size_t p, std::int32_t a) {
      if (net_.send(net_.head(p, a), net_.reverse_arc(p, a), flow)) orphan(p);
    });
    net_.excess(source) -= flow;
    if (!(net_.excess(source) > 0.0)) orphan(source);
    climb(there, [&](std::size_t p, std::int32_t a) {
      if (net_.send(p, a, flow)) orphan(p);
    });
    net_.excess(sink) += flow;
    if (!(net_.excess(sink) < 0.0)) orphan(sink);
  }

  void tell_path(const Meeting& met, double flow) {
    std::vector<std::size_t> path;
    const auto add = [&](std::size_t p, std::int32_t) { path.push_back(p); };
    path.push_back(climb(met.node, add));
    std::reverse(path.begin(), path.end());
    path.push_back(climb(net_.head(met.node, met.arc), add));
    tell(path, flow);
  }

  void orphan(std::size_t p) {
    net_.set_parent(p, Network::kOrphan);
    orphans_.push_back(static_cast<std::uint32_t>(p));
  }

  // Gives orphans another parent with an intact path to the terminal, the nearest one, or frees
  // them.
  void adopt() {
    for (std::size_t i = 0; i < orphans_.size(); ++i) find_parent(orphans_[i]);
    orphans_.clear();
  }

  void find_parent(std::size_t p) {
    std::uint32_t nearest = kNever;
    std::int32_t best = Network::kOrphan;
    net_.for_each_inward(p, [&](std::int32_t a, std::size_t q) {
      const std::uint32_t distance = distance_of(q);
      if (distance < nearest) {
        nearest = distance;
        best = a;
      }
    });
    if (best != Network::kOrphan) {
      net_.set_parent(p, best);
      net_.known(p) = {time_, nearest + 1};
      return;
    }
    net_.for_each_kin(p, [&](std::int32_t a, std::size_t q, bool inward) {
      if (inward) activate(q);
      if (net_.parent(q) == net_.reverse_arc(p, a)) orphan(q);
    });
    net_.leave(p);
  }

  // From a node to its terminal; kNever if its path ends in an orphan. Every node on the path
  // learns its distance.
  std::uint32_t distance_of(std::size_t q) {
    std::uint32_t distance = 0;
    for (std::size_t u = q;;) {
      FlowDistance& known = net_.known(u);
      if (known.time == time_) {
        distance += known.distance;
        break;
      }
      const std::int32_t a = net_.parent(u);
      if (a == Network::kOrphan) return kNever;
      ++distance;
      if (a == Network::kTerminal) {
        known = {time_, 1};
        break;
      }
      u = net_.head(u, a);
    }
    std::uint32_t left = distance;
    for (std::size_t u = q; net_.known(u).time != time_; u = net_.head(u, net_.parent(u))) {
      net_.known(u) = {time_, left--};
    }
    return distance;
  }

  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  Network& net_;
  Watch watch_;
  std::vector<std::uint32_t> now_, later_;  // active nodes
  std::size_t served_ = 0;                  // served of the first list
  std::vector<std::uint32_t> orphans_;
  std::uint32_t time_ = 0;
};

}  // namespace structlearn
