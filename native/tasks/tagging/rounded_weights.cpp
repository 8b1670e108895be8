#include "tasks/tagging/rounded_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "numeric/half.hpp"

namespace structlearn::text {
namespace {

// Item i of packed ones, which need not lie at multiples of their size.
template <class Item>
Item item(std::span<const std::uint8_t> from, std::size_t i) {
  Item found;
  std::memcpy(&found, from.data() + i * sizeof found, sizeof found);
  return found;
}

void check_keys(const RoundedWeights& given) {
  if (given.hashed) {
    if (!std::has_single_bit(given.counts.size())) {
      throw std::invalid_argument("the hashed features are not a power of two");
    }
    return;
  }
  std::uint64_t last = 0;  // which no feature has
  for (const std::uint64_t key : given.keys) {
    if (key <= last) throw std::invalid_argument("a key twice, or keys out of order");
    last = key;
  }
}

double largest_size(std::span<const double> weights) {
  double largest = 0.0;
  for (const double w : weights) largest = std::max(largest, std::abs(w));
  return largest;
}

void append_half(std::uint16_t half, std::vector<std::uint8_t>& out) {
  out.push_back(static_cast<std::uint8_t>(half));
  out.push_back(static_cast<std::uint8_t>(half >> 8));
}

}  // namespace

CompactWeights compacted(const UnpackedWeights& given, bool hashed, std::size_t value_width) {
  CompactWeights out;
  const double largest = largest_size(given.weight);
  const bool halves = value_width == 2;
  if (halves) {
    while (largest / out.scale >= kHalfEnds) out.scale *= 2.0;
  } else if (largest > 0.0) {
    out.scale = largest / 127;
  }
  for (std::size_t f = 0; f + 1 < given.row_ptr.size(); ++f) {
    std::size_t count = 0;
    for (std::uint32_t q = given.row_ptr[f]; q < given.row_ptr[f + 1]; ++q) {
      const double w = given.weight[q] / out.scale;
      if (halves) {
        const std::uint16_t half = to_half(w);
        if ((half & 0x7FFFU) == 0) continue;
        append_half(half, out.values);
      } else {
        const double steps = std::nearbyint(w);
        if (steps == 0.0) continue;
        out.values.push_back(static_cast<std::uint8_t>(static_cast<std::int8_t>(steps)));
      }
      out.columns.push_back(given.column[q]);
      ++count;
    }
    if (count == 0 && !hashed) continue;
    if (count > std::numeric_limits<std::uint16_t>::max()) {
      throw std::invalid_argument(
          "a feature with more than 65,535 weights: use precision='float32'");
    }
    out.keys.push_back(given.keys[f]);
    out.counts.push_back(static_cast<std::uint16_t>(count));
    out.kept.push_back(static_cast<std::uint32_t>(f));
  }
  return out;
}

WeightArrays expanded(const RoundedWeights& given, std::size_t outcomes) {
  if ((given.column_width != 2 && given.column_width != 4) ||
      (given.value_width != 1 && given.value_width != 2)) {
    throw std::invalid_argument("labels or weights of an unknown size");
  }
  std::vector<std::uint32_t> row_ptr{0};
  row_ptr.reserve(given.counts.size() + 1);
  std::uint64_t total = 0;
  for (const std::uint16_t count : given.counts) {
    total += count;
    row_ptr.push_back(static_cast<std::uint32_t>(total));
  }
  if (given.columns.size() != total * given.column_width ||
      given.values.size() != total * given.value_width ||
      total > std::numeric_limits<std::uint32_t>::max() ||
      (!given.hashed && given.keys.size() != given.counts.size())) {
    throw std::invalid_argument("the arrays of weights do not fit together");
  }
  check_keys(given);
  std::vector<std::uint32_t> column(total);
  std::vector<double> weight(total);
  for (std::size_t i = 0; i < total; ++i) {
    column[i] = given.column_width == 2 ? item<std::uint16_t>(given.columns, i)
                                        : item<std::uint32_t>(given.columns, i);
    if (column[i] >= outcomes) {
      throw std::invalid_argument("a weight of a label that does not exist");
    }
    const double value = given.value_width == 2
                             ? static_cast<double>(from_half(item<std::uint16_t>(given.values, i)))
                             : static_cast<double>(item<std::int8_t>(given.values, i));
    weight[i] = value * given.scale;
    if (!(std::abs(weight[i]) <= static_cast<double>(std::numeric_limits<float>::max()))) {
      throw std::invalid_argument("a weight that is not a number");
    }
  }
  return pack(given.hashed ? std::span<const std::uint64_t>() : given.keys, row_ptr, column, weight,
              outcomes, 0.0);
}

}  // namespace structlearn::text
