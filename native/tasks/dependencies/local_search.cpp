#include "tasks/dependencies/local_search.hpp"

#include <algorithm>
#include <bit>
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

bool is_tree(const std::vector<std::int32_t>& heads) {
  if (std::count(heads.begin() + 1, heads.end(), 0) != 1) return false;
  std::vector<std::uint8_t> seen(heads.size(), 0);  // 1: on the way up, 2: below the root
  seen[0] = 2;
  for (std::size_t m = 1; m < heads.size(); ++m) {
    std::size_t at = m;
    for (; seen[at] == 0; at = static_cast<std::size_t>(heads[at])) seen[at] = 1;
    if (seen[at] == 1) return false;
    for (at = m; seen[at] == 1; at = static_cast<std::size_t>(heads[at])) seen[at] = 2;
  }
  return true;
}

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

void LocalSearch::mark(std::uint32_t arc, bool modifier) {
  const std::size_t side =
      2 * std::size_t{parts_->head[arc]} + (parts_->word[arc] > parts_->head[arc]);
  const std::size_t j =
      parts_->rank[arc] - (side % 2 ? parts_->down_begin[side] - parts_->down_begin[side - 1] : 0);
  std::uint64_t& bits = chosen_[first_word_[side] + j / 64];
  const std::uint64_t bit = std::uint64_t{1} << (j % 64);
  bits = modifier ? bits | bit : bits & ~bit;
}

double LocalSearch::attached(std::uint32_t arc) const {
  const Parts& parts = *parts_;
  const std::size_t h = parts.head[arc], side = 2 * h + (parts.word[arc] > h);
  const std::size_t k = parts.down_begin[side + 1] - parts.down_begin[side];
  const std::size_t column = parts.rank[arc];
  const std::size_t j = column - (parts.down_begin[side] - parts.down_begin[2 * h]);
  const std::uint64_t* bits = chosen_.data() + first_word_[side];
  // The modifiers next to j, itself not counted. previous: 0 none, i + 1 modifier i.
  std::size_t word = j / 64;
  std::uint64_t found = bits[word] & ((std::uint64_t{1} << (j % 64)) - 1);
  while (found == 0 && word > 0) found = bits[--word];
  const std::size_t previous =
      found ? 64 * word + static_cast<std::size_t>(std::bit_width(found)) : 0;
  word = (j + 1) / 64;
  found = 64 * word < k ? bits[word] & (~std::uint64_t{0} << ((j + 1) % 64)) : 0;
  while (found == 0 && 64 * (word + 1) < k) found = bits[++word];
  const std::size_t next =
      found ? 64 * word + static_cast<std::size_t>(std::countr_zero(found)) : k;
  const double* sibling = scores_.sibling + parts.sibling_begin[side];
  const double* row = sibling + previous * (k + 1);
  double value = row[j] + sibling[(j + 1) * (k + 1) + next] - row[next];
  if (h > 0) {
    const std::size_t width = parts.down_begin[2 * h + 2] - parts.down_begin[2 * h];
    value += scores_.grand[parts.grand_begin[h] + (current_[h] - parts.begin[h]) * width + column];
  }
  return value + scores_.arc[arc];
}

double LocalSearch::below(int m, std::uint32_t arc) const {
  const auto at = static_cast<std::size_t>(m);
  const std::size_t first = parts_->down_begin[2 * at];
  const std::size_t width = parts_->down_begin[2 * at + 2] - first;
  const double* grand = scores_.grand + parts_->grand_begin[at];
  const double* now = grand + (current_[at] - parts_->begin[at]) * width;
  const double* then = grand + (arc - parts_->begin[at]) * width;
  double value = 0.0;
  for (std::size_t side = 2 * at; side < 2 * at + 2; ++side) {
    const std::size_t offset = parts_->down_begin[side] - first;
    for (std::uint32_t word = first_word_[side]; word < first_word_[side + 1]; ++word) {
      const std::size_t begin = offset + 64 * (word - first_word_[side]);
      for (std::uint64_t bits = chosen_[word]; bits != 0; bits &= bits - 1) {
        const std::size_t j = begin + static_cast<std::size_t>(std::countr_zero(bits));
        value += then[j] - now[j];
      }
    }
  }
  return value;
}

double LocalSearch::improve(const Parts& parts, const PartScores& scores,
                            std::vector<std::int32_t>& heads) {
  const auto n = static_cast<std::size_t>(parts.n);
  parts_ = &parts;
  scores_ = scores;
  first_word_.assign(1, 0);
  for (std::size_t side = 0; side < 2 * n + 2; ++side) {
    const std::uint32_t k = parts.down_begin[side + 1] - parts.down_begin[side];
    first_word_.push_back(first_word_.back() + (k + 63) / 64);
  }
  chosen_.assign(first_word_.back(), 0);
  current_.resize(n + 1);
  for (std::size_t m = 1; m <= n; ++m) {
    current_[m] = parts.find(heads[m], static_cast<int>(m));
    mark(current_[m], true);
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
      if (heads[i] == 0 || parts.ups(m) == 1) continue;  // the one root stays
      const double now = attached(current_[i]);
      double best = kLeastGain * largest;
      std::uint32_t best_arc = Parts::kNone;
      for (std::uint32_t a = parts.begin[i]; a < parts.begin[i + 1]; ++a) {
        const int h = parts.head[a];
        if (h == 0 || a == current_[i]) continue;
        const double x = attached(a) - now + below(m, a);
        if (x <= best || above(heads, m, h)) continue;
        best = x;
        best_arc = a;
      }
      if (best_arc == Parts::kNone) continue;
      mark(current_[i], false);
      mark(best_arc, true);
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
