// The probability that a chunk is right as a whole: its label, where it begins and where it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/confidence.hpp"
#include "models/reader.hpp"

namespace structlearn::text {

// Where chunks begin and end between two names of labels, in any scheme.
struct ChunkBoundaries {
  static constexpr std::uint8_t kEnds = 1, kBegins = 2;
  std::vector<std::uint8_t> between;  // [names + 1][names]; the last row: before the first token
  std::vector<std::int32_t> type;     // of the chunk that a name begins

  bool empty() const { return type.empty(); }
  std::uint8_t at(std::size_t before, std::size_t name) const {
    return between[before * type.size() + name];
  }
  // The row of `between` in the place of a name before the first token.
  std::size_t outside() const { return type.size(); }
};

// Replaces the confidence of the tokens in chunks by that of their chunks, from exact sums over all
// labellings of the sentence that was scored last, in which the same chunk stands.
//
// name_of: from a label to its name. y: labels. certainty: from such a sum to a confidence. Throws
// Incapable where there are no sums.
void put_chunk_confidence(const ChunkBoundaries&, Reader&, const Scored&,
                          std::span<const std::int32_t> name_of, const Output& y, double eps,
                          const Confidence& certainty, std::vector<double>& confidence);

}  // namespace structlearn::text
