#include "tasks/words/features.hpp"

namespace structlearn::words {

void Run::set(std::span<const std::uint32_t> points) {
  const std::size_t n = points.size();
  points_.resize(n + 2 * kReach);
  types_.assign(n + 2 * kReach + kLongestGram, kBeyond);
  // Beyond the characters of Unicode, and within the 21 bits that one has in an n-gram.
  for (std::size_t k = 0; k < kReach; ++k) {
    points_[kReach - 1 - k] = static_cast<std::uint32_t>(0x110000 + k);
    points_[kReach + n + k] = static_cast<std::uint32_t>(0x110010 + k);
  }
  for (std::size_t i = 0; i < n; ++i) {
    points_[i + kReach] = points[i];
    types_[i + kReach] = script_of(points[i]);
  }
}

}  // namespace structlearn::words
