// From the scores of two choices per node to a network whose minimum cut is the best choice.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/graphs/grid_network.hpp"
#include "structures/graphs/max_flow.hpp"
#include "structures/graphs/pairwise.hpp"
#include "structures/graphs/sparse_network.hpp"

namespace structlearn {

// The costs of the four choices (first node's, second node's) of one edge.
struct PairCosts {
  double same0, up, down, same1;  // 00, 01, 10, 11

  // Half of the cost of choosing differently beyond what can be charged to the nodes; < 0 if no cut
  // can represent it. Rounding errors are judged by the differences: by the costs themselves they
  // could be any amount if these have a large offset.
  double separation() const {
    const double first = up - same0, second = down - same1, w = 0.5 * (first + second);
    if (w >= 0.0) return w;
    return w >= -1e-13 * (std::fabs(first) + std::fabs(second)) ? 0.0 : w;
  }
};

// Adds E(x_p, x_q) to the network: w if they differ, and the rest to the nodes, which is down -
// same0 - w and up - same0 - w; large costs of differing cancel before small ones are added.
template <class Network>
void add_pair(Network& net, std::size_t p, std::int32_t arc, const PairCosts& c, double w) {
  const double turn = c.down - c.up, same = c.same1 - c.same0;
  net.capacity(p, arc) += w;
  net.reverse_capacity(p, arc) += w;
  net.excess(p) += 0.5 * (same + turn);
  net.excess(net.head(p, arc)) += 0.5 * (same - turn);
}

// The reward of a group in a move if all its members choose 0, or 1, and the loss for each member
// that does not. Members whose choice makes no difference are left out.
struct CliqueTerm {
  double zero = 0.0, one = 0.0;
  double zero_step = 0.0, one_step = 0.0;
  std::int32_t kept = -1;     // only members with this label are part of the first
  std::int32_t decided = -1;  // members with this label are no part of the second
  std::array<std::int32_t, 2> moving = {-1, -1};  // only members with these are part of anything

  bool in_zero(std::int32_t label) const { return (kept < 0 || label == kept) && moves(label); }
  bool in_one(std::int32_t label) const { return label != decided && moves(label); }

 private:
  bool moves(std::int32_t label) const {
    return moving[0] < 0 || label == moving[0] || label == moving[1];
  }
};

// Two helpers per group (Kohli, Kumar and Torr 2007): one that a member with choice 1 pulls to the
// sink's side, where the reward is lost; one that a member with choice 0 holds at the source's. A
// pull is as strong as the loss for one member (Kohli, Ladicky and Torr 2008).
template <class Network, class Term>
void add_cliques(Network& net, const Pairwise& m, Term&& term, const std::int32_t* y = nullptr) {
  if constexpr (requires { net.arc_of_edge(std::size_t{0}); }) {
    for (std::size_t c = 0; c < m.cliques.count; ++c) {
      const CliqueTerm t = term(c);
      const std::size_t zero = m.nodes + 2 * c, one = zero + 1;
      const auto first = static_cast<std::size_t>(m.cliques.start[c]);
      const auto last = static_cast<std::size_t>(m.cliques.start[c + 1]);
      if (t.zero > 0.0) net.excess(zero) += t.zero;
      if (t.one > 0.0) net.excess(one) -= t.one;
      for (std::size_t i = first; i < last; ++i) {
        const auto v = static_cast<std::size_t>(m.cliques.members[i]);
        if (t.zero > 0.0 && (y == nullptr || t.in_zero(y[v]))) {
          net.capacity(zero, net.arc_of_edge(m.n_edges + 2 * i)) += t.zero_step;
        }
        if (t.one > 0.0 && (y == nullptr || t.in_one(y[v]))) {
          net.capacity(v, net.arc_of_edge(m.n_edges + 2 * i + 1)) += t.one_step;
        }
      }
    }
  }
}

// The edges of a graph, then those between a group's members and its helpers.
inline std::vector<std::int64_t> with_helpers(const Pairwise& m) {
  std::vector<std::int64_t> ends(m.ends, m.ends + 2 * m.n_edges);
  for (std::size_t c = 0; c < m.cliques.count; ++c) {
    const auto zero = static_cast<std::int64_t>(m.nodes + 2 * c);
    for (std::int64_t i = m.cliques.start[c]; i < m.cliques.start[c + 1]; ++i) {
      const std::int64_t v = m.cliques.members[i];
      ends.insert(ends.end(), {zero, v, v, zero + 1});
    }
  }
  return ends;
}

// Calls body with a suitable network.
template <class Body>
auto with_network(const Pairwise& model, Body&& body) {
  if (model.height > 0) {
    GridNetwork net(model.height, model.width);
    return body(net);
  }
  if (model.cliques.count > 0) {
    const std::vector<std::int64_t> ends = with_helpers(model);
    SparseNetwork net(model.nodes + 2 * model.cliques.count, ends.data(), ends.size() / 2);
    net.hide_helpers(model.nodes, model.n_edges);
    return body(net);
  }
  SparseNetwork net(model.nodes, model.ends, model.n_edges);
  return body(net);
}

}  // namespace structlearn
