// Learning of dependency parsers, sentence by sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "structlearn/parallel.hpp"
#include "structlearn/parsing/decoder.hpp"
#include "structlearn/parsing/label_sets.hpp"
#include "structlearn/parsing/large_array.hpp"
#include "structlearn/parsing/pruner.hpp"
#include "structlearn/parsing/scorer.hpp"
#include "structlearn/parsing/treebank.hpp"

namespace structlearn::parsing {

struct TrainingOptions {
  int order = 1;
  bool projective = false;
  double margin = 1.0;       // 0: perceptron, 1: structured hinge
  bool adaptive = true;      // AdaGrad's steps; else passive-aggressive ones of at most `rate`
  double rate = 0.1;
  int iterations = 20;       // of dual decomposition
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
  bool learn(std::size_t i, ParseEpoch& report);
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
  Parts parts_;
  double steps_ = 0.0;
  std::vector<std::int32_t> found_;
  std::vector<std::uint16_t> found_labels_;
  std::vector<std::pair<std::uint32_t, float>> gradient_;
  std::vector<std::uint8_t> shared_sibling_, shared_grand_;
};

}  // namespace structlearn::parsing
