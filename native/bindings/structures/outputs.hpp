// Outputs of native structures as Python has them.
#pragma once

#include "bindings/bindings.hpp"
#include "bindings/structures/native_structure.hpp"

namespace structlearn::python {

nb::object to_python(const NativeStructure&, const Layout&, const Output&);

void bind_outputs(nb::module_& m);

}  // namespace structlearn::python
