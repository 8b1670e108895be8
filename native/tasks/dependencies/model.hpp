// A trained dependency parser.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "numeric/large_pages.hpp"
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
  // The same with tables that somebody else keeps, unchanged, for as long as the model lives.
  ParserModel(std::vector<std::string> labels, LabelSets sets, ParserOptions options,
              Table<float> weights, Table<float> pruner);
  ParserModel(const ParserModel&) = delete;  // tables may be its own

  const std::vector<std::string>& labels() const { return labels_; }
  const ParserOptions& options() const { return options_; }
  const LabelSets& sets() const { return sets_; }
  Table<float> table() const { return weight_; }
  Table<float> pruner_table() const { return pruner_; }

  // What speaks for an arc with its label, by the number of the template.
  std::map<std::uint16_t, double> reasons(const Sentence&, int h, int m, std::size_t label) const;

 private:
  std::vector<std::string> labels_;
  LabelSets sets_;
  ParserOptions options_;
  LargeArray<float> own_weight_, own_pruner_;  // empty: lent
  Table<float> weight_, pruner_;
};

}  // namespace structlearn::parsing
