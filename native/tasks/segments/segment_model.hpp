// A trained recogniser of segments, and the sentences of a corpus as the segmentations it scores.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/array_views.hpp"
#include "structures/chains/semimarkov.hpp"
#include "tasks/tagging/label_reader.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/weight_table.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// Label 0 stands for what is outside: its segments have one token.
struct SegmentWeights {
  std::size_t labels = 0, max_length = 0;
  WeightTable table;
  std::vector<double> start, end, transition;
};

// The arrays of a model, and their types in files.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSegmentArrays = {
    {{"segment.slots", "U64"},
     {"segment.weight", "F32"},
     {"segment.outcome", "U32"},
     {"start", "F64"},
     {"end", "F64"},
     {"transition", "F64"}}};

// How the labels, "O" and then the types, are written at the first tokens of segments, and after
// these at the others. Throws std::invalid_argument if they are others.
LabelNames segment_names(const std::vector<std::string>& labels);

// Weights that borrow the arrays. Throws std::invalid_argument.
SegmentWeights segment_weights(const ArrayViews&, std::size_t labels, std::size_t max_length);

class SegmentModel {
 public:
  // Throws std::invalid_argument unless everything fits together.
  SegmentModel(std::shared_ptr<const FeatureSet> features, SegmentWeights weights);

  const FeatureSet& features() const { return *features_; }
  std::shared_ptr<const FeatureSet> shared_features() const { return features_; }
  const SegmentWeights& weights() const { return weights_; }
  std::size_t labels() const { return weights_.labels; }
  // Additions for a token, roughly.
  std::size_t steps() const { return chain_steps(labels(), 1) + labels() * max_length(); }
  std::size_t max_length() const { return weights_.max_length; }

  // Weights of a feature for all labels, added to out (K).
  void weights_of(std::uint64_t key, double* out) const;

 private:
  std::shared_ptr<const FeatureSet> features_;
  SegmentWeights weights_;
};

// The sentences of a corpus as the segmentations that a model scores. An output is a row of
// labels, -1 where a segment goes on.
class SegmentReader final : public LabelReader {
 public:
  SegmentReader(const SegmentModel&, const Corpus&);
  void update() override { extractor_.update(); }
  void forget() override { extractor_.forget(); }

  const Scored& scores(std::size_t sentence, Purpose) override;
  bool to_structure(Output& y) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t label) const override;
  std::size_t find(const Part&) const override;
  // Tokens after the first of a segment have the labels from model.labels() on.
  void to_labels(Output& y) const override;

 private:
  const SegmentModel& model_;
  Extractor extractor_;
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
  std::size_t steps() const override { return corpus_.tokens() * model_.steps(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<SegmentReader>(model_, corpus_);
  }

 private:
  const SegmentModel& model_;
  const Corpus& corpus_;
};

}  // namespace structlearn::text
