// Tables of weights as model files hold them: one bit for each weight, set where it is not 0, and
// the weights of those bits in order, in 32, 16 or 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/large_pages.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {

struct PackedWeights {
  std::span<const std::uint8_t> present;  // weight i: bit i % 8 of byte i / 8
  std::span<const std::uint8_t> values;   // little-endian
  // Bytes of a value: 4, a float; 2, half a float (IEEE 754 binary16); 1, the number of a code.
  std::size_t width = 4;
  std::span<const float> codes;  // 256 of them, where the width is 1
};

// All throw std::invalid_argument where the weights are not finite or not a power of two in
// number.
LargeArray<float> unpacked(const PackedWeights&, const char* what);
LargeArray<float> copied(std::span<const float>, const char* what);
Table<float> borrowed(std::span<const float>, const char* what);

// The arrays of PackedWeights, owned.
struct PackedArrays {
  std::vector<std::uint8_t> present, values;
  std::vector<float> codes;
};

// The reverse of unpacked(): those weights that are not 0 in values of `width` bytes. The codes of
// values of one byte are ± (k/127)² of the largest weight. Throws std::invalid_argument if a weight
// is too large for half a float.
PackedArrays packed(std::span<const float>, std::size_t width);

}  // namespace structlearn::parsing
