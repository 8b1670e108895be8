// The structure of a parser's trees: see tree_parts.hpp for its parts and outputs.
//
// Labels of parents and children meet in a table, so the chart needs O(n^2 R^2 + n^3 R) time and
// O(n^2 R) memory. Every tree has one derivation in it: sums over derivations are sums over trees.
#pragma once

#include <utility>
#include <vector>

#include "structures/structure.hpp"
#include "structures/trees/constituency.hpp"

namespace structlearn::text {

class SpanTrees final : public Structure, public SpanOutputs {
 public:
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
  void spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const override;
};

}  // namespace structlearn::text
