// Python's lists, dictionaries, strings and numbers as JSON has them.
#pragma once

#include <string>
#include <utility>

#include "bindings/bindings.hpp"
#include "text/json.hpp"

namespace structlearn::python {

// Throws std::invalid_argument for anything else.
text::Json json_of(nb::handle object);

// UTF-8; halves of surrogate pairs are three bytes, like any character.
std::string utf8_of(nb::handle text);

}  // namespace structlearn::python
