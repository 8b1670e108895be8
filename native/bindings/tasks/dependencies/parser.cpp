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
#include "bindings/models/inputs.hpp"
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
  std::vector<Bytes> lent;  // the model's tables, if they are not its own
  std::unique_ptr<ParserModel> model;
};

struct PyParseLabeller {
  std::shared_ptr<PyParser> parser;
  std::array<std::shared_ptr<PyModel>, 3> taggers;
  std::unique_ptr<PieceLabeller<ParseLabeller>> pieces;
};

// The sentences of a corpus with their tags, which are copied.
PyInputs parser_inputs(nb::object self, nb::object corpus, nb::list tags, bool lemmas) {
  const auto& sentences = nb::cast<const Corpus&>(corpus);
  SentenceTags columns;
  if (sentences.sentences() > 0) columns = read_tags(sentences, tags);
  return {nb::make_tuple(self, corpus),
          std::make_unique<DependencyInputs>(*nb::cast<const PyParser&>(self).model, sentences,
                                             std::move(columns), lemmas)};
}

nb::list named(const std::map<std::uint16_t, double>& reasons) {
  nb::list out;
  for (const auto& [id, weight] : reasons) {
    out.append(nb::make_tuple(text_of(feature_name(id)), weight));
  }
  return out;
}

// What speaks for given arcs with their labels, template by template: for each word a list of
// (name, weight).
nb::list reasons(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                 std::size_t sentence, const std::vector<int>& heads,
                 const std::vector<std::size_t>& labels) {
  check_sentence(corpus, sentence);
  Sentence s;
  TokenReader(corpus, kForm, lemmas ? kLemma : TokenReader::kNone)
      .read(sentence, read_tags(corpus, tags), s);
  const int n = s.size();
  if (heads.size() != static_cast<std::size_t>(n) || labels.size() != heads.size()) {
    throw std::invalid_argument("a head and a label a word");
  }
  nb::list out;
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m - 1);
    if (heads[i] < 0 || heads[i] > n || heads[i] == m || labels[i] >= self.model->labels().size()) {
      throw std::invalid_argument("a head or a label out of range");
    }
    out.append(named(self.model->reasons(s, heads[i], m, labels[i])));
  }
  return out;
}

// The pairs of arcs of a tree, in which all arcs are candidates: (head, word before, word, score)
// of neighbours on one side of a head, where the head itself and -1 stand for none; and (head of
// the head, head, word, score). Two empty lists if the parser scores arcs alone.
nb::tuple pairs(const PyParser& self, const Corpus& corpus, nb::list tags, bool lemmas,
                std::size_t sentence, std::vector<std::int32_t> heads) {
  check_sentence(corpus, sentence);
  const SentenceTags columns = read_tags(corpus, tags);
  DependencyReader reader(*self.model, corpus, columns, lemmas);
  const Scored& scored = reader.scores(sentence, Purpose::kBest);
  const Parts& parts = reader.all_parts();
  if (heads.size() != static_cast<std::size_t>(parts.n)) {
    throw std::invalid_argument("a head for each word");
  }
  heads.insert(heads.begin(), -1);
  nb::list siblings, grandparents;
  if (!parts.second_order) return nb::make_tuple(siblings, grandparents);
  const double* sibling = scored.scores.block[DependencyTrees::kSibling];
  const double* grand = scored.scores.block[DependencyTrees::kGrand];
  parts.for_second_order(
      heads,
      [&](int h, int before, int next, std::size_t j) {
        siblings.append(nb::make_tuple(h, before, std::max(next, -1), sibling[j]));
      },
      [&](int g, int h, int m, std::size_t j) {
        grandparents.append(nb::make_tuple(g, h, m, grand[j]));
      });
  return nb::make_tuple(siblings, grandparents);
}

// Throws BadLine where a sentence comes with no tree.
void check_trees(const Corpus& corpus) {
  for (std::size_t s = 0; s < conllu(corpus).sentences(); ++s) read_tree(corpus, s);
}

// The trees that some sentences come with.
nb::list read_trees(const Corpus& corpus, std::size_t begin, std::size_t end) {
  const text::Column& relations = conllu(corpus).columns()[kDeprel];
  std::vector<nb::object> names(relations.strings.size());
  nb::list trees;
  for (std::size_t s = begin; s < end; ++s) {
    check_sentence(corpus, s);
    const std::vector<std::int32_t> heads = read_tree(corpus, s);
    nb::list tree;
    for (std::size_t m = 1; m < heads.size(); ++m) {
      const std::uint32_t cell = relations.cell[corpus.sentence(s) + m - 1];
      if (!names[cell].is_valid()) names[cell] = text_of(relations.strings[cell]);
      tree.append(nb::make_tuple(heads[m], names[cell]));
    }
    trees.append(tree);
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
             nb::handle set_masks, nb::handle weights, nb::handle pruner, bool lent) {
            ParserOptions options;
            options.order = order;
            options.projective = projective;
            options.iterations = iterations;
            options.pruning = {most, least};
            const Bytes keys(set_keys), masks(set_masks);
            LabelSets sets(labels.size(), keys.as<std::uint64_t>("label sets"),
                           masks.as<std::uint64_t>("label sets"));
            constexpr const char *kWeights = "the weights", *kPruner = "the pruner's weights";
            PyParser made;
            if (lent) {
              made.lent.emplace_back(weights);
              made.lent.emplace_back(pruner);
              made.model = std::make_unique<ParserModel>(
                  std::move(labels), std::move(sets), options,
                  borrowed(made.lent[0].as<float>(kWeights), kWeights),
                  borrowed(made.lent[1].as<float>(kPruner), kPruner));
            } else {
              made.model = std::make_unique<ParserModel>(std::move(labels), std::move(sets),
                                                         options, read_table(weights, kWeights),
                                                         read_table(pruner, kPruner));
            }
            new (self) PyParser(std::move(made));
          },
          nb::arg("labels"), nb::arg("order"), nb::arg("projective"), nb::arg("iterations"),
          nb::arg("most"), nb::arg("least"), nb::arg("set_keys"), nb::arg("set_masks"),
          nb::arg("weights"), nb::arg("pruner"), nb::arg("lent") = false)
      .def("weights", [](const PyParser& self) { return table_bytes(self.model->table()); })
      .def("pruner", [](const PyParser& self) { return table_bytes(self.model->pruner_table()); })
      .def("inputs", &parser_inputs, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"))
      .def("reasons", &reasons, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"), nb::arg("heads"), nb::arg("labels"))
      .def("pairs", &pairs, nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
           nb::arg("sentence"), nb::arg("heads"));

  auto labeller =
      nb::class_<PyParseLabeller>(m, "ParseLabeller")
          .def(
              "__init__",
              [](PyParseLabeller* self, std::shared_ptr<PyParser> parser,
                 std::vector<std::shared_ptr<PyModel>> taggers, const std::string& format,
                 bool lemmas, bool confidence, double temperature,
                 const std::vector<double>& certainty) {
                const text::Format read = format_of(format);
                if (!taggers.empty() && taggers.size() != 3) {
                  throw std::invalid_argument("taggers of UPOS, XPOS and FEATS, or none");
                }
                new (self) PyParseLabeller;
                const ParseOptions options{lemmas, confidence, temperature, Confidence(certainty)};
                self->parser = std::move(parser);
                std::copy(taggers.begin(), taggers.end(), self->taggers.begin());
                self->pieces = std::make_unique<PieceLabeller<ParseLabeller>>([=] {
                  std::array<ColumnTagger, 3> use;
                  for (std::size_t c = 0; c < 3; ++c) {
                    if (!self->taggers[c]) continue;
                    use[c] = {self->taggers[c]->model.get(), &self->taggers[c]->names};
                  }
                  return std::make_unique<ParseLabeller>(*self->parser->model, use, read, options);
                });
              },
              nb::arg("parser"), nb::arg("taggers"), nb::arg("format"), nb::arg("lemmas"),
              nb::arg("confidence"), nb::arg("temperature"), nb::arg("certainty"));
  bind_labelling<PyParseLabeller>(labeller);
  m.def(
      "pack_table",
      [](nb::handle weights, std::size_t width) {
        const Bytes table(weights);
        const PackedArrays p = packed(table.as<float>("the weights"), width);
        return nb::make_tuple(to_bytes(p.present), to_bytes(p.values), to_bytes(p.codes));
      },
      nb::arg("weights"), nb::arg("width"));
  m.def("check_trees", &check_trees, nb::arg("corpus"));
  m.def("read_trees", &read_trees, nb::arg("corpus"), nb::arg("begin"), nb::arg("end"));
  m.def(
      "untagged_sentence", [](const Corpus& corpus) { return untagged_sentence(conllu(corpus)); },
      nb::arg("corpus"));
}

}  // namespace structlearn::python
