// The inputs of a model, as Python asks about them.
#pragma once

#include <memory>
#include <utility>

#include "bindings/bindings.hpp"
#include "models/reader.hpp"

namespace structlearn::python {

// `owner` keeps alive what the inputs borrow: the model, the corpus, arrays.
struct PyInputs {
  PyInputs(nb::object held, std::unique_ptr<const Inputs> asked)
      : owner(std::move(held)), inputs(std::move(asked)) {}
  PyInputs(PyInputs&&) = default;
  nb::object owner;
  std::unique_ptr<const Inputs> inputs;
};

}  // namespace structlearn::python
