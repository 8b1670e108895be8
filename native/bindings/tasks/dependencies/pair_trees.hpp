// Projective trees with scores of pairs of arcs, for Python.
#pragma once

#include "bindings/bindings.hpp"

namespace structlearn::python {

void bind_pair_trees(nb::module_& m);

}  // namespace structlearn::python
