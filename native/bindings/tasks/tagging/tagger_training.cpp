// Learning of taggers. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/signals.hpp"
#include "numeric/random.hpp"
#include "tasks/tagging/integer_perceptron.hpp"
#include "tasks/tagging/weight_table.hpp"
#include "text/vocabulary.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

struct PyPerceptron {
  PyPerceptron() = default;
  PyPerceptron(const PyPerceptron&) = delete;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<double> masks[3];
  std::unique_ptr<IntegerPerceptron> learner;
  std::vector<std::shared_ptr<const IntegerPerceptron::Batch>> batches;
};

std::vector<std::uint32_t> shuffled(std::size_t n, std::uint64_t seed, std::uint64_t stream,
                                    bool shuffle) {
  std::vector<std::uint32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  if (!shuffle) return order;
  Random random(seed, stream);
  for (std::size_t i = n; i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  }
  return order;
}

nb::dict array_dict(const TokenRows& rows) {
  nb::dict d;
  d["sentence"] = to_numpy(rows.sentence);
  d["begin"] = to_numpy(rows.begin);
  d["feature"] = to_numpy(rows.feature);
  d["value"] = to_numpy(rows.value);
  d["label"] = to_numpy(rows.label);
  d["pair_sentence"] = to_numpy(rows.pair_sentence);
  d["pair_begin"] = to_numpy(rows.pair_begin);
  d["pair_feature"] = to_numpy(rows.pair_feature);
  return d;
}

// The names of features in the order of their keys: text, and where each ends. Those first seen
// outside the `sentences` that the extractor has, from number `first` on, get none.
nb::tuple feature_names(const Vocabulary& vocabulary, Extractor& extractor, bool pairs,
                        nb::handle kept, std::size_t first, std::size_t sentences) {
  const Bytes bytes(kept);
  const FeatureIndex& index = pairs ? vocabulary.pair_index() : vocabulary.index();
  const auto& sightings = pairs ? vocabulary.pair_sightings() : vocabulary.sightings();
  const std::vector<std::uint64_t> keys = index.keys();
  const auto wanted = bytes.as<std::uint32_t>("kept");
  std::vector<std::uint32_t> order(wanted.begin(), wanted.end());
  std::sort(order.begin(), order.end());  // sentence by sentence
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const std::uint32_t f : order) {
    if (f >= sightings.size()) throw std::invalid_argument("no such feature");
    const Sighting& s = sightings[f];
    const bool here = s.sentence >= first && s.sentence - first < sentences;
    found.emplace_back(
        keys[f],
        here ? extractor.name(s.sentence - first, s.position, s.origin, keys[f]) : std::string());
  }
  std::sort(found.begin(), found.end());
  std::string text;
  std::vector<std::uint32_t> end;
  for (const auto& named : found) {
    text.append(named.second);
    end.push_back(static_cast<std::uint32_t>(text.size()));
  }
  return nb::make_tuple(nb::bytes(text.data(), text.size()), to_bytes(end));
}

// -- models -------------------------------------------------------------------------------------

}  // namespace

void bind_tagger_training(nb::module_& m) {
  nb::class_<TokenRows>(m, "TokenRows")
      .def(nb::init<>())
      .def_prop_ro("n_sentences", [](const TokenRows& r) { return r.sentence.size() - 1; })
      .def_prop_ro("n_tokens", [](const TokenRows& r) { return r.label.size(); })
      .def_prop_ro("all_labels_known",
                   [](const TokenRows& r) {
                     return std::find(r.label.begin(), r.label.end(), -1) == r.label.end();
                   })
      .def_prop_ro("has_values", [](const TokenRows& r) { return !r.value.empty(); })
      .def("clear", [](TokenRows& r) { r = TokenRows(); })
      .def("arrays", &array_dict);

  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(
          "__init__",
          [](Vocabulary* self, std::shared_ptr<FeatureSet> features, std::size_t target,
             std::size_t width, std::string unknown) {
            new (self) Vocabulary(std::move(features), target, width, std::move(unknown));
          },
          nb::arg("features"), nb::arg("target"), nb::arg("width"), nb::arg("unknown"))
      .def(
          "add",
          [](Vocabulary& v, Extractor& e, const Corpus& c, TokenRows* rows) {
            if (c.tokens() == 0) return;
            check_column(c, v.target());
            nb::gil_scoped_release release;
            v.add(e, c, 0, c.sentences(), rows);
          },
          nb::arg("extractor"), nb::arg("corpus"), nb::arg("rows").none())
      .def(
          "freeze",
          [](Vocabulary& v, std::size_t min_count, std::size_t fill, TokenRows* rows) {
            v.freeze(min_count, fill, rows);
          },
          nb::arg("min_count"), nb::arg("fill"), nb::arg("rows").none())
      .def(
          "rows",
          [](const Vocabulary& v, Extractor& e, const Corpus& c) {
            auto rows = std::make_unique<TokenRows>();
            nb::gil_scoped_release release;
            v.rows(e, c, 0, c.sentences(), *rows);
            return rows;
          },
          nb::arg("extractor"), nb::arg("corpus"))
      .def("add_label", &Vocabulary::add_label, nb::arg("label"))
      .def(
          "add_features",
          [](Vocabulary& v, nb::handle keys, nb::handle row_ptr, nb::handle column) {
            const Bytes k(keys), r(row_ptr), c(column);
            const auto key = k.as<std::uint64_t>("keys");
            const auto row = r.as<std::uint32_t>("row_ptr");
            const auto label = c.as<std::uint32_t>("column");
            if (row.size() != key.size() + 1 || row.back() > label.size()) {
              throw std::invalid_argument("keys and rows do not fit together");
            }
            std::vector<std::uint32_t> labels;
            for (std::size_t f = 0; f < key.size(); ++f) {
              labels.assign(label.begin() + row[f], label.begin() + row[f + 1]);
              v.add_feature(key[f], labels);
            }
          },
          nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"))
      .def_prop_ro("size", &Vocabulary::size)
      .def_prop_ro("pair_size", &Vocabulary::pair_size)
      .def_prop_ro("labels", [](const Vocabulary& v) { return v.labels(); })
      .def_prop_ro("n_weights", [](const Vocabulary& v) { return v.column().size(); })
      .def("keys", [](const Vocabulary& v) { return to_bytes(v.index().keys()); })
      .def("pair_keys", [](const Vocabulary& v) { return to_bytes(v.pair_index().keys()); })
      .def("row_ptr", [](const Vocabulary& v) { return to_bytes(v.row_ptr()); })
      .def("column", [](const Vocabulary& v) { return to_bytes(v.column()); })
      .def("names", &feature_names, nb::arg("extractor"), nb::arg("pairs"), nb::arg("kept"),
           nb::arg("first"), nb::arg("sentences"));

  nb::class_<PyPerceptron>(m, "IntegerPerceptron")
      .def(
          "__init__",
          [](PyPerceptron* self, std::shared_ptr<Vocabulary> vocabulary, bool boundaries,
             nb::handle start, nb::handle end, nb::handle transition) {
            new (self) PyPerceptron;
            self->vocabulary = std::move(vocabulary);
            const Vocabulary& v = *self->vocabulary;
            const std::size_t K = v.labels().size();
            const nb::handle given[3] = {start, end, transition};
            for (std::size_t i = 0; i < 3; ++i) {
              const Bytes bytes(given[i]);
              const auto mask = bytes.as<double>("mask");
              if (!mask.empty() && mask.size() != (i < 2 ? K : K * K)) {
                throw std::invalid_argument("a mask of the wrong size");
              }
              self->masks[i].assign(mask.begin(), mask.end());
            }
            self->learner = std::make_unique<IntegerPerceptron>(
                IntegerPerceptron::Layout{v.row_ptr(), v.column().data(), K, boundaries,
                                          self->masks[0], self->masks[1], self->masks[2]});
          },
          nb::arg("vocabulary"), nb::arg("boundaries"), nb::arg("start_mask"), nb::arg("end_mask"),
          nb::arg("transition_mask"))
      .def(
          "add_batch",
          [](PyPerceptron& self, const TokenRows& rows) {
            auto batch = std::make_shared<IntegerPerceptron::Batch>();
            self.learner->read({rows.sentence, rows.begin, rows.feature, rows.label}, *batch);
            self.batches.push_back(std::move(batch));
          },
          nb::arg("rows"))
      .def(
          "share_batches",
          [](PyPerceptron& self, const PyPerceptron& other) { self.batches = other.batches; },
          nb::arg("other"))
      .def("clear_batches", [](PyPerceptron& self) { self.batches.clear(); })
      .def("reset", [](PyPerceptron& self) { self.learner->reset(); })
      .def(
          "epoch",
          [](PyPerceptron& self, std::size_t batch, bool shuffle, std::uint64_t seed,
             std::uint64_t stream) {
            if (batch >= self.batches.size()) throw nb::index_error("no such batch");
            EpochReport report;
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              const IntegerPerceptron::Batch& b = *self.batches[batch];
              const auto order = shuffled(b.sentence.size() - 1, seed, stream, shuffle);
              report = self.learner->epoch(b, order, interrupt);
            }
            signals.rethrow_unless_keyboard();
            return nb::make_tuple(report.complete, report.updates, report.loss);
          },
          nb::arg("batch"), nb::arg("shuffle"), nb::arg("seed"), nb::arg("stream"))
      .def(
          "skip", [](PyPerceptron& self, std::int64_t sentences) { self.learner->skip(sentences); },
          nb::arg("sentences"))
      .def(
          "weights",
          [](const PyPerceptron& self, bool average) {
            std::vector<double> w(self.learner->weights());
            if (average) {
              self.learner->mean(w);
            } else {
              self.learner->last(w);
            }
            return to_bytes(w);
          },
          nb::arg("average"));

  m.def(
      "pack_weights",
      [](nb::handle keys, nb::handle row_ptr, nb::handle column, nb::handle weights,
         std::size_t outcomes, double prune) {
        const Bytes k(keys), r(row_ptr), c(column), w(weights);
        const auto rows = r.as<std::uint32_t>("row_ptr");
        const auto columns = c.as<std::uint32_t>("column");
        const auto values = w.as<double>("weights");
        if (rows.empty() || rows.back() > columns.size() || rows.back() > values.size()) {
          throw std::invalid_argument("rows and weights do not fit together");
        }
        const WeightArrays a =
            pack(k.as<std::uint64_t>("keys"), rows, columns, values, outcomes, prune);
        return nb::make_tuple(to_bytes(a.slots), to_bytes(a.weight), to_bytes(a.outcome),
                              to_bytes(a.kept));
      },
      nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"), nb::arg("weights"),
      nb::arg("outcomes"), nb::arg("prune"));
}

}  // namespace structlearn::python
