// Distinct strings, numbered in the order of their first occurrence, in one piece of memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "numeric/probing.hpp"
#include "text/hash.hpp"

namespace structlearn::text {

class StringTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;

  StringTable() : slot_(64, kAbsent), begin_{0} {}

  std::size_t size() const { return hash_.size(); }
  std::string_view operator[](std::uint32_t id) const {
    return {text_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  std::uint64_t hash(std::uint32_t id) const { return hash_[id]; }
  // Bytes held, for whoever has to stay within a limit.
  std::size_t bytes() const {
    return text_.capacity() + 8 * (begin_.capacity() + hash_.capacity()) + 4 * slot_.capacity();
  }

  std::uint32_t find(std::string_view s) const { return slot_[place(s, hash_string(s))]; }

  std::uint32_t add(std::string_view s) {
    const std::uint64_t h = hash_string(s);
    const std::size_t at = place(s, h);
    if (slot_[at] != kAbsent) return slot_[at];
    const auto id = static_cast<std::uint32_t>(hash_.size());
    text_.insert(text_.end(), s.begin(), s.end());
    begin_.push_back(text_.size());
    hash_.push_back(h);
    slot_[at] = id;
    if (4 * hash_.size() > 3 * slot_.size()) grow();
    return id;
  }

 private:
  // Where s is, or where it belongs.
  std::size_t place(std::string_view s, std::uint64_t h) const {
    return probe(h, slot_.size() - 1,
                 [&](std::size_t at) { return slot_[at] == kAbsent || holds(slot_[at], s, h); });
  }
  bool holds(std::uint32_t id, std::string_view s, std::uint64_t h) const {
    return hash_[id] == h && begin_[id + 1] - begin_[id] == s.size() &&
           same_text(text_.data() + begin_[id], s.data(), s.size());
  }
  void grow() {
    double_table(
        slot_, kAbsent, [](std::uint32_t id) { return id != kAbsent; },
        [&](std::uint32_t id) { return hash_[id]; });
  }

  std::vector<char> text_;
  std::vector<std::uint32_t> slot_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint64_t> hash_;
};

}  // namespace structlearn::text
