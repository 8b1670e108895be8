// Sentences as the constituent trees that learned weights score. An output of the model is a row of
// (begin, end, label) of its labelled spans, outer before inner; a part is a span with one of the
// names that its label joins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/reader.hpp"
#include "tasks/constituents/span_scorer.hpp"
#include "tasks/constituents/span_trees.hpp"

namespace structlearn::text {

struct SpanModel {
  TreeSizes sizes;
  std::shared_ptr<const FeatureIndex> index;
  std::span<const float> weights;
  std::vector<std::vector<std::uint32_t>> names;  // of each label, no two alike
  std::size_t n_names = 0;
};

class SpanReader final : public Reader {
 public:
  SpanReader(const SpanModel& model, const SpanScorer& scorer) : model_(model), scorer_(scorer) {}

  // Throws std::invalid_argument where sums would take gigabytes.
  const Scored& scores(std::size_t sentence, Purpose) override;
  void to_model(Output& y) const override;
  bool to_structure(Output& y) const override;
  std::size_t names(const Scored&) const override { return model_.n_names; }
  void to_names(std::vector<double>& p) const override;
  std::vector<Part> parts(const Output& y) const override;
  Part part(std::size_t site, std::size_t name) const override;
  std::size_t find(const Part&) const override;
  void forbid(const Scored&, const Part&) const override;

 private:
  std::size_t words() const { return tree_shape(scored_.layout).words(); }

  const SpanModel& model_;
  const SpanScorer& scorer_;
  SpanTrees trees_;
  Scored scored_;
  std::vector<double> theta_;
};

class SpanInputs final : public Inputs {
 public:
  SpanInputs(const SpanModel& model, std::vector<TreeInput> sentences)
      : model_(model), scorer_(model.sizes, model.index, std::move(sentences)) {}
  std::size_t size() const override { return scorer_.examples(); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<SpanReader>(model_, scorer_);
  }

 private:
  const SpanModel& model_;
  SpanScorer scorer_;
};

}  // namespace structlearn::text
