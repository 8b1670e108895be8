// Dependency trees: every word 1..n has one head, the root 0 or another word, without cycles.
//
// Blocks: 0 arc ((n + 1)^2 sites of R labels: site h * (n + 1) + m is the arc from head h to word
// m; those with h = m or m = 0 are never read), 1 sibling (projective trees only, optional, (n +
// 1)^3 sites of one outcome: site (h * (n + 1) + s) * (n + 1) + m is word m with head h, where s is
// the word before m, on its way out from h on the same side, that has head h too, or h itself if m
// is the first. Read where h <= s < m or m < s <= h).
//
// An output is a row of n heads, that of word 1 first; if R > 1, followed by the n labels.
//
// argmax: Chu-Liu/Edmonds in O(n^2) time (edmonds.hpp), or, for projective trees, Eisner's chart in
// O(n^3) (eisner.hpp); O(n^2) memory, and R more for each arc.
#pragma once

#include <optional>

#include "structures/structure.hpp"

namespace structlearn {

class Arborescence final : public Structure {
 public:
  static constexpr std::size_t kArc = 0, kSibling = 1;

  // single_root: exactly one word has head 0.
  Arborescence(bool projective, bool single_root)
      : projective_(projective), single_root_(single_root) {}

  void check(const Layout&) const override;
  bool reads(const Layout&, std::size_t block, std::size_t site) const override;
  double argmax(const Layout&, const Scores&, Output& y, Workspace&) const override;
  double infer(const Layout&, const Scores&, double eps, const Marginals&,
               Workspace&) const override;
  std::optional<double> exact_entropy(const Layout&, const Scores&, double eps,
                                      Workspace&) const override;
  void encode(const Layout&, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override;
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;

 private:
  bool projective_, single_root_;
};

}  // namespace structlearn
