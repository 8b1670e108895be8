// Dependency parsers. Nothing here needs NumPy: arrays come and go as buffers, so that the command
// line starts in no time.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "bindings/bindings.hpp"
#include "bindings/buffers.hpp"
#include "bindings/signals.hpp"
#include "bindings/tasks/dependencies/pair_trees.hpp"
#include "bindings/tasks/dependencies/py_tags.hpp"
#include "bindings/tasks/tagging/labelling.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/dependencies/feature_names.hpp"
#include "tasks/dependencies/labeller.hpp"
#include "tasks/dependencies/packed_weights.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::parsing;
using text::Corpus;

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

// A tree as Python has it: a list of (head, relation). heads[1..n].
template <class Relation>
nb::list as_list(const std::vector<std::int32_t>& heads, Relation&& relation) {
  nb::list tree;
  for (std::size_t m = 1; m < heads.size(); ++m) {
    tree.append(nb::make_tuple(heads[m], relation(m)));
  }
  return tree;
}

// The trees of all sentences, and how many of them are proven the best.
nb::tuple predict(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                  std::size_t threads) {
  struct Found {
    std::vector<std::int32_t> heads;
    std::vector<std::uint16_t> labels;
    bool exact = false;
  };
  const Tags columns(corpus, tags);
  const std::size_t n = corpus.sentences();
  std::vector<Found> found(n);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    const std::size_t tasks = std::max<std::size_t>(1, threads);
    parallel_for(tasks, threads, [&](std::size_t task, std::size_t) {
      SentenceParser parser(*self.model);
      TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
      Sentence sentence;
      for (std::size_t s = task * n / tasks; s < (task + 1) * n / tasks; ++s) {
        if (interrupt.requested()) return;
        reader.read(s, columns.upos, columns.xpos, columns.feats, sentence);
        found[s].exact = parser.parse(sentence, found[s].heads, found[s].labels).exact;
      }
    });
  }
  signals.rethrow();
  std::vector<nb::object> names;
  for (const std::string& label : self.model->labels()) names.push_back(text_of(label));
  nb::list trees;
  std::size_t exact = 0;
  for (const Found& f : found) {
    trees.append(as_list(f.heads, [&](std::size_t m) { return names[f.labels[m]]; }));
    exact += f.exact;
  }
  return nb::make_tuple(trees, exact);
}

Sentence read_sentence(const Corpus& corpus, nb::list tags, bool lemmas, std::size_t sentence) {
  check_sentence(corpus, sentence);
  const Tags columns(corpus, tags);
  TokenReader reader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone);
  Sentence s;
  reader.read(sentence, columns.upos, columns.xpos, columns.feats, s);
  return s;
}

nb::list named(const std::map<std::uint16_t, double>& reasons) {
  nb::list out;
  for (const auto& [id, weight] : reasons) {
    out.append(nb::make_tuple(text_of(feature_name(id)), weight));
  }
  return out;
}

// Word by word: the arc of the best tree, the best other arc, and what speaks for the one rather
// than the other, template by template.
nb::list explain(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                 std::size_t sentence) {
  const Sentence s = read_sentence(corpus, tags, lemmas, sentence);
  SentenceParser parser(*self.model);
  std::vector<std::int32_t> heads;
  std::vector<std::uint16_t> labels;
  parser.parse(s, heads, labels);
  const Parts& parts = parser.parts();
  const auto& scores = parser.arc_scores();
  nb::list out;
  for (int m = 1; m <= s.size(); ++m) {
    const auto i = static_cast<std::size_t>(m);
    const std::uint32_t chosen = parts.find(heads[i], m);
    std::uint32_t rival = Parts::kNone;
    for (std::uint32_t a = parts.begin[i]; a < parts.begin[i + 1]; ++a) {
      if (a != chosen && (rival == Parts::kNone || scores[a] > scores[rival])) rival = a;
    }
    auto reasons = parser.reasons(s, heads[i], m, labels[i]);
    nb::dict word;
    word["head"] = heads[i];
    word["label"] = self.model->labels()[labels[i]];
    word["score"] = scores[chosen];
    if (rival != Parts::kNone) {
      word["rival_head"] = parts.head[rival];
      word["rival_label"] = self.model->labels()[parser.arc_labels()[rival]];
      word["rival_score"] = scores[rival];
      for (const auto& [id, weight] :
           parser.reasons(s, parts.head[rival], m, parser.arc_labels()[rival])) {
        reasons[id] -= weight;
      }
    }
    word["reasons"] = named(reasons);
    out.append(word);
  }
  return out;
}

// The arcs that the pruner leaves of a sentence: heads, words, scores with each label (-inf where
// one is not allowed), the log of the sum over all trees (or all projective ones), and
// probabilities; scores of siblings and grandparents.
nb::tuple arcs(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
               std::size_t sentence, bool projective_sums) {
  const Sentence s = read_sentence(corpus, tags, lemmas, sentence);
  SentenceParser parser(*self.model, projective_sums);
  parser.score(s);
  const Parts& parts = parser.parts();
  const std::size_t labels = self.model->labels().size(), width = label_width(labels);
  const double* const theta = parser.scores().data();
  const LabelledParts labelled{parts, width, theta};
  const bool projective = projective_sums || self.model->options().projective;
  std::vector<double> p;
  double total;
  if (!parts.second_order) {
    total = TreeSearch(projective).labelled_sums(parts, width, theta, 1.0, p);
  } else {
    if (!projective) throw std::invalid_argument("no sums over pairs of crossing arcs");
    ProjectiveSums sums;
    total = sums.fill(labelled, 1.0);
    sums.marginals(p);
  }
  const auto by_label = [&](const std::vector<double>& of) {  // without what fills the lines
    std::vector<double> out;
    for (std::size_t a = 0; a < parts.arcs(); ++a) {
      out.insert(out.end(), of.data() + a * width, of.data() + a * width + labels);
    }
    return to_bytes(out);
  };
  return nb::make_tuple(
      to_bytes(parts.head), to_bytes(parts.word), by_label(parser.scores()), total, by_label(p),
      to_bytes(std::vector<double>(labelled.siblings(), theta + labelled.size())));
}

// What speaks for given arcs with their labels, template by template: for each word a list of
// (name, weight).
nb::list reasons(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                 std::size_t sentence, const std::vector<int>& heads,
                 const std::vector<std::size_t>& labels) {
  const Sentence s = read_sentence(corpus, tags, lemmas, sentence);
  const int n = s.size();
  if (heads.size() != static_cast<std::size_t>(n) || labels.size() != heads.size()) {
    throw std::invalid_argument("a head and a label a word");
  }
  const SentenceParser parser(*self.model);
  nb::list out;
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m - 1);
    if (heads[i] < 0 || heads[i] > n || heads[i] == m || labels[i] >= self.model->labels().size()) {
      throw std::invalid_argument("a head or a label out of range");
    }
    out.append(named(parser.reasons(s, heads[i], m, labels[i])));
  }
  return out;
}

// The trees that some sentences come with.
nb::list read_trees(const Corpus& corpus, std::size_t begin, std::size_t end) {
  const text::Column& relations = conllu(corpus).columns()[kDeprel];
  std::vector<nb::object> names(relations.strings.size());
  nb::list trees;
  for (std::size_t s = begin; s < end; ++s) {
    check_sentence(corpus, s);
    trees.append(as_list(read_tree(corpus, s), [&](std::size_t m) {
      const std::uint32_t cell = relations.cell[corpus.sentence(s) + m - 1];
      if (!names[cell].is_valid()) names[cell] = text_of(relations.strings[cell]);
      return names[cell];
    }));
  }
  return trees;
}

// A table of weights: floats, or as files hold it, (present, values, bytes of a value, codes).
LargeArray<float> read_table(nb::handle given, const char* what) {
  if (!nb::isinstance<nb::tuple>(given)) return parsing::copied(Bytes(given).as<float>(what), what);
  const auto packed = nb::cast<nb::tuple>(given);
  if (packed.size() != 4) throw std::invalid_argument(std::string(what) + " have four parts");
  const Bytes present(packed[0]), values(packed[1]), codes(packed[3]);
  return unpacked({present.as<std::uint8_t>(what), values.as<std::uint8_t>(what),
                   nb::cast<std::size_t>(packed[2]), codes.as<float>(what)},
                  what);
}

nb::bytes table_bytes(Table<float> table) {
  return nb::bytes(table.weight, (table.mask + 1) * kLine * sizeof(float));
}

}  // namespace

void bind_parser(nb::module_& m) {
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
            const Bytes keys(set_keys), masks(set_masks);
            LabelSets sets(labels.size(), keys.as<std::uint64_t>("label sets"),
                           masks.as<std::uint64_t>("label sets"));
            new (self) PyParser(std::make_unique<ParserModel>(
                std::move(labels), std::move(sets), options, read_table(weights, "the weights"),
                read_table(pruner, "the pruner's weights")));
          },
          nb::arg("labels"), nb::arg("order"), nb::arg("projective"), nb::arg("iterations"),
          nb::arg("most"), nb::arg("least"), nb::arg("set_keys"), nb::arg("set_masks"),
          nb::arg("weights"), nb::arg("pruner"))
      .def("weights", [](const PyParser& self) { return table_bytes(self.model->table()); })
      .def("pruner", [](const PyParser& self) { return table_bytes(self.model->pruner_table()); })
      .def("predict", &predict, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("threads"))
      .def("explain", &explain, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"))
      .def("arcs", &arcs, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"), nb::arg("projective_sums") = false)
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
      "pack_table",
      [](nb::handle weights, std::size_t width) {
        const Bytes table(weights);
        const PackedArrays p = packed(table.as<float>("the weights"), width);
        return nb::make_tuple(to_bytes(p.present), to_bytes(p.values), to_bytes(p.codes));
      },
      nb::arg("weights"), nb::arg("width"));
  m.def("read_trees", &read_trees, nb::arg("corpus"), nb::arg("begin"), nb::arg("end"));
  m.def(
      "untagged_sentence", [](const Corpus& corpus) { return untagged_sentence(conllu(corpus)); },
      nb::arg("corpus"));
  bind_pair_trees(m);
}

}  // namespace structlearn::python
