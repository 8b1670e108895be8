// Weights of features as smaller model files hold them: keys, counts, labels and rounded weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/tagging/weight_table.hpp"

namespace structlearn::text {

struct RoundedWeights {
  bool hashed = false;                    // features are slots, and their keys are not read
  std::span<const std::uint64_t> keys;    // in ascending order
  std::span<const std::uint16_t> counts;  // weights of each feature
  std::span<const std::uint8_t> columns;  // labels, of 2 or 4 bytes each
  std::size_t column_width = 2;
  std::span<const std::uint8_t> values;  // 2 bytes: half a float; 1: a number of steps
  std::size_t value_width = 2;
  double scale = 1.0;  // the size of a step
};

// The table that looks them up. Throws std::invalid_argument where they do not fit together.
WeightArrays expanded(const RoundedWeights&, std::size_t outcomes);

// The arrays of RoundedWeights, owned, of the weights that rounding does not make 0.
struct CompactWeights {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint16_t> counts;
  std::vector<std::uint32_t> columns;
  std::vector<std::uint8_t> values;
  double scale = 1.0;
  std::vector<std::uint32_t> kept;  // numbers of the features that they hold: those with weights,
                                    // and all if they are hashed
};

// Rounds to halves (a `value_width` of 2), of which the largest is finite, or to 255 steps (1).
// Throws std::invalid_argument if a feature has more weights than can be counted.
CompactWeights compacted(const UnpackedWeights&, bool hashed, std::size_t value_width);

}  // namespace structlearn::text
