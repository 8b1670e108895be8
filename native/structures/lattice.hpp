// Paths through a lattice: a directed acyclic graph with scored edges. One block: a score an edge.
//
// An output is the row of its edges, from the source to the target. Best path, sums and draws cost
// O(edges); k-best O(edges + k path log k) (lazy_kbest.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// The graph of an example. Nodes are in topological order: 0 is the source, the last the target.
struct LatticeShape final : Shape {
  std::vector<std::uint32_t> first;  // the edges into node v are [first[v], first[v + 1])
  std::vector<std::uint32_t> from;   // the node that each edge leaves, which is before the other

  std::size_t nodes() const { return first.size() - 1; }
  std::size_t edges() const { return from.size(); }
  // The node that an edge leads to.
  std::uint32_t head(std::uint32_t edge) const;
};

class Lattice final : public Structure {
 public:
  static constexpr std::size_t kEdge = 0;
  // The layout of an example of this shape.
  static Layout layout(std::shared_ptr<const LatticeShape> shape);

  void check(const Layout& layout) const override;
  double argmax(const Layout&, const Scores&, Output& y, Workspace&) const override;
  double infer(const Layout&, const Scores&, double eps, const Marginals&,
               Workspace&) const override;
  std::optional<double> exact_entropy(const Layout&, const Scores&, double eps,
                                      Workspace&) const override;
  bool allows(const Layout&, std::span<const std::int32_t> y) const override;
  void encode(const Layout&, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override;
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;
};

}  // namespace structlearn
