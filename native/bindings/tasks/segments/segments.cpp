// Features of segments and recognisers of them. As for tokens, arrays come and go as buffers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/tasks/tagging/labelling.hpp"
#include "tasks/segments/segment_model.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

SegmentAtom::Place place_of(const std::string& name) {
  using Place = SegmentAtom::Place;
  if (name == "begin") return Place::kBegin;
  if (name == "end") return Place::kEnd;
  if (name == "inside") return Place::kInside;
  if (name == "whole") return Place::kWhole;
  if (name == "length") return Place::kLength;
  throw std::invalid_argument("there is no place '" + name + "' in a segment");
}

std::shared_ptr<SegmentFeatures> make_features(std::shared_ptr<FeatureSet> attributes,
                                               nb::list templates) {
  std::vector<SegmentTemplate> made;
  for (nb::handle spec : templates) {
    const auto fields = nb::cast<nb::tuple>(spec);
    SegmentTemplate t;
    t.text = nb::cast<std::string>(fields[0]);
    for (const auto& [place, attribute, offset] :
         nb::cast<std::vector<std::tuple<std::string, std::size_t, std::ptrdiff_t>>>(fields[1])) {
      t.atoms.push_back({place_of(place), attribute, offset});
    }
    t.mark_boundaries = nb::cast<bool>(fields[2]);
    made.push_back(std::move(t));
  }
  return std::make_shared<SegmentFeatures>(std::move(attributes), std::move(made));
}

void check_span(const Corpus& corpus, std::size_t sentence, std::size_t begin, std::size_t end,
                std::size_t max_length) {
  check_sentence(corpus, sentence);
  const std::size_t n = corpus.sentence(sentence + 1) - corpus.sentence(sentence);
  if (begin >= end || end > n || end - begin > max_length) throw nb::index_error("no such segment");
}

// The extractor borrows the corpus, which Python keeps alive beside it.
struct PySegmentExtractor {
  const Corpus& corpus;
  SegmentExtractor extractor;
  PySegmentExtractor(std::shared_ptr<SegmentFeatures> features, const Corpus& from,
                     std::size_t max_length, bool training)
      : corpus(from), extractor(std::move(features), from, max_length, training) {
    extractor.update();
  }

  nb::list names(std::size_t sentence, std::size_t begin, std::size_t end) {
    check_span(corpus, sentence, begin, end, extractor.max_length());
    nb::list out;
    for (const auto& [name, key] : extractor.named(sentence, begin, end)) {
      out.append(text_of(name));
    }
    return out;
  }

  std::vector<std::uint64_t> keys(std::size_t sentence, std::size_t begin, std::size_t end) {
    check_span(corpus, sentence, begin, end, extractor.max_length());
    SegmentKeys keys;
    extractor.keys(sentence, keys);
    std::vector<std::uint64_t> out;
    const auto add = [&](const Keys& part, std::size_t row) {
      const auto first = part.key.begin();
      out.insert(out.end(), first + (row == 0 ? 0 : part.end[row - 1]), first + part.end[row]);
    };
    add(keys.begin, begin);
    add(keys.end, end - 1);
    for (std::size_t t = begin; t < end; ++t) add(keys.inside, t);
    add(keys.both, begin * extractor.max_length() + (end - begin - 1));
    return out;
  }
};

// The tokens at which the segments of a corpus begin.
std::vector<std::uint8_t> read_starts(nb::handle starts, const Corpus& corpus) {
  const Bytes bytes(starts);
  const auto marks = bytes.as<std::uint8_t>("starts");
  if (marks.size() != corpus.tokens()) throw std::invalid_argument("starts");
  return {marks.begin(), marks.end()};
}

nb::list find_segment_names(PySegmentExtractor& from, nb::handle starts, nb::handle wanted) {
  const auto marks = read_starts(starts, from.corpus);
  const Bytes keys(wanted);
  const auto asked = keys.as<std::uint64_t>("keys");
  std::vector<std::string> names;
  {
    nb::gil_scoped_release release;
    names = find_names(from.extractor, from.corpus, marks, asked);
  }
  nb::list out;
  for (const std::string& name : names) out.append(text_of(name));
  return out;
}

nb::dict segment_rows(const SegmentVocabulary& vocabulary, PySegmentExtractor& from) {
  SegmentRows rows;
  {
    nb::gil_scoped_release release;
    vocabulary.rows(from.extractor, from.corpus, rows);
  }
  nb::dict d;
  d["site"] = to_numpy(std::move(rows.site));
  d["begin"] = to_numpy(std::move(rows.begin));
  d["feature"] = to_numpy(std::move(rows.feature));
  return d;
}

struct PySegmentModel {
  PySegmentModel(const PySegmentModel&) = delete;
  std::vector<Bytes> keep;
  std::unique_ptr<SegmentModel> model;

  PySegmentModel(std::shared_ptr<SegmentFeatures> features, std::size_t labels,
                 std::size_t max_length, nb::dict arrays) {
    keep.reserve(6);  // spans into the buffers must not move
    const auto get = [&](const char* name) -> const Bytes& {
      keep.emplace_back(arrays[name]);
      return keep.back();
    };
    const auto numbers = [&](const char* name) {
      const auto values = get(name).as<double>(name);
      for (const double x : values) {
        if (!std::isfinite(x)) throw std::invalid_argument(std::string(name) + " is not finite");
      }
      return std::vector<double>(values.begin(), values.end());
    };
    SegmentWeights w;
    w.labels = labels;
    w.max_length = max_length;
    w.table.slots = get("segment.slots").as<std::uint64_t>("slots");
    w.table.weight = get("segment.weight").as<float>("weight");
    w.table.outcome = get("segment.outcome").as<std::uint32_t>("outcome");
    w.start = numbers("start");
    w.end = numbers("end");
    w.transition = numbers("transition");
    model = std::make_unique<SegmentModel>(std::move(features), std::move(w));
  }

  void check(const Corpus& corpus) const { check_columns(model->features().attributes(), corpus); }

  // For each of some segments (begin, end, label) of a sentence, the features that have a weight
  // for its label, by name.
  nb::list explain(
      const Corpus& corpus, std::size_t sentence,
      const std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>& segments) const {
    check(corpus);
    SegmentExtractor extractor(model->shared_features(), corpus, model->max_length());
    extractor.update();
    nb::list out;
    std::vector<double> w;
    for (const auto& [begin, end, label] : segments) {
      check_span(corpus, sentence, begin, end, model->max_length());
      if (label >= model->labels()) throw nb::index_error("no such label");
      nb::list features;
      for (const auto& [name, key] : extractor.named(sentence, begin, end)) {
        w.assign(model->labels(), 0.0);
        model->weights_of(key, w.data());
        if (w[label] != 0.0) features.append(nb::make_tuple(text_of(name), w[label]));
      }
      out.append(features);
    }
    return out;
  }
};

PyInputs inputs(nb::object self, nb::object corpus) {
  const auto& owner = nb::cast<const PySegmentModel&>(self);
  const auto& sentences = nb::cast<const Corpus&>(corpus);
  owner.check(sentences);
  return {nb::make_tuple(self, corpus), std::make_unique<SegmentInputs>(*owner.model, sentences)};
}

struct PySegmentLabeller {
  std::shared_ptr<PySegmentModel> model;
  SegmentNames names;
  Format format = Format::kColumns;
  SegmentOptions options;
  std::unique_ptr<PieceLabeller<SegmentLabeller>> pieces;
};

}  // namespace

void bind_segments(nb::module_& m) {
  nb::class_<SegmentFeatures>(m, "SegmentFeatures")
      .def(nb::new_(&make_features), nb::arg("attributes"), nb::arg("templates"))
      .def_prop_ro("columns_needed",
                   [](const SegmentFeatures& f) { return f.attributes().columns_needed(); });

  nb::class_<PySegmentExtractor>(m, "SegmentExtractor")
      .def(
          "__init__",
          [](PySegmentExtractor* self, std::shared_ptr<SegmentFeatures> features,
             const Corpus& corpus, std::size_t max_length, bool training) {
            if (max_length == 0) throw std::invalid_argument("max_length must be at least 1");
            check_columns(features->attributes(), corpus);
            new (self) PySegmentExtractor(std::move(features), corpus, max_length, training);
          },
          nb::arg("features"), nb::arg("corpus"), nb::arg("max_length"), nb::arg("training"),
          nb::keep_alive<1, 3>())
      .def("names", &PySegmentExtractor::names, nb::arg("sentence"), nb::arg("begin"),
           nb::arg("end"))
      .def("keys", &PySegmentExtractor::keys, nb::arg("sentence"), nb::arg("begin"), nb::arg("end"))
      .def("find_names", &find_segment_names, nb::arg("starts"), nb::arg("keys"));

  nb::class_<SegmentVocabulary>(m, "SegmentVocabulary")
      .def(nb::init<>())
      .def(
          "add",
          [](SegmentVocabulary& self, PySegmentExtractor& from, nb::handle starts) {
            const auto marks = read_starts(starts, from.corpus);
            nb::gil_scoped_release release;
            self.add(from.extractor, from.corpus, marks);
          },
          nb::arg("extractor"), nb::arg("starts"))
      .def("keep", &SegmentVocabulary::keep, nb::arg("min_count"))
      .def("counts",
           [](const SegmentVocabulary& v) {
             return nb::make_tuple(to_bytes(v.index().keys()), to_bytes(v.index().counts()));
           })
      .def(
          "add_counts",
          [](SegmentVocabulary& self, nb::handle keys, nb::handle times) {
            const Bytes k(keys), t(times);
            const auto key = k.as<std::uint64_t>("keys");
            const auto often = t.as<std::uint32_t>("times");
            if (key.size() != often.size()) throw std::invalid_argument("keys without counts");
            for (std::size_t f = 0; f < key.size(); ++f) self.add(key[f], often[f]);
          },
          nb::arg("keys"), nb::arg("times"))
      .def("rows", &segment_rows, nb::arg("extractor"))
      .def_prop_ro("size", [](const SegmentVocabulary& v) { return v.index().size(); })
      .def("keys", [](const SegmentVocabulary& v) { return to_bytes(v.index().keys()); });

  nb::class_<PySegmentModel>(m, "SegmentModel")
      .def(nb::init<std::shared_ptr<SegmentFeatures>, std::size_t, std::size_t, nb::dict>(),
           nb::arg("features"), nb::arg("labels"), nb::arg("max_length"), nb::arg("arrays"))
      .def("inputs", &inputs, nb::arg("corpus"))
      .def("explain", &PySegmentModel::explain, nb::arg("corpus"), nb::arg("sentence"),
           nb::arg("segments"));

  auto labeller =
      nb::class_<PySegmentLabeller>(m, "SegmentLabeller")
          .def(
              "__init__",
              [](PySegmentLabeller* self, std::shared_ptr<PySegmentModel> model,
                 std::vector<std::string> first, std::vector<std::string> later,
                 const std::string& format, std::size_t target, std::size_t columns,
                 bool confidence, double temperature, const std::vector<double>& certainty,
                 char lone) {
                const Format read = format_of(format);
                if (first.size() != model->model->labels() || later.size() != first.size()) {
                  throw std::invalid_argument("a name for every label is needed");
                }
                new (self) PySegmentLabeller;
                self->model = std::move(model);
                self->names = {std::move(first), std::move(later)};
                self->format = read;
                self->options = {target, columns, confidence, temperature, Confidence(certainty),
                                 lone};
                self->pieces = std::make_unique<PieceLabeller<SegmentLabeller>>([self] {
                  return std::make_unique<SegmentLabeller>(*self->model->model, self->names,
                                                           self->format, self->options);
                });
              },
              nb::arg("model"), nb::arg("first"), nb::arg("later"), nb::arg("format"),
              nb::arg("target"), nb::arg("columns"), nb::arg("confidence"), nb::arg("temperature"),
              nb::arg("certainty"), nb::arg("lone") = ' ');
  bind_labelling<PySegmentLabeller>(labeller);
  bind_answers<PySegmentLabeller>(labeller);
}

}  // namespace structlearn::python
