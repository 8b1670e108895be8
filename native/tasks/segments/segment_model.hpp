// A trained recogniser of segments: scores all segments of a sentence, cuts it into the best ones,
// and writes them back as labels of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/reader.hpp"
#include "structures/chains/semimarkov.hpp"
#include "tasks/segments/segments.hpp"
#include "tasks/tagging/labeller.hpp"

namespace structlearn::text {

// Label 0 stands for what is outside: its segments have one token.
struct SegmentWeights {
  std::size_t labels = 0, max_length = 0;
  WeightTable table;
  std::vector<double> start, end, transition;
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

  // Weights of a feature for all labels, added to out (K).
  void weights_of(std::uint64_t key, double* out) const;

 private:
  std::shared_ptr<const SegmentFeatures> features_;
  SegmentWeights weights_;
};

// The sentences of a corpus as the segmentations that a model scores. An output is a row of
// labels, -1 where a segment goes on.
class SegmentReader final : public Reader {
 public:
  // With more strings in the corpus call update; forget where it has lost all.
  SegmentReader(const SegmentModel&, const Corpus&);
  void update() { extractor_.update(); }
  void forget() { extractor_.forget(); }
  SegmentExtractor& extractor() { return extractor_; }

  const Scored& scores(std::size_t sentence, Purpose) override;
  bool to_structure(Output& y) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t label) const override;
  std::size_t find(const Part&) const override;

 private:
  const SegmentModel& model_;
  SegmentExtractor extractor_;
  SemiMarkov structure_;
  Scored scored_;
  SegmentKeys keys_;
  SlotScratch slots_;
  std::vector<double> theta_, begin_, end_, inside_, sum_;
};

// The sentences of a corpus, to be asked about.
class SegmentInputs final : public Inputs {
 public:
  SegmentInputs(const SegmentModel& model, const Corpus& corpus) : model_(model), corpus_(corpus) {}
  std::size_t size() const override { return corpus_.sentences(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<SegmentReader>(model_, corpus_);
  }

 private:
  const SegmentModel& model_;
  const Corpus& corpus_;
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
  Confidence certainty;      // as in LabelOptions
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
  void decide(SegmentReader&, std::size_t sentence, std::size_t L);
  const std::string& written(std::size_t position);

  const SegmentModel& model_;
  const SegmentNames& names_;
  SegmentOptions options_;
  Corpus corpus_;
  SegmentReader reader_;
  Output output_;
  std::size_t label_ = 0;            // of the segment that the last token asked for is in
  std::vector<double> probability_;  // of the segment of each token
  std::vector<std::pair<std::string, std::string>> extra_;
  std::size_t tokens_ = 0;
};

}  // namespace structlearn::text
