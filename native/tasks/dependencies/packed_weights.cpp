#include "tasks/dependencies/packed_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "numeric/half.hpp"
#include "tasks/dependencies/weights.hpp"

namespace structlearn::parsing {
namespace {

void check_size(std::size_t n, const char* what) {
  if (n < kLine || !std::has_single_bit(n)) {
    throw std::invalid_argument(std::string(what) + " are not a power of two");
  }
}

void check_finite(std::span<const float> weights, const char* what) {
  bool finite = true;
  for (const float w : weights) finite &= std::abs(w) <= std::numeric_limits<float>::max();
  if (!finite) throw std::invalid_argument(std::string(what) + " have one that is not a number");
}

// Values are decoded a block at a time, in loops without branches, and then put where they belong.
template <class Value, class Decode>
void spread(const PackedWeights& packed, LargeArray<float>& out, const char* what,
            Decode&& decode) {
  constexpr std::size_t kWord = 64;
  const std::uint8_t* at = packed.values.data();
  float block[kWord];
  for (std::size_t begin = 0; begin < 8 * packed.present.size(); begin += kWord) {
    std::uint64_t bits = 0;
    const std::size_t bytes = std::min<std::size_t>(8, packed.present.size() - begin / 8);
    std::memcpy(&bits, packed.present.data() + begin / 8, bytes);
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    for (std::size_t i = 0; i < count; ++i) {
      Value value;
      std::memcpy(&value, at + i * sizeof value, sizeof value);
      block[i] = decode(value);
    }
    at += count * sizeof(Value);
    float* line = out.data() + begin;
    for (std::size_t i = 0; bits != 0; ++i, bits &= bits - 1) {
      line[std::countr_zero(bits)] = block[i];
    }
  }
  check_finite({out.data(), out.size()}, what);
}

}  // namespace

LargeArray<float> unpacked(const PackedWeights& packed, const char* what) {
  const std::size_t n = 8 * packed.present.size();
  check_size(n, what);
  std::size_t count = 0;
  for (const std::uint8_t bits : packed.present) {
    count += static_cast<std::size_t>(std::popcount(bits));
  }
  if (count * packed.width != packed.values.size() ||
      (packed.width == 1 && packed.codes.size() != 256)) {
    throw std::invalid_argument(std::string(what) + " do not fit together");
  }
  LargeArray<float> out(n);
  switch (packed.width) {
    case 1:
      spread<std::uint8_t>(packed, out, what, [&](std::uint8_t k) { return packed.codes[k]; });
      break;
    case 2:
      spread<std::uint16_t>(packed, out, what, from_half);
      break;
    case 4:
      spread<float>(packed, out, what, [](float w) { return w; });
      break;
    default:
      throw std::invalid_argument(std::string(what) + " have items of an unknown size");
  }
  return out;
}

LargeArray<float> copied(std::span<const float> from, const char* what) {
  check_size(from.size(), what);
  check_finite(from, what);
  return {from.begin(), from.end()};
}

}  // namespace structlearn::parsing
