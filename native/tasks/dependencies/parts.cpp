#include "tasks/dependencies/parts.hpp"

#include <algorithm>

namespace structlearn::parsing {

void Parts::set(const Candidates& candidates, bool pairs) {
  n = static_cast<int>(candidates.words());
  begin = candidates.begin;
  head = candidates.head;
  word.resize(head.size());
  for (int m = 1; m <= n; ++m) {
    const auto i = static_cast<std::size_t>(m);
    for (std::uint32_t a = begin[i]; a < begin[i + 1]; ++a) word[a] = static_cast<std::uint16_t>(m);
  }
  second_order = pairs;
  if (pairs) list_modifiers();
}

void Parts::list_modifiers() {
  const std::size_t sides = 2 * static_cast<std::size_t>(n + 1);
  down_begin.assign(sides + 1, 0);
  const auto side_of = [&](std::size_t a) {
    return 2 * static_cast<std::size_t>(head[a]) + (word[a] > head[a] ? 1 : 0);
  };
  for (std::size_t a = 0; a < head.size(); ++a) ++down_begin[side_of(a) + 1];
  for (std::size_t i = 0; i < sides; ++i) down_begin[i + 1] += down_begin[i];
  down.resize(head.size());
  std::vector<std::uint32_t> at(down_begin.begin(), down_begin.end() - 1);
  // Arcs come by ascending word: right for the modifiers after a head.
  for (std::size_t a = 0; a < head.size(); ++a) {
    down[at[side_of(a)]++] = static_cast<std::uint32_t>(a);
  }
  for (std::size_t i = 0; i < sides; i += 2) {
    std::reverse(down.begin() + down_begin[i], down.begin() + down_begin[i + 1]);
  }
  rank.resize(head.size());
  for (std::size_t i = 0; i < down.size(); ++i) {
    rank[down[i]] = static_cast<std::uint32_t>(i) - down_begin[2 * std::size_t{head[down[i]]}];
  }
  sibling_begin.assign(sides + 1, 0);
  grand_begin.assign(static_cast<std::size_t>(n) + 2, 0);
  for (std::size_t i = 0; i < sides; ++i) {
    const std::uint32_t k = down_begin[i + 1] - down_begin[i] + 1;
    sibling_begin[i + 1] = sibling_begin[i] + k * k;
  }
  for (int h = 0; h <= n; ++h) {
    const auto i = static_cast<std::size_t>(h);
    grand_begin[i + 1] = grand_begin[i] + ups(h) * (down_begin[2 * i + 2] - down_begin[2 * i]);
  }
}

std::uint32_t Parts::find(int h, int m) const {
  const auto i = static_cast<std::size_t>(m);
  for (std::uint32_t a = begin[i]; a < begin[i + 1]; ++a) {
    if (head[a] == h) return a;
  }
  return kNone;
}

double Parts::score(std::span<const std::int32_t> heads, const PartScores& scores) const {
  double sum = 0.0;
  for (int m = 1; m <= n; ++m) sum += scores.arc[find(heads[static_cast<std::size_t>(m)], m)];
  if (second_order) {
    for_second_order(
        heads, [&](int, int, int, std::size_t i) { sum += scores.sibling[i]; },
        [&](int, int, int, std::size_t i) { sum += scores.grand[i]; });
  }
  return sum;
}

}  // namespace structlearn::parsing
