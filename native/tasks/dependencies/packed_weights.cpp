#include "tasks/dependencies/packed_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
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

// The bits of the values that are not 0, and these values. `encode` gives no 0 with a sign.
template <class Value, class Encode>
void gather(std::span<const float> weights, PackedArrays& out, Encode&& encode) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Value value = weights[i] == 0.0f ? Value{0} : encode(weights[i]);
    if (value == 0) continue;
    out.present[i / 8] = static_cast<std::uint8_t>(out.present[i / 8] | 1U << i % 8);
    std::uint8_t bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.values.insert(out.values.end(), bytes, bytes + sizeof value);
  }
}

}  // namespace

PackedArrays packed(std::span<const float> weights, std::size_t width) {
  PackedArrays out;
  out.present.assign((weights.size() + 7) / 8, 0);
  float largest = 0.0f;
  for (const float w : weights) largest = std::max(largest, std::abs(w));
  switch (width) {
    case 1: {
      // So large that all codes are normal floats, whose roots tell them apart.
      largest = std::max(largest, std::numeric_limits<float>::min() * 127 * 127);
      for (int k = 0; k < 256; ++k) {
        const int step = k < 128 ? k : k - 256;
        const double share = std::min(std::abs(step) / 127.0, 1.0);
        out.codes.push_back(
            static_cast<float>(std::copysign(share * share * static_cast<double>(largest), step)));
      }
      gather<std::uint8_t>(weights, out, [largest](float w) {
        const float step = std::nearbyint(127.0f * std::sqrt(std::abs(w) / largest));
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::copysign(step, w)));
      });
      break;
    }
    case 2:
      if (static_cast<double>(largest) >= kHalfEnds) {
        std::ostringstream message;
        message << "a weight of size " << largest
                << " is too large for float16: save with precision='float32' or 'int8'";
        throw std::invalid_argument(message.str());
      }
      gather<std::uint16_t>(weights, out, [](float w) {
        const std::uint16_t half = to_half(static_cast<double>(w));
        return half == 0x8000U ? std::uint16_t{0} : half;
      });
      break;
    case 4:
      gather<std::uint32_t>(weights, out, [](float w) { return std::bit_cast<std::uint32_t>(w); });
      break;
    default:
      throw std::invalid_argument("weights have items of an unknown size");
  }
  return out;
}

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

Table<float> borrowed(std::span<const float> from, const char* what) {
  check_size(from.size(), what);
  check_finite(from, what);
  return {from.data(), from.size()};
}

LargeArray<float> copied(std::span<const float> from, const char* what) {
  borrowed(from, what);
  return {from.begin(), from.end()};
}

}  // namespace structlearn::parsing
