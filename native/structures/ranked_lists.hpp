// Sorted lists of the best ways to reach a state, and how to merge them: k-best dynamic programs.
// Reference: L. Huang & D. Chiang (2005), Better k-best parsing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn {

// One entry of a k-best list: its score, and the entry of the list that it extends.
struct Ranked {
  double score;
  std::uint32_t source, rank;
};
using RankedList = std::vector<Ranked>;

// A list to be extended, and what that adds to its scores.
struct Source {
  const RankedList* list;
  double gain;
};

// The n best entries of sorted lists, by a heap of their heads; ties go to the first list.
inline RankedList merge(const std::vector<Source>& sources, std::size_t n) {
  const auto worse = [](const Ranked& a, const Ranked& b) {
    return a.score < b.score || (a.score == b.score && a.source > b.source);
  };
  std::vector<Ranked> heap;
  const auto push = [&](std::uint32_t source, std::uint32_t rank) {
    const auto& [list, gain] = sources[source];
    if (rank >= list->size() || gain == kMinusInfinity) return;
    heap.push_back({(*list)[rank].score + gain, source, rank});
    std::push_heap(heap.begin(), heap.end(), worse);
  };
  for (std::uint32_t s = 0; s < sources.size(); ++s) push(s, 0);
  RankedList merged;
  while (!heap.empty() && merged.size() < n) {
    std::pop_heap(heap.begin(), heap.end(), worse);
    const Ranked top = heap.back();
    heap.pop_back();
    merged.push_back(top);
    push(top.source, top.rank + 1);
  }
  return merged;
}

}  // namespace structlearn
