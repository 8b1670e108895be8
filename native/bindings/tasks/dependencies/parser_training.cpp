// What dependency parsers learn from: a treebank, the pruner's problem, and the parser's.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/tasks/dependencies/py_tags.hpp"
#include "structures/chains/chain.hpp"
#include "tasks/dependencies/arc_scorer.hpp"
#include "tasks/dependencies/pruner_scorer.hpp"

namespace structlearn::python {
namespace {

using namespace structlearn::parsing;

// A treebank, which examples refer to, lives as long as they do.
struct PyExamples {
  nb::object treebank;
  std::shared_ptr<const ParseExamples> examples;
};

void check_bits(unsigned bits) {
  if (bits < 4 || bits > 30) throw std::invalid_argument("bits must be from 4 to 30");
}

PyProblem pruner_problem(nb::object self, unsigned bits, nb::object sample_weight) {
  check_bits(bits);
  const auto scorer =
      std::make_shared<PrunerScorer>(nb::cast<const LabelledTreebank&>(self).trees, bits);
  const auto words = std::make_shared<StructureOracle>(std::make_shared<Chain>());
  return PyProblem(self, scorer, words, scorer->gold(), Cost{}, sample_weight);
}

PyExamples pruned(nb::object self, nb::handle weights, std::uint32_t most, double least,
                  bool projective, int order) {
  const Bytes bytes(weights);
  const auto table = bytes.as<float>("the pruner's weights");
  if (table.size() < kLine || (table.size() & (table.size() - 1)) != 0) {
    throw std::invalid_argument("the pruner's weights are not a power of two");
  }
  const auto& treebank = nb::cast<const LabelledTreebank&>(self);
  std::shared_ptr<const ParseExamples> examples;
  {
    nb::gil_scoped_release release;
    Pruner pruner({table.data(), table.size()}, {most, least}, projective);
    examples = std::make_shared<ParseExamples>(treebank, pruner, order > 1);
  }
  return {self, examples};
}

PyProblem parser_problem(const PyExamples& self, bool projective, int iterations, unsigned bits,
                         nb::object sample_weight) {
  check_bits(bits);
  if (iterations < 1) throw std::invalid_argument("iterations must be at least 1");
  const auto& examples = self.examples;
  return PyProblem(
      self.treebank, std::make_shared<ArcScorer>(examples, bits),
      std::make_shared<StructureOracle>(std::make_shared<DependencyTrees>(projective, iterations)),
      examples->gold(), examples->cost(), sample_weight);
}

}  // namespace

void bind_parser_training(nb::module_& m) {
  nb::class_<LabelledTreebank>(m, "ParserTreebank")
      .def(
          "__init__",
          [](LabelledTreebank* self, const text::Corpus& corpus, nb::list tags, bool lemmas,
             std::vector<std::string> labels) {
            new (self) LabelledTreebank(corpus, read_tags(corpus, tags), lemmas, std::move(labels));
          },
          nb::arg("corpus"), nb::arg("tags"), nb::arg("lemmas"),
          nb::arg("labels") = std::vector<std::string>())
      .def_prop_ro("labels", [](const LabelledTreebank& t) { return t.labels; })
      .def_prop_ro("projective",
                   [](const LabelledTreebank& t) {
                     std::vector<bool> found;
                     for (const auto& heads : t.trees.heads) found.push_back(is_projective(heads));
                     return found;
                   })
      .def("label_sets",
           [](const LabelledTreebank& t) {
             std::vector<std::uint64_t> keys, masks;
             t.sets.store(keys, masks);
             return nb::make_tuple(to_bytes(keys), to_bytes(masks));
           })
      .def(
          "set_label_sets",
          [](LabelledTreebank& t, nb::handle keys, nb::handle masks) {
            const Bytes k(keys), m(masks);
            t.sets = LabelSets(t.labels.size(), k.as<std::uint64_t>("keys"),
                               m.as<std::uint64_t>("masks"));
          },
          nb::arg("keys"), nb::arg("masks"))
      .def("pruner_problem", &pruner_problem, nb::arg("bits"), nb::arg("sample_weight").none())
      .def("pruned", &pruned, nb::arg("weights"), nb::arg("most"), nb::arg("least"),
           nb::arg("projective"), nb::arg("order"));
  nb::class_<PyExamples>(m, "ParserExamples")
      .def_prop_ro("heads_per_word",
                   [](const PyExamples& e) { return e.examples->heads_per_word(); })
      .def_prop_ro("fingerprint", [](const PyExamples& e) { return e.examples->fingerprint(); })
      .def("problem", &parser_problem, nb::arg("projective"), nb::arg("iterations"),
           nb::arg("bits"), nb::arg("sample_weight").none());
}

}  // namespace structlearn::python
