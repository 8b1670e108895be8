// One label out of K (Daumé, chapter 17.1). Block 0: label, one site of K outcomes.
#pragma once

#include "structures/structure.hpp"

namespace structlearn {

class Multiclass final : public Structure {
 public:
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
