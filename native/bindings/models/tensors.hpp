// The arrays of model files as Python has them: dictionaries of `Tensor`, or of buffers.
#pragma once

#include <vector>

#include "bindings/buffers.hpp"
#include "models/array_views.hpp"
#include "models/container.hpp"

namespace structlearn::python {

// `kept` holds the buffers for as long as they are read.
Tensors tensors_of(nb::dict tensors, std::vector<Bytes>& kept);
ArrayViews arrays_of(nb::dict arrays, std::vector<Bytes>& kept);

}  // namespace structlearn::python
