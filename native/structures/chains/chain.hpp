// Label sequences with scores on label windows (chains of any order).
//
// Blocks: 0 label (L sites of K), 1 start and 2 end (one site of K), 2 + j the transitions of
// order j = 1..m (K^(j+1) outcomes; one shared site, or max(L - j, 0) sites). A transition of
// order j at position t >= j reads the labels t-j..t, the oldest first.
//
// A state at position t is the window of the last min(t + 1, m) labels, the newest varying
// fastest. Viterbi is Algorithm 42 of Daumé's chapter 17 over these states; forward-backward runs
// on exponentials scaled at each position and falls back to logarithms where those would
// underflow. Time O(L K^(m+1)), memory O(L K^m).
#pragma once

#include "structures/beam.hpp"
#include "structures/structure.hpp"

namespace structlearn {

class Chain final : public Structure, public BeamSearch {
 public:
  static constexpr std::size_t kLabel = 0, kStart = 1, kEnd = 2;
  static constexpr std::size_t transition(std::size_t order) { return 2 + order; }
  static constexpr std::size_t kMaxOrder = kMaxBlocks - 3;

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
  // Beam search keeps the best prefixes that differ in their last m labels: with width K^m it is
  // Viterbi. Time O(L b K m) for width b.
  BeamOutput beam(const Layout&, const Scores&, std::size_t width, Output& y,
                  Workspace&) const override;
  Violation violation(const Layout&, const Scores&, std::span<const std::uint32_t> gold,
                      const BeamSettings&, Workspace&) const override;
};

}  // namespace structlearn
