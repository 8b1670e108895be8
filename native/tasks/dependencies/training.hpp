// Learning of dependency parsers, sentence by sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/large_array.hpp"
#include "tasks/dependencies/pruner.hpp"
#include "tasks/dependencies/scorer.hpp"
#include "tasks/dependencies/treebank.hpp"

namespace structlearn::parsing {

// Which loss, in the terms of the one loss: margin 0 or 1 at temperature 0, or temperature 1. The
// perceptron takes steps of one, the hinge passive-aggressive steps of at most `rate` (Crammer et
// al. 2006; MIRA in McDonald et al. 2005), the log loss AdaGrad's.
enum class ParserLoss { kPerceptron, kHinge, kLog };

struct TrainingOptions {
  int order = 1;
  bool projective = false;
  ParserLoss loss = ParserLoss::kHinge;
  double rate = 0.002;
  int iterations = 20;  // of dual decomposition
};

struct ParseEpoch {
  bool complete = true;
  std::size_t updates = 0, wrong = 0, inexact = 0, tokens = 0;
};

class ParserLearner {
 public:
  ParserLearner(const Treebank& treebank, const LabelSets& sets, std::size_t labels,
                std::span<const Candidates> candidates, unsigned bits, TrainingOptions options);

  ParseEpoch epoch(std::span<const std::uint32_t> order, Interrupt&);
  // The weights averaged over all steps.
  void mean(std::span<float> out) const;
  std::span<const float> last() const { return weight_; }

 private:
  void learn(std::size_t i, ParseEpoch& report);
  void learn_log_loss(std::size_t i, ParseEpoch& report);
  void step(std::uint32_t index, float d) {
    weight_[index] += d;
    behind_[index] += static_cast<float>(steps_ - 1.0) * d;
  }
  void collect(const Sentence&, const Parts&, std::span<const std::int32_t> heads,
               std::span<const std::uint16_t> labels, std::span<const std::int32_t> other_heads,
               std::span<const std::uint16_t> other_labels, float sign);

  const Treebank& treebank_;
  std::span<const Candidates> candidates_;
  TrainingOptions options_;
  LargeArray<float> weight_, behind_, squares_;
  Table table_;
  PartScorer scorer_;
  Decoder decoder_;
  TreeSearch trees_;
  Parts parts_;
  double steps_ = 0.0;
  std::vector<std::int32_t> found_;
  std::vector<std::uint16_t> found_labels_;
  std::vector<std::pair<std::uint32_t, float>> gradient_;
  std::vector<std::uint8_t> shared_sibling_, shared_grand_;
  std::vector<float> label_scores_;
  std::vector<double> marginals_;
};

}  // namespace structlearn::parsing
