// Models that label tokens as Python holds them: the native model with the buffers that it reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bindings/buffers.hpp"
#include "structures/chains/constrained_sequence.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/reader.hpp"

namespace structlearn::python {

// Automata over the labels of a model, which share what is worked out of them.
struct PyLabelConstraints {
  std::shared_ptr<const ConstrainedSequence> structure;
  std::size_t labels = 0;
};

class PyLabelModel {
 public:
  // `shown`: how each label is written.
  PyLabelModel(std::shared_ptr<const text::FeatureSet> set, std::vector<std::string> labels,
               const std::vector<std::string>& shown)
      : features(std::move(set)) {
    if (labels.size() != shown.size()) throw std::invalid_argument("a name for every label");
    names.labels = std::move(labels);
    names.names = shown;
    std::sort(names.names.begin(), names.names.end());
    names.names.erase(std::unique(names.names.begin(), names.names.end()), names.names.end());
    for (const std::string& name : shown) names.name_of.push_back(names.find(name));
    keep_.reserve(32);  // spans into the buffers must not move
  }
  PyLabelModel(const PyLabelModel&) = delete;
  virtual ~PyLabelModel() = default;
  virtual std::unique_ptr<text::LabelReader> reader(const text::Corpus&) const = 0;
  // Additions for a token, roughly.
  virtual std::size_t steps() const = 0;

  std::shared_ptr<const text::FeatureSet> features;
  text::LabelNames names;

 protected:
  // An array of the model; empty if there is none.
  template <class T>
  std::span<const T> array(nb::dict arrays, const std::string& name) {
    if (arrays.contains(name.c_str())) {
      keep_.emplace_back(arrays[name.c_str()]);
    } else {
      keep_.emplace_back();
    }
    return keep_.back().as<T>(name.c_str());
  }
  text::WeightTable table(nb::dict arrays, const std::string& prefix) {
    text::WeightTable t;
    t.slots = array<std::uint64_t>(arrays, prefix + ".slots");
    t.weight = array<float>(arrays, prefix + ".weight");
    t.outcome = array<std::uint32_t>(arrays, prefix + ".outcome");
    return t;
  }
  // Scores; -inf rules something out.
  std::vector<double> scores(nb::dict arrays, const std::string& name) {
    const auto values = array<double>(arrays, name);
    for (const double x : values) {
      if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) {
        throw std::invalid_argument(name + " has a score that is not a number");
      }
    }
    return {values.begin(), values.end()};
  }

 private:
  std::vector<Bytes> keep_;
};

struct PyModel final : PyLabelModel {
  std::unique_ptr<text::TaggerModel> model;

  PyModel(std::shared_ptr<text::FeatureSet> set, std::vector<std::string> labels,
          const std::vector<std::string>& shown, std::size_t order, bool hashed, nb::dict arrays,
          std::size_t candidates)
      : PyLabelModel(std::move(set), std::move(labels), shown) {
    std::vector<std::string_view> sorted(names.labels.begin(), names.labels.end());
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw std::invalid_argument("a label is there twice");
    }
    text::TaggerWeights w;
    w.labels = names.labels.size();
    w.order = order;
    w.state = table(arrays, "state");
    w.state.hashed = hashed;
    w.pair = table(arrays, "pair");
    w.start = scores(arrays, "start");
    w.end = scores(arrays, "end");
    if (order > 4) throw std::invalid_argument("the order is above 4");
    w.candidates = candidates;
    for (std::size_t m = 1; m <= order; ++m) {
      const std::string name = "transition" + std::to_string(m);
      if (candidates > 0) {
        w.windows.push_back(table(arrays, name));
      } else {
        w.transition.push_back(scores(arrays, name));
      }
    }
    if (candidates > 0) {
      w.first = table(arrays, "first");
      w.first.hashed = hashed;
      w.forbidden = ForbiddenLabels(array<std::uint8_t>(arrays, "forbidden"), w.labels);
    }
    model = std::make_unique<text::TaggerModel>(features, std::move(w));
  }

  std::unique_ptr<text::LabelReader> reader(const text::Corpus& corpus) const override {
    return std::make_unique<text::TaggerReader>(*model, corpus);
  }
  std::size_t steps() const override { return model->steps(); }
};

}  // namespace structlearn::python
