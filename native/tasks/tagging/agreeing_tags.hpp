// Tags that agree: several taggers of the same tokens, each of one column, choose together among
// the combinations of labels that may occur.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/tagging/likely_labels.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::text {

struct AgreeingTagger {
  const TaggerModel* model;
  double temperature;                // of its probabilities
  std::vector<std::uint32_t> label;  // in each combination
};

class AgreeingTags {
 public:
  // Taggers of more labels than `exact` sum over sequences of likely labels alone (LikelyLabels).
  // Throws std::invalid_argument where the combinations do not fit the taggers.
  explicit AgreeingTags(std::vector<AgreeingTagger> taggers, std::size_t exact = kExact);

  // For each token of a corpus the combination with the greatest sum of log P(label), the first of
  // those that are equal; a probability counts as 1e-300 at least. The number of threads changes
  // nothing.
  std::vector<std::uint32_t> choose(const Corpus&, std::size_t threads, Interrupt&) const;
  // Additions for a token, roughly.
  std::size_t steps() const;

  static constexpr std::size_t kExact = 64;

 private:
  std::vector<AgreeingTagger> taggers_;
  std::vector<std::unique_ptr<const LikelyLabels>> likely_;  // of each; null: all are summed over
};

}  // namespace structlearn::text
