// Numbers of 16 bits (IEEE 754 binary16), as model files may hold them.
#pragma once

#include <algorithm>
#include <bit>
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

}  // namespace structlearn
