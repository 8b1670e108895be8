// The structures of the core, with the names of their score blocks.
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/structures/native_structure.hpp"
#include "structures/chains/chain.hpp"
#include "structures/chains/semimarkov.hpp"
#include "structures/multiclass.hpp"
#include "structures/trees/arborescence.hpp"
#include "structures/trees/constituency.hpp"
#include "structures/trees/grammar_trees.hpp"
#include "structures/trees/spanning_tree.hpp"
#include "structures/trees/tree.hpp"

namespace structlearn::python {

NativeStructure make_chain(std::size_t order) {
  if (order > Chain::kMaxOrder) {
    throw std::invalid_argument("order must be at most " + std::to_string(Chain::kMaxOrder));
  }
  NativeStructure s{std::make_shared<Chain>(),
                    {{"label", Chain::kLabel, 1, false, true},
                     {"start", Chain::kStart, 1, true, false},
                     {"end", Chain::kEnd, 1, true, false}}};
  for (std::size_t j = 1; j <= order; ++j) {
    s.blocks.push_back({j == order ? "transition" : "transition" + std::to_string(j),
                        Chain::transition(j), j + 1, true, true});
  }
  return s;
}

NativeStructure make_semimarkov(std::size_t max_length) {
  return {std::make_shared<SemiMarkov>(max_length),
          {{"segment", SemiMarkov::kSegment, 1, false, true, max_length},
           {"start", SemiMarkov::kStart, 1, true, false},
           {"end", SemiMarkov::kEnd, 1, true, false},
           {"transition", SemiMarkov::kTransition, 2, true, true}},
          OutputKind::kSegments};
}

namespace {

NativeStructure make_multiclass() {
  return {std::make_shared<Multiclass>(), {{"label", 0, 1, true, false}}, OutputKind::kNumber};
}

NativeStructure make_arborescence(bool projective, bool single_root) {
  return {std::make_shared<Arborescence>(projective, single_root),
          {{"arc", Arborescence::kArc, 1, false, true, 0, 2},
           {"sibling", Arborescence::kSibling, 0, false, true, 0, 3}},
          OutputKind::kHeads};
}

NativeStructure make_spanning_tree(Input<std::int64_t, nb::ndim<2>> edges) {
  return {std::make_shared<SpanningTree>(),
          {{"edge", SpanningTree::kEdge, 0, false, true, 0, 2}},
          OutputKind::kArray,
          "edges",
          {edges.data(), edges.data() + edges.size()}};
}

NativeStructure make_constituency() {
  return {std::make_shared<Constituency>(),
          {{"span", Constituency::kSpan, 1, false, true, kEveryEnd}},
          OutputKind::kSpans};
}

NativeStructure make_tree(Input<std::int64_t, nb::ndim<1>> parents) {
  return {std::make_shared<Tree>(),
          {{"label", Tree::kLabel, 1, false, true}, {"edge", Tree::kEdge, 2, true, true}},
          OutputKind::kArray,
          "parents",
          {parents.data(), parents.data() + parents.size()}};
}

NativeStructure make_grammar_trees(std::size_t symbols, Input<std::uint32_t, nb::ndim<2>> binary,
                                   Input<std::uint32_t, nb::ndim<2>> unary, std::size_t max_chain) {
  Grammar grammar;
  grammar.symbols = symbols;
  if (binary.shape(1) != 3 || unary.shape(1) != 2) {
    throw std::invalid_argument("rules are rows: (parent, left, right) and (parent, child)");
  }
  grammar.binary.resize(binary.shape(0));
  std::copy(binary.data(), binary.data() + binary.size(),
            grammar.binary.empty() ? nullptr : grammar.binary[0].data());
  grammar.unary.resize(unary.shape(0));
  std::copy(unary.data(), unary.data() + unary.size(),
            grammar.unary.empty() ? nullptr : grammar.unary[0].data());
  grammar.close(max_chain);
  return {std::make_shared<GrammarTrees>(std::move(grammar)),
          {{"word", GrammarTrees::kWord, 1, false, true},
           {"span", GrammarTrees::kSpan, 1, false, true, kEveryEnd},
           {"binary", GrammarTrees::kBinary, 1, true, false},
           {"unary", GrammarTrees::kUnary, 1, true, false},
           {"root", GrammarTrees::kRoot, 1, true, false}},
          OutputKind::kSpans};
}

// The chains of unary rules as the numbers of their rules, bottom up.
std::vector<std::vector<std::uint32_t>> unary_chains(
    std::size_t symbols, const std::vector<std::array<std::uint32_t, 2>>& unary,
    std::size_t max_chain) {
  Grammar grammar;
  grammar.symbols = symbols;
  grammar.unary = unary;
  grammar.close(max_chain);
  std::vector<std::vector<std::uint32_t>> chains;
  for (std::size_t c = 0; c + 1 < grammar.chain_ptr.size(); ++c) {
    chains.emplace_back(grammar.chain_rule.begin() + grammar.chain_ptr[c],
                        grammar.chain_rule.begin() + grammar.chain_ptr[c + 1]);
  }
  return chains;
}

}  // namespace

void bind_kinds(nb::module_& m) {
  m.def("chain", &make_chain, nb::arg("order"));
  m.def("multiclass", &make_multiclass);
  m.def("semimarkov", &make_semimarkov, nb::arg("max_length"));
  m.def("arborescence", &make_arborescence, nb::arg("projective"), nb::arg("single_root"));
  m.def("spanning_tree", &make_spanning_tree, nb::arg("edges"));
  m.def("constituency", &make_constituency);
  m.def("grammar_trees", &make_grammar_trees, nb::arg("symbols"), nb::arg("binary"),
        nb::arg("unary"), nb::arg("max_chain"));
  m.def("unary_chains", &unary_chains, nb::arg("symbols"), nb::arg("unary"), nb::arg("max_chain"));
  m.def("tree", &make_tree, nb::arg("parents"));
}

}  // namespace structlearn::python
