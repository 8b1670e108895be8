// From the scores of two choices a node to a network whose minimum cut is the best choice.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "max_flow.hpp"
#include "networks.hpp"
#include "structlearn/pairwise.hpp"

namespace structlearn {

// The costs of the four choices (first node's, second node's) of one edge.
struct PairCosts {
  double same0, up, down, same1;  // 00, 01, 10, 11

  // Half of what choosing differently costs beyond what the nodes can be charged for; < 0 where no
  // cut can represent it. Rounding is no reason to refuse.
  double separation() const {
    const double w = 0.5 * ((up - same0) + (down - same1));
    if (w >= 0.0) return w;
    const double size = std::fabs(same0) + std::fabs(up) + std::fabs(down) + std::fabs(same1);
    return w >= -1e-13 * size ? 0.0 : w;
  }
};

// Adds E(x_p, x_q) to the network: w where they differ, and what is left to the nodes.
template <class Network>
void add_pair(Network& net, std::size_t p, std::int32_t arc, const PairCosts& c, double w) {
  net.capacity(p, arc) += w;
  net.reverse_capacity(p, arc) += w;
  net.node(p).excess += c.down - c.same0 - w;
  net.node(net.head(p, arc)).excess += c.up - c.same0 - w;
}

// Calls body with a network that fits.
template <class Body>
auto with_network(const Pairwise& model, Body&& body) {
  if (model.height > 0) {
    GridNetwork net(model.height, model.width);
    return body(net);
  }
  SparseNetwork net(model.nodes, model.ends, model.n_edges);
  return body(net);
}

}  // namespace structlearn
