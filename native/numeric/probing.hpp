// Open addressing, written once: where a key is in a table whose size is a power of two, or where
// it belongs.
#pragma once

#include <cstddef>
#include <vector>

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
template <class Slot, class Used, class Home>
void double_table(std::vector<Slot>& table, const Slot& free, Used&& used, Home&& home) {
  std::vector<Slot> larger(2 * table.size(), free);
  const std::size_t mask = larger.size() - 1;
  for (const Slot& slot : table) {
    if (!used(slot)) continue;
    larger[probe(home(slot), mask, [&](std::size_t at) { return !used(larger[at]); })] = slot;
  }
  table.swap(larger);
}

}  // namespace structlearn
