// Labels on the nodes of a given tree: message passing (Pearl 1988).
//
// Blocks: 0 label (N sites of K), 1 edge (K * K outcomes, read [parent label, child label]; one
// shared site, or N - 1, the e-th for the e-th node that is not the root). The topology is the
// parent of each node, -1 at the one root. An output is a row of N labels.
//
// Every query traverses the tree once up and once down: O(N K^2) time, O(N K) memory.
#pragma once

#include "structures/structure.hpp"

namespace structlearn {

class Tree final : public Structure {
 public:
  static constexpr std::size_t kLabel = 0, kEdge = 1;

  void check(const Layout&) const override;
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
