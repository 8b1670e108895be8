// Trained taggers. Nothing here needs NumPy: arrays come and go as buffers, so that the
// command line starts in no time.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/signals.hpp"
#include "bindings/tasks/tagging/labelling.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/tagging/agreeing_tags.hpp"
#include "tasks/tagging/labeller.hpp"
#include "tasks/tagging/model.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::text;

// Asks a model about the sentences of a corpus one by one.
struct PyReader {
  std::shared_ptr<PyModel> owner;
  const Corpus& corpus;
  Extractor extractor;
  Scratch scratch;

  PyReader(std::shared_ptr<PyModel> model, const Corpus& from)
      : owner(std::move(model)), corpus(from), extractor(owner->model->shared_features(), from) {
    check_columns(owner->model->features(), corpus);
    extractor.update();
  }
  const TaggerModel& model() const { return *owner->model; }
  std::size_t labels() const { return owner->names.labels.size(); }
  // Scores a sentence; its length.
  std::size_t score(std::size_t sentence) {
    check_sentence(corpus, sentence);
    model().score(extractor, sentence, scratch);
    return corpus.sentence(sentence + 1) - corpus.sentence(sentence);
  }
  std::vector<double> marginals(std::size_t sentence, double temperature) {
    const std::size_t L = score(sentence);
    std::vector<double> p(L * labels());
    model().marginals(L, scratch, temperature, p.data());
    return p;
  }
};

struct PyLabeller {
  std::shared_ptr<PyModel> model;
  Format format = Format::kColumns;
  LabelOptions options;
  std::unique_ptr<PieceLabeller<Labeller>> pieces;
};

}  // namespace

void bind_tagger_model(nb::module_& m) {
  nb::class_<PyModel>(m, "TaggerModel")
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
      .def(
          "predict",
          [](const PyModel& self, const Corpus& corpus, nb::handle known, std::size_t threads) {
            check_columns(self.model->features(), corpus);
            std::vector<Output> y(corpus.sentences());
            const Bytes bytes(known);
            const auto clamped = bytes.as<std::int32_t>("known");
            if (!clamped.empty() && clamped.size() != corpus.tokens()) {
              throw std::invalid_argument("known must have one label a token");
            }
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              const std::size_t tasks = std::max<std::size_t>(1, threads), n = corpus.sentences();
              parallel_for(tasks, threads, [&](std::size_t task, std::size_t) {
                Extractor extractor(self.model->shared_features(), corpus);
                extractor.update();
                Scratch scratch;
                for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
                  if (interrupt.requested()) return;
                  const std::size_t begin = corpus.sentence(s), L = corpus.sentence(s + 1) - begin;
                  self.model->score(extractor, s, scratch);
                  if (!clamped.empty())
                    self.model->clamp(clamped.subspan(begin, L), self.names.name_of, scratch);
                  if (self.model->argmax(L, scratch, y[s]) == kMinusInfinity) {
                    throw Infeasible("sentence " + std::to_string(s) +
                                     ": no legal labelling is left");
                  }
                }
              });
            }
            signals.rethrow();
            std::vector<std::int32_t> flat;
            flat.reserve(corpus.tokens());
            for (const Output& labels : y) flat.insert(flat.end(), labels.begin(), labels.end());
            return to_bytes(flat);
          },
          nb::arg("corpus"), nb::arg("known"), nb::arg("threads"))
      .def(
          "log_loss",
          [](std::shared_ptr<PyModel> self, const Corpus& corpus, nb::handle gold,
             double temperature) {
            // Sum over tokens of -log p(gold label), for calibration; gold -1 is left out.
            const Bytes bytes(gold);
            const auto labels = bytes.as<std::int32_t>("gold");
            if (labels.size() != corpus.tokens()) throw std::invalid_argument("gold labels");
            PyReader reader(std::move(self), corpus);
            double sum = 0.0;
            const std::size_t K = reader.labels();
            for (std::size_t s = 0; s < corpus.sentences(); ++s) {
              const std::vector<double> p = reader.marginals(s, temperature);
              const std::size_t begin = corpus.sentence(s);
              for (std::size_t t = 0; t * K < p.size(); ++t) {
                const std::int32_t k = labels[begin + t];
                if (k >= 0) {
                  sum -= std::log(std::max(p[t * K + static_cast<std::size_t>(k)], 1e-300));
                }
              }
            }
            return sum;
          },
          nb::arg("corpus"), nb::arg("gold"), nb::arg("temperature"));

  nb::class_<PyReader>(m, "TaggerReader")
      .def(nb::init<std::shared_ptr<PyModel>, const Corpus&>(), nb::arg("model"), nb::arg("corpus"),
           nb::keep_alive<1, 3>())
      .def(
          "marginals",
          [](PyReader& self, std::size_t sentence, double temperature) {
            return to_bytes(self.marginals(sentence, temperature));
          },
          nb::arg("sentence"), nb::arg("temperature"))
      .def(
          "kbest",
          [](PyReader& self, std::size_t sentence, std::size_t n) {
            const std::size_t L = self.score(sentence);
            return self.model().kbest(L, self.scratch, n);
          },
          nb::arg("sentence"), nb::arg("n"))
      .def(
          "sample",
          [](PyReader& self, std::size_t sentence, std::size_t n, double temperature,
             std::uint64_t seed) {
            const std::size_t L = self.score(sentence);
            return self.model().sample(L, self.scratch, temperature, n, seed);
          },
          nb::arg("sentence"), nb::arg("n"), nb::arg("temperature"), nb::arg("seed"))
      .def(
          "entropy",
          [](PyReader& self, std::size_t sentence, double temperature) {
            const std::size_t L = self.score(sentence);
            return self.model().entropy(L, self.scratch, temperature);
          },
          nb::arg("sentence"), nb::arg("temperature"))
      .def(
          "rivals",
          [](PyReader& self, std::size_t sentence) {
            const std::size_t L = self.score(sentence);
            return self.model().rivals(L, self.scratch, self.owner->names.name_of);
          },
          nb::arg("sentence"))
      .def(
          "explain",
          [](PyReader& self, std::size_t sentence, bool pairs) {
            // Token by token, each feature's name and its weight for every label; or, from the
            // second token on, for every pair of the label before and its own.
            check_sentence(self.corpus, sentence);
            Keys keys;
            self.extractor.keys(sentence, pairs, keys);
            nb::list out;
            const std::size_t K = self.labels();
            std::size_t j = 0;
            for (std::size_t t = 0; t < keys.end.size(); ++t) {
              nb::list token;
              for (; j < keys.end[t]; ++j) {
                std::vector<double> w(pairs ? K * K : K, 0.0);
                self.model().weights_of(keys.key[j], pairs, w.data());
                if (!keys.value.empty()) {
                  for (double& x : w) x *= keys.value[j];
                }
                token.append(
                    nb::make_tuple(text_of(self.extractor.name(sentence, t + (pairs ? 1 : 0),
                                                               keys.origin[j], keys.key[j])),
                                   nb::cast(w)));
              }
              out.append(token);
            }
            return out;
          },
          nb::arg("sentence"), nb::arg("pairs"));

  m.def(
      "agreeing_tags",
      [](const std::vector<std::shared_ptr<PyModel>>& models,
         const std::vector<double>& temperatures, nb::list labels, const Corpus& corpus,
         std::size_t threads) {
        if (temperatures.size() != models.size() || nb::len(labels) != models.size()) {
          throw std::invalid_argument("a temperature and a column of labels a model");
        }
        std::vector<Bytes> columns;
        std::vector<AgreeingTagger> taggers;
        for (std::size_t i = 0; i < models.size(); ++i) {
          check_columns(models[i]->model->features(), corpus);
          const Bytes& column = columns.emplace_back(labels[i]);
          taggers.push_back(
              {models[i]->model.get(), temperatures[i], column.as<std::uint32_t>("labels")});
        }
        std::vector<std::uint32_t> chosen;
        Signals signals;
        {
          nb::gil_scoped_release release;
          Interrupt interrupt(signals.poll());
          chosen = agreeing_tags(taggers, corpus, threads, interrupt);
        }
        signals.rethrow();
        return to_bytes(chosen);
      },
      nb::arg("models"), nb::arg("temperatures"), nb::arg("labels"), nb::arg("corpus"),
      nb::arg("threads"));

  auto labeller =
      nb::class_<PyLabeller>(m, "Labeller")
          .def(
              "__init__",
              [](PyLabeller* self, std::shared_ptr<PyModel> model, const std::string& format,
                 std::vector<std::size_t> targets, std::size_t columns, std::size_t nbest,
                 bool confidence, bool marginals, bool known, double temperature,
                 std::string unknown, char lone) {
                const Format read = format_of(format);
                new (self) PyLabeller;
                self->model = std::move(model);
                self->format = read;
                if (targets.empty()) throw std::invalid_argument("there is no column of labels");
                self->options = {
                    std::move(targets), columns, nbest, confidence, marginals, known, temperature,
                    std::move(unknown), lone};
                self->pieces = std::make_unique<PieceLabeller<Labeller>>([self] {
                  return std::make_unique<Labeller>(*self->model->model, self->model->names,
                                                    self->format, self->options);
                });
              },
              nb::arg("model"), nb::arg("format"), nb::arg("targets"), nb::arg("columns"),
              nb::arg("nbest"), nb::arg("confidence"), nb::arg("marginals"), nb::arg("known"),
              nb::arg("temperature"), nb::arg("unknown"), nb::arg("lone") = ' ');
  bind_labelling<PyLabeller>(labeller);
  bind_answers<PyLabeller>(labeller);
}

}  // namespace structlearn::python
