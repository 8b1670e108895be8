// Stretches of a label sequence, each with a test of the pairs of neighbouring labels inside it: an
// entity with its boundaries is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace structlearn {

// The positions begin..end - 1. Labels pass if all pairs that end at begin..end pass, or up to the
// last position of the sequence.
struct Stretch {
  std::size_t begin = 0, end = 0;
  std::int32_t kind = 0;  // as the test reads it
};

// Whether an outcome may stand at a position of a stretch behind another one, which is kNoOutcome
// at the first position of the sequence.
using Neighbours = std::function<bool(const Stretch&, std::size_t position, std::size_t before,
                                      std::size_t outcome)>;
inline constexpr std::size_t kNoOutcome = static_cast<std::size_t>(-1);

}  // namespace structlearn
