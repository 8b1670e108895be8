// Dependency parsers. Nothing here needs NumPy: arrays come and go as buffers, so that the command
// line starts in no time.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/signals.hpp"
#include "bindings/tasks/tagging/labelling.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "numeric/random.hpp"
#include "tasks/dependencies/feature_names.hpp"
#include "tasks/dependencies/labeller.hpp"
#include "tasks/dependencies/training.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::parsing;
using text::Corpus;

// The corpus, if it has the columns of CoNLL-U: one without any sentence has none.
const Corpus& conllu(const Corpus& corpus) {
  if (corpus.columns().size() <= kDeprel) {
    throw std::invalid_argument("a corpus of CoNLL-U with sentences is needed");
  }
  return corpus;
}

// Tags as Python gives them: for each of UPOS, XPOS and FEATS None (the corpus's own column), or
// numbers of the tokens' tags and the names.
TagColumn read_tags(const Corpus& corpus, nb::handle given, std::size_t column) {
  if (given.is_none()) return tag_column(corpus, column);
  const nb::tuple pair = nb::cast<nb::tuple>(given);
  const Bytes bytes(pair[0]);
  const auto cells = bytes.as<std::uint32_t>("tags");
  if (cells.size() != corpus.tokens()) throw std::invalid_argument("one tag a token");
  return tag_column(nb::cast<std::vector<std::string>>(pair[1]),
                    std::vector<std::uint32_t>(cells.begin(), cells.end()));
}

struct Tags {
  TagColumn upos, xpos, feats;
  Tags(const Corpus& corpus, nb::list given) {
    conllu(corpus);
    if (given.size() != 3) throw std::invalid_argument("tags: UPOS, XPOS and FEATS");
    upos = read_tags(corpus, given[0], kUpos);
    xpos = read_tags(corpus, given[1], kXpos);
    feats = read_tags(corpus, given[2], kFeats);
  }
};

// Sentences, trees, the pruner and the learner.
struct PyTrainer {
  PyTrainer(const PyTrainer&) = delete;
  std::vector<std::string> labels;
  Treebank treebank;
  LabelSets sets;
  ParserOptions options;
  TrainingOptions training;
  unsigned bits;
  LargeArray<float> pruner, squares;
  std::vector<Candidates> candidates;
  std::unique_ptr<ParserLearner> learner;

  PyTrainer(const Corpus& corpus, nb::list tags, bool lemmas, ParserOptions given,
            TrainingOptions how, unsigned table_bits, unsigned pruner_bits)
      : labels(relation_names(conllu(corpus))),
        sets(labels.size()),
        options(given),
        training(how),
        bits(table_bits),
        pruner(std::size_t{1} << pruner_bits),
        squares(pruner.size()) {
    const Tags columns(corpus, tags);
    treebank = read_treebank(corpus, columns.upos, columns.xpos, columns.feats, labels, lemmas);
    for (std::size_t i = 0; i < treebank.sentence.size(); ++i) {
      for (std::size_t m = 1; m < treebank.heads[i].size(); ++m) {
        sets.add(treebank.sentence[i], treebank.heads[i][m], static_cast<int>(m),
                 treebank.labels[i][m]);
      }
    }
  }

  std::vector<std::uint32_t> shuffled(std::uint64_t seed, std::uint64_t stream) const {
    std::vector<std::uint32_t> order(treebank.sentence.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    Random random(seed, stream);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    }
    return order;
  }
};

struct PyParser {
  explicit PyParser(std::unique_ptr<ParserModel> m) : model(std::move(m)) {}
  PyParser(const PyParser&) = delete;
  std::unique_ptr<ParserModel> model;
};

struct PyParseLabeller {
  std::shared_ptr<PyParser> parser;
  std::array<std::shared_ptr<PyModel>, 3> taggers;
  std::unique_ptr<PieceLabeller<ParseLabeller>> pieces;
};

nb::tuple predict(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                  std::size_t threads) {
  const Tags columns(corpus, tags);
  const std::size_t n = corpus.sentences();
  std::vector<std::int32_t> heads(corpus.tokens());
  std::vector<std::uint32_t> labels(corpus.tokens());
  std::vector<std::uint8_t> exact(n);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    const std::size_t tasks = std::max<std::size_t>(1, threads);
    parallel_for(tasks, threads, [&](std::size_t task, std::size_t) {
      SentenceParser parser(*self.model);
      TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
      Sentence sentence;
      std::vector<std::int32_t> h;
      std::vector<std::uint16_t> l;
      for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
        if (interrupt.requested()) return;
        reader.read(s, columns.upos, columns.xpos, columns.feats, sentence);
        exact[s] = parser.parse(sentence, h, l).exact;
        const auto at = static_cast<std::ptrdiff_t>(corpus.sentence(s));
        std::copy(h.begin() + 1, h.end(), heads.begin() + at);
        std::copy(l.begin() + 1, l.end(), labels.begin() + at);
      }
    });
  }
  signals.rethrow();
  return nb::make_tuple(to_bytes(heads), to_bytes(labels),
                        static_cast<std::size_t>(std::count(exact.begin(), exact.end(), 1)));
}

// Word by word: the arc of the best tree, the best other arc, and what speaks for the one rather
// than the other, template by template.
nb::list explain(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                 std::size_t sentence) {
  check_sentence(corpus, sentence);
  const Tags columns(corpus, tags);
  TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
  Sentence s;
  reader.read(sentence, columns.upos, columns.xpos, columns.feats, s);
  SentenceParser parser(*self.model);
  std::vector<std::int32_t> heads;
  std::vector<std::uint16_t> labels;
  parser.parse(s, heads, labels);
  const Parts& parts = parser.parts();
  nb::list out;
  for (int m = 1; m <= s.size(); ++m) {
    const auto i = static_cast<std::size_t>(m);
    const std::uint32_t chosen = parts.find(heads[i], m);
    std::uint32_t rival = Parts::kNone;
    for (std::uint32_t a = parts.begin[i]; a < parts.begin[i + 1]; ++a) {
      if (a != chosen && (rival == Parts::kNone || parts.arc[a] > parts.arc[rival])) rival = a;
    }
    auto reasons = parser.reasons(s, heads[i], m, labels[i]);
    nb::dict word;
    word["head"] = heads[i];
    word["label"] = self.model->labels()[labels[i]];
    word["score"] = parts.arc[chosen];
    if (rival != Parts::kNone) {
      word["rival_head"] = parts.head[rival];
      word["rival_label"] = self.model->labels()[parts.label[rival]];
      word["rival_score"] = parts.arc[rival];
      for (const auto& other : parser.reasons(s, parts.head[rival], m, parts.label[rival])) {
        const auto at = std::find_if(reasons.begin(), reasons.end(),
                                     [&](const auto& r) { return r.id == other.id; });
        if (at == reasons.end()) {
          reasons.push_back({other.id, -other.weight});
        } else {
          at->weight -= other.weight;
        }
      }
    }
    nb::list named;
    for (const auto& r : reasons) {
      named.append(nb::make_tuple(text_of(feature_name(r.id)), r.weight));
    }
    word["reasons"] = named;
    out.append(word);
  }
  return out;
}

// The arcs that the pruner leaves of a sentence: heads, words, scores without labels, and scores of
// all labels (-inf where one is not allowed).
nb::tuple arcs(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
               std::size_t sentence) {
  check_sentence(corpus, sentence);
  const Tags columns(corpus, tags);
  TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
  Sentence s;
  reader.read(sentence, columns.upos, columns.xpos, columns.feats, s);
  const ParserModel& model = *self.model;
  const std::size_t labels = model.labels().size();
  Pruner pruner(model.pruner_table(), model.options().pruning, model.options().projective);
  PartScorer scorer(model.table(), model.sets(), labels);
  Candidates candidates;
  Parts parts;
  std::vector<float> wide;
  pruner.prune(s, candidates);
  parts.set(candidates);
  scorer.soft_arcs(s, parts, wide);
  std::vector<double> own(parts.head.size()), by_label;
  for (std::size_t a = 0; a < own.size(); ++a) {
    const float* row = wide.data() + a * scorer.width();
    const double most = row[parts.label[a]];
    double sum = 0.0;
    for (std::size_t l = 0; l < labels; ++l) {
      by_label.push_back(row[l]);
      sum += std::exp(row[l] - most);
    }
    own[a] = parts.arc[a] - most - std::log(sum);
  }
  return nb::make_tuple(to_bytes(parts.head), to_bytes(parts.word), to_bytes(own),
                        to_bytes(by_label));
}

// What speaks for given arcs with their labels, template by template: for each word a list of
// (name, weight).
nb::list reasons(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                 std::size_t sentence, const std::vector<int>& heads,
                 const std::vector<std::size_t>& labels) {
  check_sentence(corpus, sentence);
  const Tags columns(corpus, tags);
  TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
  Sentence s;
  reader.read(sentence, columns.upos, columns.xpos, columns.feats, s);
  const int n = s.size();
  if (heads.size() != static_cast<std::size_t>(n) || labels.size() != heads.size()) {
    throw std::invalid_argument("a head and a label a word");
  }
  const SentenceParser parser(*self.model);
  nb::list out;
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m - 1);
    if (heads[i] < 0 || heads[i] > n || heads[i] == m || labels[i] >= self.model->labels().size()) {
      throw std::invalid_argument("a head or a label that there is not");
    }
    nb::list named;
    for (const auto& r : parser.reasons(s, heads[i], m, labels[i])) {
      named.append(nb::make_tuple(text_of(feature_name(r.id)), r.weight));
    }
    out.append(named);
  }
  return out;
}

}  // namespace

void bind_parser(nb::module_& m) {
  nb::class_<PyTrainer>(m, "ParserTrainer")
      .def(
          "__init__",
          [](PyTrainer* self, const Corpus& corpus, nb::list tags, bool lemmas, int order,
             bool projective, std::uint32_t most, double least, unsigned bits, unsigned pruner_bits,
             const std::string& learner, double rate, int iterations) {
            if (bits < 4 || bits > 30 || pruner_bits < 4 || pruner_bits > 30) {
              throw std::invalid_argument("bits must be from 4 to 30");
            }
            ParserOptions options;
            options.order = order;
            options.projective = projective;
            options.pruning = {most, least};
            TrainingOptions training;
            training.order = order;
            training.projective = projective;
            if (learner == "perceptron") {
              training.loss = ParserLoss::kPerceptron;
            } else if (learner == "svm") {
              training.loss = ParserLoss::kHinge;
            } else if (learner == "crf" && order == 1) {
              training.loss = ParserLoss::kLog;
            } else {
              throw std::invalid_argument("learner must be perceptron, svm, or crf of order 1");
            }
            training.rate = rate;
            training.iterations = iterations;
            new (self) PyTrainer(corpus, tags, lemmas, options, training, bits, pruner_bits);
          },
          nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"), nb::arg("order"),
          nb::arg("projective"), nb::arg("most"), nb::arg("least"), nb::arg("bits"),
          nb::arg("pruner_bits"), nb::arg("learner"), nb::arg("rate"), nb::arg("iterations"))
      .def_prop_ro("labels", [](const PyTrainer& t) { return t.labels; })
      .def(
          "pruner_epoch",
          [](PyTrainer& t, double rate, std::uint64_t seed, std::uint64_t stream) {
            bool complete;
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              const auto order = t.shuffled(seed, stream);
              complete = learn_pruner(t.treebank.sentence, t.treebank.heads, order, t.pruner,
                                      t.squares, rate, interrupt);
            }
            signals.rethrow_unless_keyboard();
            return complete;
          },
          nb::arg("rate"), nb::arg("seed"), nb::arg("stream"))
      .def("prune",
           [](PyTrainer& t) {
             // Candidates of all sentences; how many a word, on average.
             nb::gil_scoped_release release;
             Pruner pruner({t.pruner.data(), t.pruner.size() / kLine - 1}, t.options.pruning,
                           t.options.projective);
             t.candidates.resize(t.treebank.sentence.size());
             std::size_t arcs = 0, words = 0;
             for (std::size_t i = 0; i < t.candidates.size(); ++i) {
               pruner.prune(t.treebank.sentence[i], t.candidates[i], t.treebank.heads[i]);
               arcs += t.candidates[i].head.size();
               words += t.candidates[i].words();
             }
             return static_cast<double>(arcs) /
                    static_cast<double>(std::max<std::size_t>(words, 1));
           })
      .def("begin",
           [](PyTrainer& t) {
             t.learner.reset();  // its memory first
             t.learner = std::make_unique<ParserLearner>(t.treebank, t.sets, t.labels.size(),
                                                         t.candidates, t.bits, t.training);
           })
      .def(
          "epoch",
          [](PyTrainer& t, std::uint64_t seed, std::uint64_t stream) {
            if (!t.learner) throw std::logic_error("call begin() first");
            ParseEpoch report;
            Signals signals;
            {
              nb::gil_scoped_release release;
              Interrupt interrupt(signals.poll());
              report = t.learner->epoch(t.shuffled(seed, stream), interrupt);
            }
            signals.rethrow_unless_keyboard();
            nb::dict out;
            out["complete"] = report.complete;
            out["updates"] = report.updates;
            out["wrong"] = report.wrong;
            out["inexact"] = report.inexact;
            out["tokens"] = report.tokens;
            return out;
          },
          nb::arg("seed"), nb::arg("stream"))
      .def("mean",
           [](const PyTrainer& t) {
             if (!t.learner) throw std::logic_error("call begin() first");
             nb::bytes out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(
                 nullptr, static_cast<Py_ssize_t>(sizeof(float) << t.bits)));
             auto* data = reinterpret_cast<float*>(PyBytes_AS_STRING(out.ptr()));
             t.learner->mean({data, std::size_t{1} << t.bits});
             return out;
           })
      .def("pruner_weights",
           [](const PyTrainer& t) {
             return nb::bytes(reinterpret_cast<const char*>(t.pruner.data()),
                              t.pruner.size() * sizeof(float));
           })
      .def("label_sets", [](const PyTrainer& t) {
        std::vector<std::uint64_t> keys, masks;
        t.sets.store(keys, masks);
        return nb::make_tuple(to_bytes(keys), to_bytes(masks));
      });

  nb::class_<PyParser>(m, "ParserModel")
      .def(
          "__init__",
          [](PyParser* self, std::vector<std::string> labels, int order, bool projective,
             int iterations, std::uint32_t most, double least, nb::handle set_keys,
             nb::handle set_masks, nb::handle weights, nb::handle pruner) {
            ParserOptions options;
            options.order = order;
            options.projective = projective;
            options.iterations = iterations;
            options.pruning = {most, least};
            const Bytes keys(set_keys), masks(set_masks), w(weights), p(pruner);
            LabelSets sets(labels.size(), keys.as<std::uint64_t>("label sets"),
                           masks.as<std::uint64_t>("label sets"));
            new (self) PyParser(std::make_unique<ParserModel>(std::move(labels), std::move(sets),
                                                              options, w.as<float>("weights"),
                                                              p.as<float>("pruner")));
          },
          nb::arg("labels"), nb::arg("order"), nb::arg("projective"), nb::arg("iterations"),
          nb::arg("most"), nb::arg("least"), nb::arg("set_keys"), nb::arg("set_masks"),
          nb::arg("weights"), nb::arg("pruner"))
      .def("predict", &predict, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("threads"))
      .def("explain", &explain, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"))
      .def("arcs", &arcs, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"))
      .def("reasons", &reasons, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"), nb::arg("heads"), nb::arg("labels"));

  auto labeller =
      nb::class_<PyParseLabeller>(m, "ParseLabeller")
          .def(
              "__init__",
              [](PyParseLabeller* self, std::shared_ptr<PyParser> parser,
                 std::vector<std::shared_ptr<PyModel>> taggers, const std::string& format,
                 bool lemmas) {
                const text::Format read = format_of(format);
                if (!taggers.empty() && taggers.size() != 3) {
                  throw std::invalid_argument("taggers of UPOS, XPOS and FEATS, or none");
                }
                new (self) PyParseLabeller;
                self->parser = std::move(parser);
                std::copy(taggers.begin(), taggers.end(), self->taggers.begin());
                self->pieces = std::make_unique<PieceLabeller<ParseLabeller>>([self, read, lemmas] {
                  std::array<ColumnTagger, 3> use;
                  for (std::size_t c = 0; c < 3; ++c) {
                    if (!self->taggers[c]) continue;
                    use[c] = {self->taggers[c]->model.get(), &self->taggers[c]->names};
                  }
                  return std::make_unique<ParseLabeller>(*self->parser->model, use, read, lemmas);
                });
              },
              nb::arg("parser"), nb::arg("taggers"), nb::arg("format"), nb::arg("lemmas"));
  bind_labelling<PyParseLabeller>(labeller);
  m.def(
      "check_trees",
      [](const Corpus& corpus) {
        const text::Column& relation = conllu(corpus).columns()[kDeprel];
        for (std::size_t s = 0; s < corpus.sentences(); ++s) {
          read_tree(corpus, s);
          for (std::size_t t = corpus.sentence(s); t < corpus.sentence(s + 1); ++t) {
            if (relation.strings[relation.cell[t]] != "_") continue;
            throw text::BadLine(corpus.line_number(t),
                                "sentence " + std::to_string(s + 1) + ", word " +
                                    std::to_string(t - corpus.sentence(s) + 1) +
                                    ": it has no relation");
          }
        }
      },
      nb::arg("corpus"));
}

}  // namespace structlearn::python
