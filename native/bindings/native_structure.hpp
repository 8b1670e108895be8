// A structure of the core with the names and ranks of its score blocks, as Python calls it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "structlearn/structure.hpp"

namespace structlearn::python {

struct BlockName {
  std::string name;
  std::size_t block;         // its index in a Layout
  std::size_t outcome_rank;  // trailing axes that make up the outcomes
  bool may_be_shared;        // may come without the axis of positions
  bool may_be_anchored;      // may come with it
};

struct NativeStructure {
  std::shared_ptr<const Structure> structure;
  std::vector<BlockName> blocks;
  bool one_number;  // the output is an int, not an array
};

}  // namespace structlearn::python
