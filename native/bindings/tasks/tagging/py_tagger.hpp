// Models that label tokens as Python holds them: the native model with the buffers that it reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/buffers.hpp"
#include "bindings/models/tensors.hpp"
#include "structures/chains/constrained_sequence.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/reader.hpp"
#include "tasks/tagging/stored_labels.hpp"

namespace structlearn::python {

// Automata over the labels of a model, which share what is worked out of them.
struct PyLabelConstraints {
  std::shared_ptr<const ConstrainedSequence> structure;
  std::size_t labels = 0;
};

class PyLabelModel {
 public:
  PyLabelModel(std::shared_ptr<const text::FeatureSet> set, text::LabelNames labels)
      : features(std::move(set)), names(std::move(labels)) {}
  PyLabelModel(const PyLabelModel&) = delete;
  virtual ~PyLabelModel() = default;
  virtual std::unique_ptr<text::LabelReader> reader(const text::Corpus&) const = 0;
  // Additions for a token, roughly.
  virtual std::size_t steps() const = 0;

  std::shared_ptr<const text::FeatureSet> features;
  text::LabelNames names;

 protected:
  std::vector<Bytes> kept;  // the arrays of the model
};

struct PyModel final : PyLabelModel {
  std::unique_ptr<text::TaggerModel> model;

  PyModel(std::shared_ptr<text::FeatureSet> set, std::vector<std::string> labels,
          const std::vector<std::string>& shown, std::size_t order, bool hashed, nb::dict arrays,
          std::size_t candidates)
      : PyLabelModel(std::move(set), text::label_names(std::move(labels), shown)) {
    const text::TaggerShape shape{names.labels.size(), order, candidates, hashed};
    model = std::make_unique<text::TaggerModel>(
        features, text::tagger_weights(arrays_of(arrays, kept), shape));
  }

  std::unique_ptr<text::LabelReader> reader(const text::Corpus& corpus) const override {
    return std::make_unique<text::TaggerReader>(*model, corpus);
  }
  std::size_t steps() const override { return model->steps(); }
};

}  // namespace structlearn::python
