// A trained tagger: scores the tokens of sentences and labels them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "structures/chains/chain.hpp"
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

// What labelling one sentence needs besides the model; one a thread.
struct Scratch {
  Workspace workspace;
  Keys keys, pair_keys;
  SlotScratch slots;
  TokenScorer scorer;
  std::vector<double> theta, pairs, marginals;
  std::vector<Candidate> candidates;  // of each token, where a model has them
  std::vector<double> likely;         // the scores that choose them, where some are forbidden
  std::vector<double> of_candidates;  // the scores of their chain
};

// The scores of a sentence, as its structure reads them.
struct Arranged {
  ::structlearn::Layout layout;
  Scores scores;
};

class TaggerModel {
 public:
  TaggerModel(std::shared_ptr<const FeatureSet> features, TaggerWeights weights);

  const FeatureSet& features() const { return *features_; }
  std::shared_ptr<const FeatureSet> shared_features() const { return features_; }
  const TaggerWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }

  // Scores of the labels of a sentence into scratch.theta (L, K), of pairs into scratch.pairs.
  // Where a model has candidates these are the scores that choose them.
  void score(Extractor&, std::size_t sentence, Scratch&) const;

  // The questions of a Chain about the scores in the scratch.
  double argmax(std::size_t L, Scratch&, Output& y) const;
  double marginals(std::size_t L, Scratch&, double temperature, double* p) const;
  std::vector<std::pair<double, Output>> kbest(std::size_t L, Scratch&, std::size_t n) const;
  // For each token the best labelling, among the same candidates, in which its label has another
  // name; empty: there is none. `name_of`: of each label.
  std::vector<Output> rivals(std::size_t L, Scratch&, std::span<const std::int32_t> name_of) const;
  std::vector<Output> sample(std::size_t L, Scratch&, double temperature, std::size_t n,
                             std::uint64_t seed) const;
  double entropy(std::size_t L, Scratch&, double temperature) const;
  // Rules out every label k of token t for which group[k] is not known[t]; known -1 allows all.
  void clamp(std::span<const std::int32_t> known, std::span<const std::int32_t> group,
             Scratch&) const;

  // Weights of a feature for all labels, added to out (K); or of one of label pairs (K²).
  void weights_of(std::uint64_t key, bool pair, double* out) const;
  // A table by its name in files: state, pair, first, transition1, ...; and its outcomes.
  std::pair<const WeightTable*, std::size_t> table(std::string_view name) const;

 private:
  Arranged arrange(std::size_t L, Scratch&) const;
  Arranged arrange_candidates(std::size_t L, Scratch&) const;
  // From numbers of candidates to labels.
  void name(const Scratch&, Output& y) const;

  std::shared_ptr<const FeatureSet> features_;
  TaggerWeights weights_;
  ScoringPlan plan_;
  Chain chain_;
};

}  // namespace structlearn::text
