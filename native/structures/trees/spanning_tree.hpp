// Spanning trees of n nodes: n - 1 undirected edges that connect them all.
//
// Block 0 edge: without a topology n * n sites of one outcome, of which site i * n + j with i < j
// is the edge between i and j; the others are never read. With one, the ends of E edges, E sites:
// other edges do not exist. An output is a row of 2 (n - 1) integers: the edges as pairs i < j, in
// ascending order.
//
// argmax: Prim's algorithm on the matrix, O(n^2); Kruskal's on a list of edges, O(E log E), with
// ties going to the first edge. A spanning tree is an arborescence with node 0 as its root, so
// sums, samples and the k best are those of Arborescence.
#pragma once

#include "structures/structure.hpp"

namespace structlearn {

class SpanningTree final : public Structure {
 public:
  static constexpr std::size_t kEdge = 0;

  void check(const Layout&) const override;
  bool reads(const Layout&, std::size_t block, std::size_t site) const override;
  double argmax(const Layout&, const Scores&, Output& y, Workspace&) const override;
  double infer(const Layout&, const Scores&, double eps, const Marginals&,
               Workspace&) const override;
  void encode(const Layout&, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override;
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;
};

}  // namespace structlearn
