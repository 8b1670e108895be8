// A tagger as Python holds it: the native model with the buffers that it reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bindings/buffers.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::python {

struct PyModel {
  PyModel(const PyModel&) = delete;
  std::vector<Bytes> keep;
  text::LabelNames names;
  std::unique_ptr<text::TaggerModel> model;

  // `shown`: how each label is written.
  PyModel(std::shared_ptr<text::FeatureSet> features, std::vector<std::string> labels,
          const std::vector<std::string>& shown, std::size_t order, bool hashed, nb::dict arrays,
          std::size_t candidates) {
    if (!std::is_sorted(labels.begin(), labels.end()) || labels.size() != shown.size()) {
      throw std::invalid_argument("the labels are not in sorted order");
    }
    names.labels = std::move(labels);
    names.names = shown;
    std::sort(names.names.begin(), names.names.end());
    names.names.erase(std::unique(names.names.begin(), names.names.end()), names.names.end());
    for (const std::string& name : shown) names.name_of.push_back(names.find(name));
    const auto get = [&](const char* name) -> const Bytes& {
      if (arrays.contains(name)) {
        keep.emplace_back(arrays[name]);
      } else {
        keep.emplace_back();
      }
      return keep.back();
    };
    keep.reserve(32);
    text::TaggerWeights w;
    w.labels = names.labels.size();
    w.order = order;
    const auto table = [&](const std::string& prefix) {
      text::WeightTable t;
      t.slots = get((prefix + ".slots").c_str()).as<std::uint64_t>("slots");
      t.weight = get((prefix + ".weight").c_str()).as<float>("weight");
      t.outcome = get((prefix + ".outcome").c_str()).as<std::uint32_t>("outcome");
      return t;
    };
    w.state = table("state");
    w.state.hashed = hashed;
    w.pair = table("pair");
    const auto vector = [&](const char* name) {
      const auto values = get(name).as<double>(name);
      for (const double x : values) {
        if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) {
          throw std::invalid_argument(std::string(name) + " has a score that is not a number");
        }
      }
      return std::vector<double>(values.begin(), values.end());
    };
    w.start = vector("start");
    w.end = vector("end");
    if (order > 4) throw std::invalid_argument("the order is above 4");
    w.candidates = candidates;
    for (std::size_t m = 1; m <= order; ++m) {
      const std::string name = "transition" + std::to_string(m);
      if (candidates > 0) {
        w.windows.push_back(table(name));
      } else {
        w.transition.push_back(vector(name.c_str()));
      }
    }
    if (candidates > 0) {
      w.first = table("first");
      w.first.hashed = hashed;
      w.forbidden = ForbiddenLabels(get("forbidden").as<std::uint8_t>("forbidden"), w.labels);
    }
    model = std::make_unique<text::TaggerModel>(std::move(features), std::move(w));
  }
};

}  // namespace structlearn::python
