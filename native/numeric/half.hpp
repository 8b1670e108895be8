// Numbers of 16 bits (IEEE 754 binary16), as model files may hold them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace structlearn {

// Infinities and what is not a number both become infinity: no model may have either.
inline float from_half(std::uint16_t half) {
  const std::uint32_t size = half & 0x7FFFU, sign = half & 0x8000U;
  // Exponents differ by 112; as a product this is right for the smallest numbers too.
  const auto value = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size << 13) * 0x1p112F);
  const std::uint32_t infinity = size >= 0x7C00U ? 0x7F800000U : 0U;
  return std::bit_cast<float>(std::max(value, infinity) | sign << 16);
}

// Numbers of this size and larger are rounded to infinity.
inline constexpr double kHalfEnds = 65520.0;

// The nearest number of 16 bits, the even one of two.
inline std::uint16_t to_half(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000U);
  const double size = std::abs(x);
  std::uint64_t half = 0x7C00U;
  if (size < 0x1p-14) {  // equal steps down to zero
    half = static_cast<std::uint64_t>(std::nearbyint(size * 0x1p24));
  } else if (size < kHalfEnds) {  // 42 bits less; exponents differ by 1008
    const std::uint64_t all = std::bit_cast<std::uint64_t>(size);
    half = ((all + ((std::uint64_t{1} << 41) - 1) + (all >> 42 & 1)) >> 42) - (1008U << 10);
  }
  return static_cast<std::uint16_t>(half | sign);
}

}  // namespace structlearn
