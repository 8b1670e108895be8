// The pruner as a learning problem: an example is a sentence, its parts are the heads of each word,
// and words choose theirs independently of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.hpp"
#include "scoring/scorer.hpp"
#include "tasks/dependencies/treebank.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

class PrunerScorer final : public Scorer {
 public:
  // 2^bits weights. The treebank is borrowed.
  PrunerScorer(const Treebank& treebank, unsigned bits);

  std::size_t examples() const override { return treebank_.sentence.size(); }
  std::size_t weights() const override { return weights_; }
  // As a chain of order 0 has it: a site a word, an outcome a head.
  Layout layout(std::size_t i) const override;
  void score(std::size_t i, const Layout&, Weights w, double scale, double* theta) const override;
  void gather(std::size_t i, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;
  structlearn::Gold gold() const;

 private:
  const Treebank& treebank_;
  std::size_t weights_;
  std::vector<std::int64_t> gold_ptr_{0};
  std::vector<std::uint32_t> gold_part_;
};

}  // namespace structlearn::parsing
