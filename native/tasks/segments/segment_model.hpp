// A trained recogniser of segments: scores all segments of a sentence, cuts it into the best ones,
// and writes them back as labels of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "structures/chains/semimarkov.hpp"
#include "tasks/segments/segments.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::text {

// Label 0 stands for what is outside: its segments have one token.
struct SegmentWeights {
  std::size_t labels = 0, max_length = 0;
  WeightTable table;
  std::vector<double> start, end, transition;
};

// What one sentence needs besides the model; one a thread.
struct SegmentScratch {
  Workspace workspace;
  SegmentKeys keys;
  SlotScratch slots;
  std::vector<double> theta, begin, end, inside, marginals;
};

class SegmentModel {
 public:
  // Throws std::invalid_argument unless everything fits together.
  SegmentModel(std::shared_ptr<const SegmentFeatures> features, SegmentWeights weights);

  const SegmentFeatures& features() const { return *features_; }
  std::shared_ptr<const SegmentFeatures> shared_features() const { return features_; }
  const SegmentWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }
  std::size_t max_length() const { return weights_.max_length; }

  // Scores of the segments of a sentence into scratch.theta (L, max_length, K).
  void score(SegmentExtractor&, std::size_t sentence, SegmentScratch&) const;

  // Weights of a feature for all labels, added to out (K).
  void weights_of(std::uint64_t key, double* out) const;

  // The questions of a SemiMarkov about them. An output is a row of L labels, -1 where a segment
  // goes on; marginals, of shape theta, go to scratch.marginals.
  double argmax(std::size_t L, SegmentScratch&, Output& y) const;
  double marginals(std::size_t L, SegmentScratch&, double temperature) const;
  std::vector<std::pair<double, Output>> kbest(std::size_t L, SegmentScratch&, std::size_t n) const;
  std::vector<Output> sample(std::size_t L, SegmentScratch&, double temperature, std::size_t n,
                             std::uint64_t seed) const;
  double entropy(std::size_t L, SegmentScratch&, double temperature) const;

 private:
  Arranged arrange(std::size_t L, const SegmentScratch&) const;

  std::shared_ptr<const SegmentFeatures> features_;
  SegmentWeights weights_;
  SemiMarkov structure_;
};

// How the labels of the model are written at the first token of a segment and at the others.
struct SegmentNames {
  std::vector<std::string> first, later;
};

struct SegmentOptions {
  std::size_t target = 0;    // the column of the labels
  std::size_t columns = 0;   // of the files the model was trained on
  bool confidence = false;   // a column with the probability of the segment
  double temperature = 1.0;  // of the probabilities
  char lone = ' ';           // as in LabelOptions
  static constexpr bool marginals = false;
};

// Labels pieces of text one after another. Not to be shared between threads.
class SegmentLabeller {
 public:
  SegmentLabeller(const SegmentModel& model, const SegmentNames& names, Format format,
                  SegmentOptions options);

  // Appends the text, which ends where a sentence ends, with its labels. `line` is the number of
  // lines before it. Throws BadLine.
  void label(std::string_view text, std::size_t line, std::string& out);
  // Appends what is found for the tokens of the sentences [first, last) of a corpus. Throws
  // BadLine.
  void answer(const Corpus&, std::size_t first, std::size_t last, std::vector<Answer>& out);

  std::size_t tokens() const { return tokens_; }
  // Columns of the text; 0 before any token was seen.
  void expect(const LineShape& shape) {
    if (corpus_.format() == Format::kColumns) corpus_.expect(shape);
  }
  LineShape shape() const { return corpus_.shape(); }

 private:
  void decide(SegmentExtractor&, std::size_t sentence, std::size_t L);
  void probabilities(std::size_t L);
  const std::string& written(std::size_t position);

  const SegmentModel& model_;
  const SegmentNames& names_;
  SegmentOptions options_;
  Corpus corpus_;
  SegmentExtractor extractor_;
  SegmentScratch scratch_;
  Output output_;
  std::size_t label_ = 0;            // of the segment that the last token asked for is in
  std::vector<double> probability_;  // of the segment of each token
  std::vector<std::pair<std::string, std::string>> extra_;
  std::size_t tokens_ = 0;
};

}  // namespace structlearn::text
