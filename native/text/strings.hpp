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

  std::size_t size() const { return hash_.size(); }
  std::string_view operator[](std::uint32_t id) const {
    return {text_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  std::uint64_t hash(std::uint32_t id) const { return hash_[id]; }
  // Bytes held, for whoever has to stay within a limit.
  std::size_t bytes() const {
    return text_.capacity() + 8 * (begin_.capacity() + hash_.capacity() + table_.slots().size());
  }

  // Where hashes are made ahead of time, the table's memory can be asked for too.
  void prefetch(std::uint64_t h) const { table_.prefetch(static_cast<std::uint32_t>(h)); }

  std::uint32_t find(std::string_view s) const { return find(s, hash_string(s)); }
  std::uint32_t find(std::string_view s, std::uint64_t h) const {
    return table_.find(h, [&](const Slot& slot) { return holds(slot, s, h); }).id;
  }

  std::uint32_t add(std::string_view s) { return add(s, hash_string(s)); }
  std::uint32_t add(std::string_view s, std::uint64_t h) {
    Slot& slot = table_.find(h, [&](const Slot& it) { return holds(it, s, h); });
    if (slot.used()) return slot.id;
    const auto id = static_cast<std::uint32_t>(hash_.size());
    text_.insert(text_.end(), s.begin(), s.end());
    begin_.push_back(text_.size());
    hash_.push_back(h);
    table_.fill(slot, {id, static_cast<std::uint32_t>(h)});
    return id;
  }

  // Forgets all but the first n.
  void keep_first(std::size_t n) {
    if (n >= size()) return;
    begin_.resize(n + 1);
    text_.resize(begin_.back());
    hash_.resize(n);
    table_ = OpenTable<Slot>(n);
    for (std::size_t id = 0; id < n; ++id) {
      const auto low = static_cast<std::uint32_t>(hash_[id]);
      Slot& slot = table_.find(low, [](const Slot&) { return false; });
      table_.fill(slot, {static_cast<std::uint32_t>(id), low});
    }
  }

 private:
  struct Slot {
    std::uint32_t id = kAbsent;
    std::uint32_t low = 0;  // bits of the hash
    bool used() const { return id != kAbsent; }
    std::size_t home() const { return low; }
  };
  bool holds(const Slot& slot, std::string_view s, std::uint64_t h) const {
    return slot.low == static_cast<std::uint32_t>(h) && (*this)[slot.id].size() == s.size() &&
           same_text(text_.data() + begin_[slot.id], s.data(), s.size());
  }

  std::vector<char> text_;
  OpenTable<Slot> table_;
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint64_t> hash_;
};

}  // namespace structlearn::text
