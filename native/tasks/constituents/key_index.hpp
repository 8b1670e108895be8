// Feature keys -> rows, by open addressing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
      std::size_t at = keys[r] & mask_;
      while (key_[at] != 0) at = (at + 1) & mask_;
      key_[at] = keys[r];
      row_[at] = static_cast<std::uint32_t>(r);
    }
  }

  std::size_t size() const { return size_; }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(key_.data() + (key & mask_)); }
  std::uint32_t find(std::uint64_t key) const {
    std::size_t at = key & mask_;
    while (key_[at] != 0) {
      if (key_[at] == key) return row_[at];
      at = (at + 1) & mask_;
    }
    return kAbsent;
  }

 private:
  std::size_t size_ = 0, mask_ = 0;
  std::vector<std::uint64_t> key_ = {0};
  std::vector<std::uint32_t> row_ = {0};
};

}  // namespace structlearn::text
