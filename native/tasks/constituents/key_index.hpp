// Feature keys -> rows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/probing.hpp"

namespace structlearn::text {

class KeyIndex {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;

  KeyIndex() = default;
  // Key r has row r; no key is 0.
  explicit KeyIndex(std::span<const std::uint64_t> keys) : size_(keys.size()) {
    const std::size_t slots = std::bit_ceil(2 * keys.size() + 2);
    mask_ = slots - 1;
    key_.assign(slots, 0);
    row_.assign(slots, kAbsent);
    for (std::size_t r = 0; r < keys.size(); ++r) {
      const std::size_t at = probe(keys[r], mask_, [&](std::size_t i) { return key_[i] == 0; });
      key_[at] = keys[r];
      row_[at] = static_cast<std::uint32_t>(r);
    }
  }

  std::size_t size() const { return size_; }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(key_.data() + (key & mask_)); }
  std::uint32_t find(std::uint64_t key) const {
    return row_[probe(key, mask_, [&](std::size_t i) { return key_[i] == key || key_[i] == 0; })];
  }

 private:
  std::size_t size_ = 0, mask_ = 0;
  std::vector<std::uint64_t> key_ = {0};
  std::vector<std::uint32_t> row_ = {kAbsent};  // where there is no key: kAbsent
};

}  // namespace structlearn::text
