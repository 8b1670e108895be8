// The table of feature names that Python and models share.
#pragma once

#include "text/strings.hpp"

namespace structlearn::python {

struct NameTable {
  text::StringTable strings;
};

}  // namespace structlearn::python
