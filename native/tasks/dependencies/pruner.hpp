// A fast model that says which heads a word may have: P(h | m) by a softmax over few features. Only
// arcs that it leaves are looked at closely (as in Martins et al. 2013; Koo & Collins 2010 prune by
// marginals).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/features.hpp"
#include "tasks/dependencies/parts.hpp"
#include "tasks/dependencies/tokens.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

// Scores of the heads 0..n of a word, -inf for the word itself.
template <class Real>
class HeadScorer {
 public:
  explicit HeadScorer(Table<Real> table) : table_(table) {}
  void score(const Sentence&, int m, double scale, double* out);

 private:
  Table<Real> table_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::size_t> end_;
};

extern template class HeadScorer<float>;
extern template class HeadScorer<double>;

struct PruneOptions {
  std::uint32_t most = 10;  // heads a word
  double least = 1e-3;      // probability, relative to the best head's
};

class Pruner {
 public:
  // `projective_sums`: there are to be trees without crossing arcs among others, too.
  Pruner(Table<float> table, PruneOptions options, bool projective, bool projective_sums = false)
      : heads_(table), options_(options) {
    trees_.emplace_back(projective);
    if (projective_sums && !projective) trees_.emplace_back(true);
    best_.resize(trees_.size());
  }

  // The candidates of a sentence. Those of the best tree of each kind are always among them, so
  // that there is one; and the gold ones where given.
  void prune(const Sentence&, Candidates&, std::span<const std::int32_t> gold = {});

 private:
  HeadScorer<float> heads_;
  PruneOptions options_;
  std::vector<TreeSearch> trees_;
  std::vector<double> score_;
  std::vector<std::vector<std::int32_t>> best_;  // of each of the trees
  std::vector<std::pair<double, int>> ranked_;
};

}  // namespace structlearn::parsing
