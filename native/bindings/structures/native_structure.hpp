// A structure of the core with the names and ranks of its score blocks, as Python calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "structures/structure.hpp"

namespace structlearn::python {

struct BlockName {
  std::string name;
  std::size_t block;         // its index in a Layout
  std::size_t outcome_rank;  // trailing axes that make up the outcomes
  bool may_be_shared;        // may come without the axis of positions
  bool may_be_anchored;      // may come with it
  std::size_t width = 0;     // where a position has a row of sites, a second axis: how many
  // Where sites are pairs or triples of nodes: so many axes of one length come first, then, with
  // outcome_rank 1, one of labels, which may be left out.
  std::size_t node_axes = 0;
};

// As a width: one more than there are positions, the ends of the spans that start there.
inline constexpr std::size_t kEveryEnd = static_cast<std::size_t>(-1);

// What the core's row of integers is to Python: an array, its only number, the segments that start
// where it is not negative, heads (and labels where the scores have them), or what SpanOutputs
// makes of it.
enum class OutputKind { kArray, kNumber, kSegments, kHeads, kSpans };

struct NativeStructure {
  std::shared_ptr<const Structure> structure;
  std::vector<BlockName> blocks;
  OutputKind kind = OutputKind::kArray;
  // The name of the argument that says what the example looks like; empty where there is none.
  std::string topology = {};
  // What it is where the example does not say.
  std::vector<std::int64_t> default_topology = {};
};

NativeStructure make_chain(std::size_t order);
NativeStructure make_semimarkov(std::size_t max_length);

void bind_kinds(nb::module_& m);
void bind_constrained(nb::module_& m);
void bind_hypergraph(nb::module_& m);
void bind_padded(nb::module_& m);

}  // namespace structlearn::python
