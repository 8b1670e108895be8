// The parts of one sentence that a parser looks at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn::parsing {

// The heads that each word may have: those of word m are head[begin[m]] .. head[begin[m + 1]], in
// ascending order. begin[0] = begin[1] = 0: the root has none.
struct Candidates {
  std::vector<std::uint32_t> begin{0, 0};
  std::vector<std::uint16_t> head;
  std::size_t words() const { return begin.size() - 2; }
};

// The scores of parts, in their order; those of arcs with the best label of each.
struct PartScores {
  const double *arc = nullptr, *sibling = nullptr, *grand = nullptr;
};

// Arcs are numbered as in the candidates. Modifiers of a head are listed by side (2 h: before it,
// 2 h + 1: after it), from the nearest to the farthest.
struct Parts : Shape {
  int n = 0;
  std::vector<std::uint32_t> begin;       // arcs of each word
  std::vector<std::uint16_t> head, word;  // of each arc
  std::vector<std::uint32_t> down_begin;  // by side
  std::vector<std::uint32_t> down;        // arcs
  std::vector<std::uint32_t> rank;        // of an arc among the modifiers of its head
  // Of a side with k modifiers a square of k + 1: [before: none, 1st, ...][next: 1st, ..., none].
  std::vector<std::uint32_t> sibling_begin;
  // Of a head with u possible heads and d modifiers (before, then after it) u rows of d.
  std::vector<std::uint32_t> grand_begin;
  bool second_order = false;

  // `pairs`: with those of arcs, siblings and grandparents.
  void set(const Candidates&, bool pairs);
  std::size_t arcs() const { return head.size(); }
  std::size_t siblings() const { return second_order ? sibling_begin.back() : 0; }
  std::size_t grands() const { return second_order ? grand_begin.back() : 0; }

  std::uint32_t ups(int h) const {
    const auto i = static_cast<std::size_t>(h);
    return begin[i + 1] - begin[i];
  }
  std::span<const std::uint32_t> side(int h, int after) const {
    const auto i = static_cast<std::size_t>(2 * h + after);
    return {down.data() + down_begin[i], down.data() + down_begin[i + 1]};
  }
  // The arc h -> m, or kNone.
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::uint32_t find(int h, int m) const;
  // The score of a tree, all of whose arcs are candidates. heads[m], m = 1..n.
  double score(std::span<const std::int32_t> heads, const PartScores& scores) const;
  // Calls sibling(h, before, next, index) and grand(g, h, m, index) for the parts of a tree.
  template <class Sibling, class Grand>
  void for_second_order(std::span<const std::int32_t> heads, Sibling&& sibling_part,
                        Grand&& grand_part) const;

 private:
  void list_modifiers();
};

template <class Sibling, class Grand>
void Parts::for_second_order(std::span<const std::int32_t> heads, Sibling&& sibling_part,
                             Grand&& grand_part) const {
  for (int h = 0; h <= n; ++h) {
    std::uint32_t up = kNone;
    const auto at = static_cast<std::size_t>(h);
    if (h > 0) {
      for (std::uint32_t a = begin[at]; a < begin[at + 1]; ++a) {
        if (head[a] == heads[at]) up = a - begin[at];
      }
    }
    const std::size_t width = down_begin[2 * at + 2] - down_begin[2 * at];
    for (int after = 0; after < 2; ++after) {
      const auto list = side(h, after);
      const std::size_t k = list.size(),
                        offset = sibling_begin[2 * at + static_cast<std::size_t>(after)];
      const std::size_t first = after ? down_begin[2 * at + 1] - down_begin[2 * at] : 0;
      std::size_t before = 0;
      int previous = h;
      for (std::size_t j = 0; j < k; ++j) {
        const int m = word[list[j]];
        if (heads[static_cast<std::size_t>(m)] != h) continue;
        sibling_part(h, previous, m, offset + before * (k + 1) + j);
        if (up != kNone) {
          grand_part(heads[at], h, m, grand_begin[at] + up * width + first + j);
        }
        before = j + 1;
        previous = m;
      }
      sibling_part(h, previous, -1000, offset + before * (k + 1) + k);
    }
  }
}

}  // namespace structlearn::parsing
