// Dynamic programs written out as edges: the reference for the hand-written kernels, the engine of
// user-written structures, and the best path through any lattice.
//
// Nodes 0..n-1 are in topological order. A hyperedge builds its head from its tails (all of them
// before the head) and carries parts; its score is the sum of their scores. A derivation of a node
// is an edge into it with a derivation of each tail; the outputs are the derivations of the last
// node. There must be one derivation per output, or the sums count some outputs twice.
//
// Inside, outside, best derivation and draws: O(edges); k-best O(edges + d k log k), where d is the
// size of a derivation (Huang & Chiang 2005, algorithm 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace structlearn {

class Hypergraph {
 public:
  using Edges = std::vector<std::uint32_t>;

  // Edges sorted by head; tails and parts of edge e are [ptr[e], ptr[e+1]).
  // Throws std::invalid_argument if the order or an index is wrong.
  Hypergraph(std::size_t nodes, std::size_t parts, std::vector<std::uint32_t> head,
             std::vector<std::uint32_t> tail_ptr, std::vector<std::uint32_t> tail,
             std::vector<std::uint32_t> part_ptr, std::vector<std::uint32_t> part);

  std::size_t nodes() const { return nodes_; }
  std::size_t parts() const { return parts_; }

  // The best derivation of the last node, and its score; -inf and no edges if there is none.
  double best(const double* theta, Edges& derivation) const;

  // eps log sum exp(score / eps) over derivations, its gradient added up in p (parts() values).
  double infer(const double* theta, double eps, double* p) const;

  // The results of max (eps = 0) or sum: the value of every node and edge, eps times the log of its
  // sum, and the probability that a derivation uses a node.
  struct Chart {
    std::vector<double> node, edge, mass;
  };
  Chart chart(const double* theta, double eps) const;

  // The entropy, in nats, of P(derivation) ~ exp(score / eps); -inf if there is none. The sum over
  // nodes of the entropies of their edge choices: no difference of large numbers.
  double entropy(const double* theta, double eps) const;

  std::vector<std::pair<double, Edges>> kbest(const double* theta, std::size_t k) const;

  std::vector<Edges> sample(const double* theta, double eps, std::size_t n,
                            std::uint64_t seed) const;

  // The parts of a derivation, with repeats.
  std::vector<std::uint32_t> parts_of(const Edges& derivation) const;

 private:
  struct Forest;  // in the form for lazy_kbest.hpp

  double edge_score(const double* theta, std::size_t e) const;
  // log inside weight of every node at temperature eps, and of every edge.
  std::vector<double> inside(const double* theta, double eps, std::vector<double>& edge) const;

  // The probability of every node, 0 on entry; body(e, probability) for every edge.
  template <class Body>
  void outside(const std::vector<double>& edge, std::vector<double>& mass, Body&& body) const;

  std::size_t nodes_, parts_;
  std::vector<std::uint32_t> head_, tail_ptr_, tail_, part_ptr_, part_;
  std::vector<std::uint32_t> in_ptr_;  // edges into node v are [in_ptr_[v], in_ptr_[v+1])
};

}  // namespace structlearn
