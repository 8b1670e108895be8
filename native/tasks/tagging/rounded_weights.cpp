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

}  // namespace

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
