// The core's problem inside a Python object, for the loops that have files of their own.
#pragma once

#include "bindings.hpp"
#include "structlearn/problem.hpp"

namespace structlearn::python {

// Throws where the object is no Problem of the module.
const Problem& problem_of(nb::handle object);

}  // namespace structlearn::python
