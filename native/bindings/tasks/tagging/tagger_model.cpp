// Trained taggers. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/json.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/signals.hpp"
#include "bindings/tasks/tagging/labelling.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/tagging/agreeing_tags.hpp"
#include "tasks/tagging/constrained_reader.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// The sentences of a corpus with the labels that are known beforehand, which are copied.
class KnownInputs final : public Inputs {
 public:
  KnownInputs(const PyModel& owner, const Corpus& corpus, std::span<const std::int32_t> known,
              bool chooses)
      : known_(known.begin(), known.end()),
        inputs_(*owner.model, corpus, {owner.names.name_of, known_, chooses}) {}
  std::size_t size() const override { return inputs_.size(); }
  std::size_t steps() const override { return inputs_.steps(); }
  std::unique_ptr<Reader> reader() const override { return inputs_.reader(); }

 private:
  std::vector<std::int32_t> known_;
  TaggerInputs inputs_;
};

PyInputs tagger_inputs(nb::object self, nb::object corpus, nb::handle known, bool chooses) {
  const auto& owner = nb::cast<const PyModel&>(self);
  const auto& sentences = nb::cast<const Corpus&>(corpus);
  check_columns(owner.model->features(), sentences);
  const Bytes bytes(known);
  const auto names = bytes.as<std::int32_t>("known");
  if (!names.empty() && names.size() != sentences.tokens()) {
    throw std::invalid_argument("known must have one label a token");
  }
  return {nb::make_tuple(self, corpus),
          std::make_unique<KnownInputs>(owner, sentences, names, chooses)};
}

// Token by token, each feature's name and its weight for every label; or, from the second token on,
// for every pair of the label before and its own.
nb::list tagger_features(const PyModel& self, const Corpus& corpus, std::size_t sentence,
                         bool pairs) {
  check_columns(self.model->features(), corpus);
  check_sentence(corpus, sentence);
  Extractor extractor(self.model->shared_features(), corpus);
  extractor.update();
  Keys keys;
  extractor.keys(sentence, pairs, keys);
  nb::list out;
  const std::size_t K = self.names.labels.size();
  std::size_t j = 0;
  for (std::size_t t = 0; t < keys.end.size(); ++t) {
    nb::list token;
    for (; j < keys.end[t]; ++j) {
      std::vector<double> w(pairs ? K * K : K, 0.0);
      self.model->weights_of(keys.key[j], pairs, w.data());
      if (!keys.value.empty()) {
        for (double& x : w) x *= keys.value[j];
      }
      const std::string name =
          extractor.name(sentence, t + (pairs ? 1 : 0), keys.origin[j], keys.key[j]);
      token.append(nb::make_tuple(text_of(name), nb::cast(w)));
    }
    out.append(token);
  }
  return out;
}

struct PyLabeller {
  std::shared_ptr<PyLabelModel> model;
  std::shared_ptr<PyLabelConstraints> constraints;  // null: none
  Format format = Format::kColumns;
  LabelOptions options;
  std::unique_ptr<PieceLabeller<Labeller>> pieces;
};

// Taggers that agree as a model whose labels are the combinations.
class PyAgreeingTags final : public PyLabelModel {
 public:
  PyAgreeingTags(const std::vector<std::shared_ptr<PyModel>>& models,
                 const std::vector<double>& temperatures, nb::list labels,
                 const std::vector<std::string>& combinations, std::size_t exact)
      : PyLabelModel(models.empty() ? nullptr : models[0]->features,
                     label_names(combinations, combinations, true)),
        models_(models) {
    if (temperatures.size() != models.size() || nb::len(labels) != models.size()) {
      throw std::invalid_argument("a temperature and a column of labels a model");
    }
    std::vector<AgreeingTagger> taggers;
    for (std::size_t i = 0; i < models.size(); ++i) {
      check_temperature(temperatures[i]);
      taggers.push_back(
          {models[i]->model.get(), temperatures[i], copied<std::uint32_t>(labels[i], "labels")});
    }
    tags_ = std::make_unique<AgreeingTags>(std::move(taggers), exact);
  }

  std::unique_ptr<LabelReader> reader(const Corpus& corpus) const override {
    return std::make_unique<AgreeingReader>(*tags_, corpus);
  }
  std::size_t steps() const override { return tags_->steps(); }

  nb::bytes choose(const Corpus& corpus, std::size_t threads) const {
    for (const auto& model : models_) check_columns(model->model->features(), corpus);
    std::vector<std::uint32_t> chosen;
    interruptible(
        [&](Interrupt& interrupt) { chosen = tags_->choose(corpus, threads, interrupt); });
    return to_bytes(chosen);
  }

 private:
  std::vector<std::shared_ptr<PyModel>> models_;
  std::unique_ptr<AgreeingTags> tags_;
};

// The arrays of a model file as the model takes them, and of each table of rounded weights the
// numbers of the features that have some.
nb::tuple arrays_of_file(nb::dict tensors, std::size_t labels, std::size_t order,
                         std::size_t candidates, bool hashed, const std::string& precision) {
  std::vector<Bytes> kept;
  const Tensors given = tensors_of(tensors, kept);
  const TaggerArrays found = tagger_arrays(given, {labels, order, candidates, hashed}, precision);
  nb::dict arrays, numbers;
  for (const auto& [name, bytes] : found.arrays) {
    const auto own = given.find(name);
    if (own != given.end() && own->second.data.data() == bytes.data()) {
      arrays[name.c_str()] = tensors[name.c_str()][1];
    } else {
      arrays[name.c_str()] = nb::bytes(bytes.data(), bytes.size());
    }
  }
  for (const auto& [table, features] : found.kept) numbers[table.c_str()] = to_bytes(features);
  return nb::make_tuple(arrays, numbers);
}

}  // namespace

void bind_tagger_model(nb::module_& m) {
  m.def("tagger_arrays", &arrays_of_file, nb::arg("tensors"), nb::arg("labels"), nb::arg("order"),
        nb::arg("candidates"), nb::arg("hashed"), nb::arg("precision"));
  m.def(
      "stored_lexica",
      [](nb::handle given, nb::dict tensors) {
        std::vector<Bytes> kept;
        nb::dict lexica;
        for (auto& [name, lexicon] : stored_lexica(json_of(given), tensors_of(tensors, kept))) {
          lexica[name.c_str()] = std::const_pointer_cast<Lexicon>(lexicon);
        }
        return lexica;
      },
      nb::arg("lexica"), nb::arg("tensors"));
  m.def(
      "stored_vectors",
      [](nb::handle given, nb::dict tensors) {
        std::vector<Bytes> kept;
        nb::dict vectors;
        for (const auto& [name, one] : stored_vectors(json_of(given), tensors_of(tensors, kept))) {
          vectors[name.c_str()] = nb::make_tuple(one.names, one.tensor, one.width);
        }
        return vectors;
      },
      nb::arg("vectors"), nb::arg("tensors"));
  nb::class_<PyLabelModel>(m, "LabelModel");
  nb::class_<PyModel, PyLabelModel>(m, "TaggerModel")
      .def(nb::init<std::shared_ptr<FeatureSet>, std::vector<std::string>,
                    const std::vector<std::string>&, std::size_t, bool, nb::dict, std::size_t>(),
           nb::arg("features"), nb::arg("labels"), nb::arg("shown"), nb::arg("order"),
           nb::arg("hashed"), nb::arg("arrays"), nb::arg("candidates") = 0)
      .def_prop_ro("labels", [](const PyModel& self) { return self.names.labels; })
      .def_prop_ro("names", [](const PyModel& self) { return self.names.names; })
      .def_prop_ro("name_of", [](const PyModel& self) { return self.names.name_of; })
      .def(
          "unpack",
          [](const PyModel& self, std::string_view name) {
            const auto [table, outcomes] = self.model->table(name);
            const UnpackedWeights u = unpack(*table, outcomes);
            return nb::make_tuple(to_bytes(u.keys), to_bytes(u.row_ptr), to_bytes(u.column),
                                  to_bytes(u.weight));
          },
          nb::arg("table"))
      .def("inputs", &tagger_inputs, nb::arg("corpus"), nb::arg("known") = nb::bytes("", 0),
           nb::arg("chooses") = true)
      .def("features_of", &tagger_features, nb::arg("corpus"), nb::arg("sentence"),
           nb::arg("pairs"));

  nb::class_<PyAgreeingTags, PyLabelModel>(m, "AgreeingTags")
      .def(nb::init<const std::vector<std::shared_ptr<PyModel>>&, const std::vector<double>&,
                    nb::list, const std::vector<std::string>&, std::size_t>(),
           nb::arg("models"), nb::arg("temperatures"), nb::arg("labels"), nb::arg("combinations"),
           nb::arg("exact") = AgreeingTags::kExact)
      .def("choose", &PyAgreeingTags::choose, nb::arg("corpus"), nb::arg("threads"));

  auto labeller =
      nb::class_<PyLabeller>(m, "Labeller")
          .def(
              "__init__",
              [](PyLabeller* self, std::shared_ptr<PyLabelModel> model, const std::string& format,
                 std::vector<std::size_t> targets, std::size_t columns, std::size_t nbest,
                 bool confidence, bool marginals, bool known, double temperature,
                 const std::vector<double>& certainty, std::string unknown, char lone,
                 std::shared_ptr<PyLabelConstraints> constraints, bool appends, bool scores,
                 std::vector<std::uint8_t> boundaries, std::vector<std::int32_t> chunk_types,
                 const std::vector<double>& chunk_certainty) {
                const Format read = format_of(format);
                new (self) PyLabeller;
                self->model = std::move(model);
                self->constraints = std::move(constraints);
                self->format = read;
                if (targets.empty()) throw std::invalid_argument("there is no column of labels");
                self->options = {std::move(targets),
                                 columns,
                                 {nbest, confidence, marginals, scores, temperature},
                                 known,
                                 Confidence(certainty),
                                 std::move(unknown),
                                 lone,
                                 appends,
                                 {std::move(boundaries), std::move(chunk_types)},
                                 Confidence(chunk_certainty)};
                const std::size_t names = self->options.boundaries.type.size();
                if (names != 0 && names != self->model->names.names.size()) {
                  throw std::invalid_argument("chunks have other labels than the model");
                }
                if (self->options.boundaries.between.size() != (names + (names > 0)) * names) {
                  throw std::invalid_argument("there is a boundary between any two labels");
                }
                self->pieces = std::make_unique<PieceLabeller<Labeller>>([self] {
                  const PyLabelModel& model = *self->model;
                  const PyLabelConstraints* constraints = self->constraints.get();
                  const auto reader =
                      [&model, constraints](const Corpus& c) -> std::unique_ptr<LabelReader> {
                    std::unique_ptr<LabelReader> free = model.reader(c);
                    if (constraints == nullptr) return free;
                    return std::make_unique<ConstrainedReader>(
                        std::move(free), constraints->structure, constraints->labels);
                  };
                  return std::make_unique<Labeller>(*model.features, reader, model.names,
                                                    self->format, self->options);
                });
              },
              nb::arg("model"), nb::arg("format"), nb::arg("targets"), nb::arg("columns"),
              nb::arg("nbest"), nb::arg("confidence"), nb::arg("marginals"), nb::arg("known"),
              nb::arg("temperature"), nb::arg("certainty"), nb::arg("unknown"),
              nb::arg("lone") = ' ', nb::arg("constraints") = nb::none(),
              nb::arg("appends") = false, nb::arg("scores") = false,
              nb::arg("boundaries") = std::vector<std::uint8_t>{},
              nb::arg("chunk_types") = std::vector<std::int32_t>{},
              nb::arg("chunk_certainty") = std::vector<double>{});
  bind_labelling<PyLabeller>(labeller);
  bind_answers<PyLabeller>(labeller);
}

}  // namespace structlearn::python
