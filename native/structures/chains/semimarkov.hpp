// Segmentations: a sequence cut into labelled segments of up to D positions (semi-Markov chains,
// Sarawagi & Cohen 2004).
//
// Blocks: 0 segment (L * D sites of K: site i * D + d - 1 is the segment of length d that starts at
// i; those that would run beyond L are never read), 1 start and 2 end (one site of K: the labels of
// the first and of the last segment), 3 transition (K * K outcomes; one shared site, or L - 1
// sites, site i - 1 for a segment that starts at i). A transition reads [label before, label].
//
// An output is a row of L integers: the label of the segment that starts at this position, or -1
// inside a segment.
//
// The maximum, or the sum, over the labels before a position is computed once for all segments that
// start there: O(L D K + L K^2) time for every query, O(L K) memory.
#pragma once

#include "structures/structure.hpp"

namespace structlearn {

class SemiMarkov final : public Structure {
 public:
  static constexpr std::size_t kSegment = 0, kStart = 1, kEnd = 2, kTransition = 3;

  // Throws std::invalid_argument for 0.
  explicit SemiMarkov(std::size_t max_length);
  std::size_t max_length() const { return max_length_; }

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

 private:
  std::size_t max_length_;
};

}  // namespace structlearn
