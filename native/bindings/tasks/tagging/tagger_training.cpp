// Learning of taggers.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <span>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/signals.hpp"
#include "numeric/give_back.hpp"
#include "tasks/tagging/integer_perceptron.hpp"
#include "tasks/tagging/rounded_weights.hpp"
#include "tasks/tagging/weight_table.hpp"
#include "text/feature_names.hpp"
#include "text/vocabulary.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// The learner with the arrays that it reads.
struct PyPerceptron {
  PyPerceptron() = default;
  PyPerceptron(const PyPerceptron&) = delete;
  std::vector<Bytes> keep;
  std::unique_ptr<IntegerPerceptron> learner;
};

nb::tuple as_tuple(const WeightArrays& a) {
  return nb::make_tuple(to_bytes(a.slots), to_bytes(a.weight), to_bytes(a.outcome),
                        to_bytes(a.kept));
}

// Arrays over the rows, which stay as long as these.
nb::dict array_dict(nb::handle self) {
  TokenRows& rows = nb::cast<TokenRows&>(self);
  nb::dict d;
  const auto add = [&](const char* name, auto& values) {
    using Number = std::remove_reference_t<decltype(values[0])>;
    d[name] = nb::ndarray<nb::numpy, Number, nb::ndim<1>>(values.data(), {values.size()}, self);
  };
  add("sentence", rows.sentence);
  add("begin", rows.begin);
  add("feature", rows.feature);
  add("value", rows.value);
  add("label", rows.label);
  add("set_token", rows.set_token);
  add("set_begin", rows.set_begin);
  add("set_label", rows.set_label);
  add("pair_sentence", rows.pair_sentence);
  add("pair_begin", rows.pair_begin);
  add("pair_feature", rows.pair_feature);
  return d;
}

// -- models -------------------------------------------------------------------------------------

}  // namespace

void bind_tagger_training(nb::module_& m) {
  nb::class_<TokenRows>(m, "TokenRows")
      .def(nb::init<>())
      .def("arrays", [](nb::object self) { return array_dict(self); })
      .def_prop_ro("n_sentences", [](const TokenRows& r) { return r.sentence.size() - 1; })
      .def_prop_ro("has_values", [](const TokenRows& r) { return !r.value.empty(); })
      .def_prop_ro("has_unknown", [](const TokenRows& r) {
        return std::any_of(r.label.begin(), r.label.end(), [](std::int32_t k) { return k < 0; });
      });

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
          "add_segments",
          [](Vocabulary& v, Extractor& e, const Corpus& c, std::size_t max_length,
             Input<std::int32_t, nb::ndim<1>> marks, Input<std::int32_t, nb::ndim<1>> open) {
            if (marks.size() != c.tokens()) throw std::invalid_argument("a mark a token");
            if (open.size() % 3 != 0) throw std::invalid_argument("begin, end and label");
            std::vector<Vocabulary::OpenSegment> segments;
            for (std::size_t k = 0; k < open.size(); k += 3) {
              const std::int32_t* const one = open.data() + k;
              segments.push_back(
                  {static_cast<std::size_t>(one[0]), static_cast<std::size_t>(one[1]), one[2]});
            }
            nb::gil_scoped_release release;
            v.add_segments(e, c, max_length, {marks.data(), marks.size()}, segments);
          },
          nb::arg("extractor"), nb::arg("corpus"), nb::arg("max_length"), nb::arg("marks"),
          nb::arg("open"))
      .def(
          "segment_rows",
          [](const Vocabulary& v, Extractor& e, const Corpus& c, std::size_t max_length) {
            auto rows = std::make_unique<TokenRows>();
            nb::gil_scoped_release release;
            v.segment_rows(e, c, max_length, *rows);
            return rows;
          },
          nb::arg("extractor"), nb::arg("corpus"), nb::arg("max_length"))
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
      .def("counts",
           [](const Vocabulary& v) {
             const Vocabulary::Counts c = v.counts();
             return nb::make_tuple(to_bytes(c.key), to_bytes(c.times), to_bytes(c.row_ptr),
                                   to_bytes(c.column), c.label, to_bytes(c.pair_key),
                                   to_bytes(c.pair_times));
           })
      .def(
          "add_counts",
          [](Vocabulary& v, nb::handle keys, nb::handle times, nb::handle row_ptr,
             nb::handle column, std::vector<std::string> labels, nb::handle pair_keys,
             nb::handle pair_times) {
            Vocabulary::Counts c;
            c.key = copied<std::uint64_t>(keys, "keys");
            c.times = copied<std::uint32_t>(times, "times");
            c.row_ptr = copied<std::uint32_t>(row_ptr, "row_ptr");
            c.column = copied<std::uint32_t>(column, "column");
            c.label = std::move(labels);
            c.pair_key = copied<std::uint64_t>(pair_keys, "pair_keys");
            c.pair_times = copied<std::uint32_t>(pair_times, "pair_times");
            nb::gil_scoped_release release;
            v.add_counts(c);
          },
          nb::arg("keys"), nb::arg("times"), nb::arg("row_ptr"), nb::arg("column"),
          nb::arg("labels"), nb::arg("pair_keys"), nb::arg("pair_times"))
      .def_prop_ro("size", &Vocabulary::size)
      .def_prop_ro("pair_size", &Vocabulary::pair_size)
      .def_prop_ro("labels", [](const Vocabulary& v) { return v.labels(); })
      .def_prop_ro("n_weights", [](const Vocabulary& v) { return v.column().size(); })
      .def("keys", [](const Vocabulary& v) { return to_bytes(v.index().keys()); })
      .def("pair_keys", [](const Vocabulary& v) { return to_bytes(v.pair_index().keys()); })
      .def("row_ptr", [](const Vocabulary& v) { return to_bytes(v.row_ptr()); })
      .def("column", [](const Vocabulary& v) { return to_bytes(v.column()); })
      .def(
          "names",
          [](const Vocabulary& v, Extractor& e, bool pairs, nb::handle kept, std::size_t first,
             std::size_t sentences) {
            const Bytes wanted(kept);
            FeatureNames names =
                feature_names(v, e, pairs, wanted.as<std::uint32_t>("kept"), first, sentences);
            return nb::make_tuple(to_view(std::move(names.key)), to_view(std::move(names.text)),
                                  to_view(std::move(names.end)));
          },
          nb::arg("extractor"), nb::arg("pairs"), nb::arg("kept"), nb::arg("first"),
          nb::arg("sentences"));

  nb::class_<IntegerPerceptron::Batch>(m, "IntegerBatch")
      .def_prop_ro("n_sentences",
                   [](const IntegerPerceptron::Batch& b) { return b.sentence.size() - 1; });

  nb::class_<PyPerceptron>(m, "IntegerPerceptron")
      .def(
          "__init__",
          [](PyPerceptron* self, std::size_t labels, nb::handle row_ptr, nb::handle column,
             nb::handle real, nb::handle start, nb::handle end, nb::handle transition) {
            new (self) PyPerceptron;
            for (const nb::handle given : {row_ptr, column, real, start, end, transition}) {
              self->keep.emplace_back(given);
            }
            const auto rows = self->keep[0].as<std::uint32_t>("row_ptr");
            const auto columns = self->keep[1].as<std::uint32_t>("column");
            const auto reals = self->keep[2].as<std::uint8_t>("real");
            if (rows.empty() || rows.back() != columns.size() ||
                (!reals.empty() && reals.size() != columns.size())) {
              throw std::invalid_argument("rows and columns do not fit together");
            }
            std::span<const double> masks[3];
            for (std::size_t i = 0; i < 3; ++i) {
              masks[i] = self->keep[3 + i].as<double>("mask");
              if (!masks[i].empty() && masks[i].size() != (i < 2 ? labels : labels * labels)) {
                throw std::invalid_argument("a mask of the wrong size");
              }
            }
            self->learner = std::make_unique<IntegerPerceptron>(IntegerPerceptron::Layout{
                rows, columns.data(), reals.empty() ? nullptr : reals.data(), labels, true,
                masks[0], masks[1], masks[2]});
          },
          nb::arg("labels"), nb::arg("row_ptr"), nb::arg("column"), nb::arg("real"),
          nb::arg("start_mask"), nb::arg("end_mask"), nb::arg("transition_mask"))
      .def(
          "read",
          [](const PyPerceptron& self, TokenRows& rows, bool last) {
            const std::size_t features = self.learner->features();
            for (const std::int32_t f : rows.feature) {
              if (f < 0 || static_cast<std::size_t>(f) >= features) {
                throw std::invalid_argument("a feature without weights");
              }
            }
            for (const std::int32_t k : rows.label) {
              if (k < 0) throw std::invalid_argument("a token without a label");
            }
            auto batch = std::make_unique<IntegerPerceptron::Batch>();
            nb::gil_scoped_release release;
            std::function<void(std::size_t)> done;
            if (last) done = [&](std::size_t n) { give_back(rows.feature, n); };
            self.learner->read({rows.sentence, rows.begin, rows.feature, rows.label}, *batch, done);
            if (last) rows = TokenRows();
            return batch;
          },
          nb::arg("rows"), nb::arg("last") = false)
      .def(
          "epoch",
          [](PyPerceptron& self, const IntegerPerceptron::Batch& batch, nb::handle order) {
            const Bytes bytes(order);
            const auto numbers = bytes.as<std::int64_t>("order");
            for (const std::int64_t i : numbers) {
              if (i < 0 || static_cast<std::size_t>(i) + 1 >= batch.sentence.size()) {
                throw std::invalid_argument("the order names a sentence that does not exist");
              }
            }
            EpochReport report;
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              report = self.learner->epoch(batch, numbers, interrupt);
            }
            signals.rethrow_unless_keyboard();
            return nb::make_tuple(report.complete, report.seen, report.updates, report.loss);
          },
          nb::arg("batch"), nb::arg("order"))
      .def(
          "skip", [](PyPerceptron& self, std::int64_t sentences) { self.learner->skip(sentences); },
          nb::arg("sentences"))
      .def(
          "weights",
          [](const PyPerceptron& self, bool average) {
            std::vector<double> w(self.learner->weights());
            average ? self.learner->mean(w) : self.learner->last(w);
            return to_view(std::move(w));
          },
          nb::arg("average"))
      .def_prop_ro("steps", [](const PyPerceptron& self) { return self.learner->steps(); })
      .def("save",
           [](const PyPerceptron& self) {
             std::vector<std::int32_t> v(self.learner->weights());
             std::vector<std::int64_t> behind(self.learner->weights());
             self.learner->save(v, behind);
             return nb::make_tuple(to_numpy(std::move(v)), to_numpy(std::move(behind)),
                                   self.learner->steps());
           })
      .def(
          "load",
          [](PyPerceptron& self, Input<std::int32_t, nb::ndim<1>> v,
             Input<std::int64_t, nb::ndim<1>> behind, std::int64_t steps) {
            self.learner->load({v.data(), v.size()}, {behind.data(), behind.size()}, steps);
          },
          nb::arg("v"), nb::arg("behind"), nb::arg("steps"));

  m.def(
      "sum_counts",
      [](const std::vector<std::pair<nb::bytes, nb::bytes>>& parts) {
        // How often features occur in all parts, in the order of first occurrence.
        FeatureIndex index;
        for (const auto& [keys, times] : parts) {
          const Bytes k(keys), t(times);
          const auto key = k.as<std::uint64_t>("keys");
          const auto often = t.as<std::uint32_t>("times");
          if (key.size() != often.size()) throw std::invalid_argument("keys without counts");
          for (std::size_t f = 0; f < key.size(); ++f) index.add(key[f], often[f]);
        }
        return nb::make_tuple(to_bytes(index.keys()), to_bytes(index.counts()));
      },
      nb::arg("parts"));

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
        return as_tuple(pack(k.as<std::uint64_t>("keys"), rows, columns, values, outcomes, prune));
      },
      nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"), nb::arg("weights"),
      nb::arg("outcomes"), nb::arg("prune"));

  m.def(
      "compact_weights",
      [](bool hashed, bool halves, nb::handle keys, nb::handle row_ptr, nb::handle column,
         nb::handle weights) {
        const UnpackedWeights given{
            copied<std::uint64_t>(keys, "keys"), copied<std::uint32_t>(row_ptr, "row_ptr"),
            copied<std::uint32_t>(column, "column"), copied<double>(weights, "weights")};
        if (given.row_ptr.size() != given.keys.size() + 1 ||
            given.row_ptr.back() != given.column.size() ||
            given.column.size() != given.weight.size()) {
          throw std::invalid_argument("rows and weights do not fit together");
        }
        const CompactWeights c = compacted(given, hashed, halves ? 2 : 1);
        const bool wide = std::any_of(c.columns.begin(), c.columns.end(),
                                      [](std::uint32_t k) { return k > 0xFFFF; });
        const nb::bytes columns =
            wide ? to_bytes(c.columns)
                 : to_bytes(std::vector<std::uint16_t>(c.columns.begin(), c.columns.end()));
        return nb::make_tuple(to_bytes(c.keys), to_bytes(c.counts), columns, wide,
                              to_bytes(c.values), c.scale, to_bytes(c.kept));
      },
      nb::arg("hashed"), nb::arg("halves"), nb::arg("keys"), nb::arg("row_ptr"), nb::arg("column"),
      nb::arg("weights"));
}

}  // namespace structlearn::python
