// A trained dependency parser, and what parses with it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "numeric/large_pages.hpp"
#include "tasks/dependencies/decoder.hpp"
#include "tasks/dependencies/label_sets.hpp"
#include "tasks/dependencies/part_scorer.hpp"
#include "tasks/dependencies/pruner.hpp"

namespace structlearn::parsing {

struct ParserOptions {
  int order = 1;  // 2: siblings and grandparents too
  bool projective = false;
  int iterations = 100;  // of dual decomposition
  PruneOptions pruning;
};

// The weights are read at random and want large pages (large_pages.hpp).
class ParserModel {
 public:
  // Throws std::invalid_argument where the arrays do not fit together.
  ParserModel(std::vector<std::string> labels, LabelSets sets, ParserOptions options,
              LargeArray<float> weights, LargeArray<float> pruner);

  const std::vector<std::string>& labels() const { return labels_; }
  const ParserOptions& options() const { return options_; }
  const LabelSets& sets() const { return sets_; }
  Table<float> table() const { return {weight_.data(), weight_.size()}; }
  Table<float> pruner_table() const { return {pruner_.data(), pruner_.size()}; }

 private:
  std::vector<std::string> labels_;
  LabelSets sets_;
  ParserOptions options_;
  LargeArray<float> weight_, pruner_;
};

// Parses sentences one after another. Not to be shared between threads.
class SentenceParser {
 public:
  // `projective_sums`: some trees have no crossing arcs, over which sums are possible.
  explicit SentenceParser(const ParserModel& model, bool projective_sums = false);
  // heads[1..n] and labels[1..n].
  Decoded parse(const Sentence&, std::vector<std::int32_t>& heads,
                std::vector<std::uint16_t>& labels);
  // The parts of a sentence and their scores, as PartScorer orders them.
  void score(const Sentence&);
  const Parts& parts() const { return parts_; }
  const std::vector<double>& scores() const { return scores_; }
  // Of each arc that was parsed over: its best label, and its score with that.
  const std::vector<double>& arc_scores() const { return arc_; }
  const std::vector<std::uint16_t>& arc_labels() const { return label_; }

  // What speaks for an arc with its label, by the number of the template.
  std::map<std::uint16_t, double> reasons(const Sentence&, int h, int m, std::size_t label) const;

 private:
  const ParserModel& model_;
  Pruner pruner_;
  PartScorer<float> scorer_;
  Decoder decoder_;
  Candidates candidates_;
  Parts parts_;
  std::vector<double> scores_, arc_;
  std::vector<std::uint16_t> label_;
};

}  // namespace structlearn::parsing
