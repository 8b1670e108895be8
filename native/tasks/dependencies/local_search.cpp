#include "tasks/dependencies/local_search.hpp"

#include <algorithm>
#include <cmath>

#include "structures/structure.hpp"

namespace structlearn::parsing {
namespace {

constexpr int kMostSweeps = 20;
constexpr double kLeastGain = 1e-9;  // of the largest score of an arc: less may be rounding

bool above(const std::vector<std::int32_t>& heads, int ancestor, int word) {
  while (word > 0 && word != ancestor) word = heads[static_cast<std::size_t>(word)];
  return word == ancestor;
}

}  // namespace

bool is_projective(const std::vector<std::int32_t>& heads) {
  // Words between the ends of an arc are below its head.
  const int n = static_cast<int>(heads.size()) - 1;
  for (int m = 1; m <= n; ++m) {
    const int h = heads[static_cast<std::size_t>(m)];
    for (int i = std::min(h, m) + 1; i < std::max(h, m); ++i) {
      if (!above(heads, h, i)) return false;
    }
  }
  return true;
}

double LocalSearch::attached(const Parts& parts, const PartScores& scores,
                             const std::vector<std::int32_t>& heads, std::uint32_t arc) const {
  const int h = parts.head[arc], m = parts.word[arc];
  const auto at = static_cast<std::size_t>(h);
  const int after = m > h ? 1 : 0;
  const auto list = parts.side(h, after);
  const std::size_t k = list.size();
  const std::size_t before_width = parts.down_begin[2 * at + 1] - parts.down_begin[2 * at];
  const std::size_t column = parts.rank[arc], j = after ? column - before_width : column;
  const auto is_child = [&](std::size_t i) {
    return parts.word[list[i]] != m && heads[parts.word[list[i]]] == h;
  };
  std::size_t previous = j, next = j + 1;  // previous: 0 none, i + 1 modifier i
  while (previous > 0 && !is_child(previous - 1)) --previous;
  while (next < k && !is_child(next)) ++next;
  const double* sibling =
      scores.sibling + parts.sibling_begin[2 * at + static_cast<std::size_t>(after)];
  const double* row = sibling + previous * (k + 1);
  double value = row[j] + sibling[(j + 1) * (k + 1) + next] - row[next];
  if (h > 0) {
    const std::size_t width = parts.down_begin[2 * at + 2] - parts.down_begin[2 * at];
    value +=
        scores.grand[parts.grand_begin[at] + (current_[at] - parts.begin[at]) * width + column];
  }
  return value + scores.arc[arc];
}

// Of giving m the head of another arc, which must not lie below m.
double LocalSearch::gain(const Parts& parts, const PartScores& scores,
                         std::vector<std::int32_t>& heads, int m, std::uint32_t arc) const {
  const auto at = static_cast<std::size_t>(m);
  double value = attached(parts, scores, heads, arc) - attached(parts, scores, heads, current_[at]);
  const std::size_t first = parts.down_begin[2 * at], width = parts.down_begin[2 * at + 2] - first;
  if (width > 0) {
    const double* grand = scores.grand + parts.grand_begin[at];
    const double* now = grand + (current_[at] - parts.begin[at]) * width;
    const double* then = grand + (arc - parts.begin[at]) * width;
    for (std::size_t j = 0; j < width; ++j) {
      if (heads[parts.word[parts.down[first + j]]] == m) value += then[j] - now[j];
    }
  }
  return value;
}

double LocalSearch::improve(const Parts& parts, const PartScores& scores,
                            std::vector<std::int32_t>& heads) {
  const auto n = static_cast<std::size_t>(parts.n);
  current_.resize(n + 1);
  for (std::size_t m = 1; m <= n; ++m) {
    current_[m] = parts.find(heads[m], static_cast<int>(m));
  }
  double largest = 0.0;
  for (std::size_t a = 0; a < parts.arcs(); ++a) {
    if (std::isfinite(scores.arc[a])) largest = std::max(largest, std::fabs(scores.arc[a]));
  }
  double total = 0.0;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool changed = false;
    for (std::size_t i = 1; i <= n; ++i) {
      const int m = static_cast<int>(i);
      if (heads[i] == 0) continue;  // the one root stays
      double best = kLeastGain * largest;
      std::uint32_t best_arc = Parts::kNone;
      for (std::uint32_t a = parts.begin[i]; a < parts.begin[i + 1]; ++a) {
        const int h = parts.head[a];
        if (h == 0 || a == current_[i] || above(heads, m, h)) continue;
        const double x = gain(parts, scores, heads, m, a);
        if (x <= best) continue;
        best = x;
        best_arc = a;
      }
      if (best_arc == Parts::kNone) continue;
      heads[i] = parts.head[best_arc];
      current_[i] = best_arc;
      total += best;
      changed = true;
    }
    if (!changed) break;
  }
  return total;
}

}  // namespace structlearn::parsing
