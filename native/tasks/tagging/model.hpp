// A trained tagger: its features and weights. reader.hpp scores sentences by them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/reader.hpp"
#include "tasks/tagging/candidate_scorer.hpp"
#include "tasks/tagging/token_scorer.hpp"
#include "tasks/tagging/weight_table.hpp"
#include "text/features.hpp"
#include "text/vocabulary.hpp"

namespace structlearn::text {

struct TaggerWeights {
  std::size_t labels = 0, order = 1;
  WeightTable state, pair;  // pair: outcomes are K * K
  // Scores of label windows, masks in them: start, end, transitions of order 1, 2, ...
  std::vector<double> start, end;
  std::vector<std::vector<double>> transition;
  // Labels that are considered at each token, 0: all. `first` scores all labels and chooses them;
  // the scores of label windows are then tables by order, whose keys are histories plus one.
  std::size_t candidates = 0;
  WeightTable first;
  std::vector<WeightTable> windows;
  ForbiddenLabels forbidden;  // with candidates only; without, scores of -inf say so
};

class TaggerModel {
 public:
  TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights);

  const FeatureSet& features() const { return *features_; }
  std::shared_ptr<const FeatureSet> shared_features() const { return features_; }
  const TaggerWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }
  // Additions for a token, roughly.
  std::size_t steps() const {
    return chain_steps(weights_.candidates > 0 ? weights_.candidates : weights_.labels,
                       weights_.order);
  }

  const ScoringPlan& plan() const { return plan_; }

  // Weights of a feature for all labels, added to out (K); or of one of label pairs (K²).
  void weights_of(std::uint64_t key, bool pair, double* out) const;
  // A table by its name in files: state, pair, first, transition1, ...; and its outcomes.
  std::pair<const WeightTable*, std::size_t> table(std::string_view name) const;

 private:
  std::shared_ptr<const FeatureSet> features_;
  TaggerWeights weights_;
  ScoringPlan plan_;
};

}  // namespace structlearn::text
