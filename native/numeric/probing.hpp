// Open addressing, written once: where a key is in a table whose size is a power of two, or where
// it belongs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "numeric/large_pages.hpp"

namespace structlearn {

// The first place at or after `home` where `ends(place)`: the key, or a free slot. A table has
// always a free one.
template <class Ends>
inline std::size_t probe(std::size_t home, std::size_t mask, Ends&& ends) {
  std::size_t at = home & mask;
  while (!ends(at)) at = (at + 1) & mask;
  return at;
}

// Doubles a table. `used(slot)` tells slots that hold something, `home(slot)` where they want to
// be.
template <class Table, class Used, class Home>
void double_table(Table& table, const typename Table::value_type& free, Used&& used, Home&& home) {
  Table larger(2 * table.size(), free);
  const std::size_t mask = larger.size() - 1;
  for (const auto& slot : table) {
    if (!used(slot)) continue;
    larger[probe(home(slot), mask, [&](std::size_t at) { return !used(larger[at]); })] = slot;
  }
  table.swap(larger);
}

// A table that grows. A slot knows whether it is `used()`, and its `home()` where it is; one made
// without arguments is free.
template <class Slot>
class OpenTable {
 public:
  // Room for this many keys before it grows.
  explicit OpenTable(std::size_t expected = 0)
      : slots_(std::bit_ceil(std::max<std::size_t>(64, 2 * expected))) {}

  std::size_t size() const { return size_; }
  const LargeArray<Slot>& slots() const { return slots_; }
  void prefetch(std::size_t home) const {
    __builtin_prefetch(slots_.data() + (home & (slots_.size() - 1)));
  }

  // The slot for which `is(slot)`, or the free one where it belongs.
  template <class Is>
  const Slot& find(std::size_t home, Is&& is) const {
    return slots_[place(home, is)];
  }
  template <class Is>
  Slot& find(std::size_t home, Is&& is) {
    return slots_[place(home, is)];
  }
  // Puts something into the free slot that `find` gave; slots may move after that.
  void fill(Slot& free, const Slot& slot) {
    free = slot;
    if (4 * ++size_ <= 3 * slots_.size()) return;
    double_table(
        slots_, Slot{}, [](const Slot& s) { return s.used(); },
        [](const Slot& s) { return s.home(); });
  }

 private:
  template <class Is>
  std::size_t place(std::size_t home, Is& is) const {
    return probe(home, slots_.size() - 1,
                 [&](std::size_t at) { return !slots_[at].used() || is(slots_[at]); });
  }

  LargeArray<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace structlearn
