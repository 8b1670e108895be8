#include "tasks/constituents/tree_parts.hpp"

#include <algorithm>

namespace structlearn::text {

Output row_of_spans(std::span<const LabelledSpan> spans) {
  Output row;
  for (const LabelledSpan& s : spans) row.insert(row.end(), {s.begin, s.end, s.label});
  return row;
}

std::vector<LabelledSpan> spans_of_row(std::span<const std::int32_t> row) {
  std::vector<LabelledSpan> spans;
  for (std::size_t at = 0; at + 3 <= row.size(); at += 3) {
    spans.push_back({row[at], row[at + 1], row[at + 2]});
  }
  return spans;
}

bool nested(std::span<const LabelledSpan> spans, std::size_t n) {
  std::vector<std::int32_t> open{static_cast<std::int32_t>(n)};  // ends, inner ones last
  std::int32_t last = 0;
  for (const LabelledSpan& s : spans) {
    if (s.begin < last || s.begin >= s.end || s.end > open.front()) return false;
    while (open.size() > 1 && open.back() <= s.begin) open.pop_back();
    if (open.back() < s.end) return false;
    open.push_back(s.end);
    last = s.begin;
  }
  return true;
}

const char* tree_fault(std::vector<LabelledSpan>& spans, std::size_t n, const TreeSizes& sizes) {
  const auto words = static_cast<std::int32_t>(n);
  for (const LabelledSpan& s : spans) {
    const auto label = static_cast<std::size_t>(s.label);
    if (s.begin < 0 || s.begin >= s.end || s.end > words || s.label < 1 || label >= sizes.labels) {
      return "a span outside the sentence, or without a label";
    }
    if (s.end - s.begin == 1 && label == sizes.nameless) {
      return "a single word with the label of nodes without a name";
    }
  }
  std::sort(spans.begin(), spans.end(), [](const LabelledSpan& a, const LabelledSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  const auto same = [](const LabelledSpan& a, const LabelledSpan& b) {
    return a.begin == b.begin && a.end == b.end;
  };
  if (!nested(spans, n) || std::adjacent_find(spans.begin(), spans.end(), same) != spans.end()) {
    return "spans that cross or come twice";
  }
  if (n > 1 && (spans.empty() || spans[0].end != words || spans[0].begin != 0)) {
    return "no span covers the whole sentence";
  }
  return nullptr;
}

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
