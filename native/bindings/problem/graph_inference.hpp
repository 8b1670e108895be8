// What inference for grids, graphs and matchings is made of, as Python says it.
#pragma once

#include <optional>

#include "bindings/bindings.hpp"
#include "problem/graph_oracles.hpp"

namespace structlearn::python {

struct GraphInference {
  nb::object behind;                         // does in Python what the core does not
  std::optional<PairwiseSettings> pairwise;  // none: a matching
  nb::object label_ptr, labels;              // keeps alive what the settings point to
};

}  // namespace structlearn::python
