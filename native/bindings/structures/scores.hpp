// Scores that come from Python: their shapes and values checked here, so that a call on a short
// sentence stays in the microseconds.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/structures/native_structure.hpp"

namespace structlearn::python {

// The scores of an example, borrowed.
struct Parsed {
  Layout layout;
  Scores scores;
  std::array<bool, kMaxBlocks> looked_at{};  // whose values have been checked
};

// Everything here throws std::invalid_argument; `example` says which one, -1 where there is one.
Parsed parse(const NativeStructure&, nb::dict scores, std::ptrdiff_t example = -1);
// A batch: each block a list, one array an example, or one array for all. The values in lists are
// looked at just before they are used, by `check_example`: what is read twice in a row is read from
// memory once.
std::vector<Parsed> parse_batch(const NativeStructure&, nb::dict scores, std::size_t n);
void check_example(const NativeStructure&, const Parsed&, std::size_t example);
// NaN and +inf have no meaning as a score; -inf forbids.
void check_values(const double* x, std::size_t n, const std::string& name, std::ptrdiff_t example);
// Where marginals go: an array a block, or of each block's list the one of an example.
Marginals outputs(const NativeStructure&, nb::dict outs, bool by_position,
                  std::ptrdiff_t example = -1);

[[noreturn]] void nothing_legal(std::ptrdiff_t example);
// Refuses a sum over no output at all, and one that is beyond the numbers there are.
void check_sum(double value, std::ptrdiff_t example);

}  // namespace structlearn::python
