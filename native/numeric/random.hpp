// A counter-based generator: the i-th number of stream s of a seed is a pure function of
// (seed, s, i), so that results do not depend on the number of threads. The mixing function is
// SplitMix64's (Steele, Lea & Flood 2014).
#pragma once

#include <cstdint>

namespace structlearn {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed + mix(stream + 1))) {}

  // Uniform on [0, 1), 53 bits.
  double uniform() {
    state_ += 0x9E3779B97F4A7C15ULL;
    return static_cast<double>(mix(state_) >> 11) * 0x1.0p-53;
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace structlearn
