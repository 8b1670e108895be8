#include "tasks/constituents/tree_parts.hpp"

#include <algorithm>

namespace structlearn::text {

Output tree_of_spans(std::span<const LabelledSpan> spans, std::size_t n) {
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> ends(n);  // inner ones first
  for (const LabelledSpan& s : spans) {
    ends[static_cast<std::size_t>(s.begin)].emplace_back(s.end, s.label);
  }
  for (auto& list : ends) std::sort(list.begin(), list.end());
  Output y;
  std::vector<std::pair<std::int32_t, std::int32_t>> open{{0, static_cast<std::int32_t>(n)}};
  while (!open.empty()) {
    const auto [i, j] = open.back();
    open.pop_back();
    auto& list = ends[static_cast<std::size_t>(i)];
    const bool labelled = !list.empty() && list.back().first == j;
    y.push_back(labelled ? list.back().second : j - i > 1 ? -1 : 0);
    if (labelled) list.pop_back();
    const std::int32_t split = j - i == 1 ? 0 : list.empty() ? i + 1 : list.back().first;
    y.push_back(split);
    if (j - i == 1) continue;
    open.emplace_back(split, j);
    open.emplace_back(i, split);
  }
  return y;
}

}  // namespace structlearn::text
