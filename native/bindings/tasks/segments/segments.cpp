// Trained recognisers of segments. As for tokens, arrays come and go as buffers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/segments/segment_model.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

struct PySegmentModel final : PyLabelModel {
  std::unique_ptr<SegmentModel> model;

  PySegmentModel(std::shared_ptr<FeatureSet> set, const std::vector<std::string>& labels,
                 std::size_t max_length, nb::dict arrays)
      : PyLabelModel(std::move(set), segment_names(labels)) {
    SegmentWeights w = segment_weights(arrays_of(arrays, kept), labels.size(), max_length);
    model = std::make_unique<SegmentModel>(features, std::move(w));
  }

  std::unique_ptr<LabelReader> reader(const Corpus& corpus) const override {
    return std::make_unique<SegmentReader>(*model, corpus);
  }
  std::size_t steps() const override { return model->steps(); }

  // For each of some segments (begin, end, label) of a sentence, the features that have a weight
  // for its label, by name.
  nb::list explain(
      const Corpus& corpus, std::size_t sentence,
      const std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>& segments) const {
    check_columns(*features, corpus);
    Extractor extractor(features, corpus);
    extractor.update();
    nb::list out;
    std::vector<double> w;
    for (const auto& [begin, end, label] : segments) {
      check_segment(corpus, sentence, begin, end);
      if (label >= model->labels()) throw nb::index_error("no such label");
      nb::list found;
      for (const auto& [name, key] : extractor.named(sentence, begin, end)) {
        w.assign(model->labels(), 0.0);
        model->weights_of(key, w.data());
        if (w[label] != 0.0) found.append(nb::make_tuple(text_of(name), w[label]));
      }
      out.append(found);
    }
    return out;
  }
};

PyInputs segment_inputs(nb::object self, nb::object corpus) {
  const auto& owner = nb::cast<const PySegmentModel&>(self);
  const auto& sentences = nb::cast<const Corpus&>(corpus);
  check_columns(*owner.features, sentences);
  return {nb::make_tuple(self, corpus), std::make_unique<SegmentInputs>(*owner.model, sentences)};
}

}  // namespace

void bind_segments(nb::module_& m) {
  m.def("segment_arrays", [] {
    return std::vector<std::pair<std::string, std::string>>(kSegmentArrays.begin(),
                                                            kSegmentArrays.end());
  });
  nb::class_<PySegmentModel, PyLabelModel>(m, "SegmentModel")
      .def(nb::init<std::shared_ptr<FeatureSet>, const std::vector<std::string>&, std::size_t,
                    nb::dict>(),
           nb::arg("features"), nb::arg("labels"), nb::arg("max_length"), nb::arg("arrays"))
      .def_prop_ro("written", [](const PySegmentModel& self) { return self.names.labels; })
      .def("inputs", &segment_inputs, nb::arg("corpus"))
      .def("unpack",
           [](const PySegmentModel& self) {
             const SegmentWeights& w = self.model->weights();
             const UnpackedWeights u = unpack(w.table, w.labels);
             return nb::make_tuple(to_bytes(u.keys), to_bytes(u.row_ptr), to_bytes(u.column),
                                   to_bytes(u.weight));
           })
      .def("explain", &PySegmentModel::explain, nb::arg("corpus"), nb::arg("sentence"),
           nb::arg("segments"));
}

}  // namespace structlearn::python
