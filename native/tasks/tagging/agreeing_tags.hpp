// Tags that agree: several taggers of the same tokens, each of one column, choose together among
// the combinations of labels that may occur.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::text {

struct AgreeingTagger {
  const TaggerModel* model;
  double temperature;                    // of its probabilities
  std::span<const std::uint32_t> label;  // in each combination
};

// For each token of a corpus the combination with the greatest sum of log P(label), the first of
// those that are equal; a probability counts as 1e-300 at least. The number of threads changes
// nothing. Throws std::invalid_argument where the combinations do not fit the taggers.
std::vector<std::uint32_t> agreeing_tags(std::span<const AgreeingTagger>, const Corpus&,
                                         std::size_t threads, Interrupt&);

}  // namespace structlearn::text
