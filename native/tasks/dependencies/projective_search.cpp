#include "tasks/dependencies/projective_search.hpp"

#include <algorithm>

#include "structures/structure.hpp"

namespace structlearn::parsing {

std::size_t ProjectiveSearch::square(int h, int after) const {
  return parts_->sibling_begin[2 * static_cast<std::size_t>(h) + static_cast<std::size_t>(after)];
}

// Where the modifiers of h on one side begin, under the up-th head of h.
std::size_t ProjectiveSearch::row(int h, int after, std::uint32_t up) const {
  const auto i = static_cast<std::size_t>(h);
  const std::size_t first = parts_->down_begin[2 * i];
  const std::size_t width = parts_->down_begin[2 * i + 2] - first;
  return parts_->grand_begin[i] + up * width + (after ? parts_->down_begin[2 * i + 1] - first : 0);
}

// Whether a word may be below the word of an arc: the arc's head must not lie between.
bool ProjectiveSearch::may_have(std::uint32_t up_arc, std::size_t m) const {
  const std::size_t g = parts_->head[up_arc], h = parts_->word[up_arc];
  return m > h ? g < h || m < g : g > h || m > g;
}

void ProjectiveSearch::begin() {
  const std::size_t arcs = parts_->head.size();
  right_.assign(arcs * width_, kMinusInfinity);
  left_.assign(arcs * width_, kMinusInfinity);
  left_by_end_.assign(arcs * width_, kMinusInfinity);
  linked_.assign(parts_->siblings(), kMinusInfinity);
  attached_.assign(parts_->grands(), kMinusInfinity);
}

// The best split between two neighbouring modifiers of one head.
double ProjectiveSearch::between(std::uint32_t low, std::uint32_t high, std::size_t* split) const {
  const double *a = right(low), *b = left(high) + 1;
  const std::size_t first = parts_->word[low], last = parts_->word[high];
  if (split == nullptr) {
    double best[4] = {kMinusInfinity, kMinusInfinity, kMinusInfinity, kMinusInfinity};
    std::size_t r = first;
    for (; r + 4 <= last; r += 4) {
      for (std::size_t i = 0; i < 4; ++i) best[i] = std::max(best[i], a[r + i] + b[r + i]);
    }
    for (; r < last; ++r) best[0] = std::max(best[0], a[r] + b[r]);
    return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
  }
  double best = kMinusInfinity;
  for (std::size_t r = first; r < last; ++r) {
    if (a[r] + b[r] > best) {
      best = a[r] + b[r];
      *split = r;
    }
  }
  return best;
}

// All between a head and its first modifier lies below the modifier.
double ProjectiveSearch::inner(int h, int after, std::uint32_t arc) const {
  const auto i = static_cast<std::size_t>(h);
  return after ? left(arc)[i + 1] : right(arc)[i - 1];
}

void ProjectiveSearch::link(int h, int after, std::size_t j) {
  const auto list = parts_->side(h, after);
  const std::size_t size = list.size() + 1;
  const double* sibling = scores_.sibling + square(h, after);
  double* linked = linked_.data() + square(h, after);
  linked[j] = inner(h, after, list[j]) + sibling[j];
  for (std::size_t i = 0; i < j; ++i) {
    const std::uint32_t low = after ? list[i] : list[j], high = after ? list[j] : list[i];
    linked[(i + 1) * size + j] = between(low, high) + sibling[(i + 1) * size + j];
  }
}

double ProjectiveSearch::before(int h, int after, std::uint32_t up, std::size_t j,
                                std::size_t* from) const {
  const std::size_t size = parts_->side(h, after).size() + 1;
  const double* linked = linked_.data() + square(h, after);
  const double* attached = attached_.data() + row(h, after, up);
  double best = linked[j];
  *from = 0;
  for (std::size_t i = 0; i < j; ++i) {
    const double x = attached[i] + linked[(i + 1) * size + j];
    if (x > best) {
      best = x;
      *from = i + 1;
    }
  }
  return best;
}

void ProjectiveSearch::attach(int h, int after, std::size_t j) {
  const std::uint32_t arc = parts_->side(h, after)[j];
  const std::uint32_t first = parts_->begin[static_cast<std::size_t>(h)];
  for (std::uint32_t up = 0; up < parts_->ups(h); ++up) {
    if (!may_have(first + up, parts_->word[arc])) continue;
    std::size_t from;
    const double inside = before(h, after, up, j, &from);
    const std::size_t at = row(h, after, up) + j;
    attached_[at] = inside + (scores_.arc[arc] + scores_.grand[at]);
  }
}

// The j-th modifier is the last one on its side.
double ProjectiveSearch::ended(int h, int after, std::uint32_t up, std::size_t j) const {
  const std::size_t size = parts_->side(h, after).size() + 1;
  return attached_[row(h, after, up) + j] +
         scores_.sibling[square(h, after) + (j + 1) * size + size - 1];
}

// The right halves of a word: all it needs lies to its right.
void ProjectiveSearch::fill_right(int h) {
  const auto at = static_cast<std::size_t>(h);
  const auto list = parts_->side(h, 1);
  for (std::size_t j = 0; j < list.size(); ++j) {
    link(h, 1, j);
    attach(h, 1, j);
  }
  for (std::uint32_t up = 0; up < parts_->ups(h); ++up) {
    const std::uint32_t arc = parts_->begin[at] + up;
    const std::size_t g = parts_->head[arc], end = g > at ? g : width_;
    double* out = right_.data() + arc * width_;
    out[at] = scores_.sibling[square(h, 1) + list.size()];
    for (std::size_t j = 0; j < list.size(); ++j) {
      const double x = ended(h, 1, up, j);
      if (x == kMinusInfinity) continue;
      const double* rest = right(list[j]);
      for (std::size_t e = parts_->word[list[j]]; e < end; ++e) {
        out[e] = std::max(out[e], x + rest[e]);
      }
    }
  }
}

// The left halves that end at a word, of that word and of all after it.
void ProjectiveSearch::fill_left(int end) {
  const auto at = static_cast<std::size_t>(end);
  const std::size_t arcs = parts_->head.size();
  double* by_end = left_by_end_.data() + at * arcs;
  const double alone = scores_.sibling[square(end, 0) + parts_->side(end, 0).size()];
  std::uint32_t arc = parts_->begin[at];
  for (std::uint32_t a = arc; a < parts_->begin[at + 1]; ++a) {
    left_[a * width_ + at] = by_end[a] = alone;
  }
  while (arc < parts_->begin[at + 1] && parts_->head[arc] < at) ++arc;
  for (std::size_t h = at + 1; h < width_; ++h) {
    const int head = static_cast<int>(h);
    if (arc < parts_->begin[at + 1] && parts_->head[arc] == h) {
      link(head, 0, parts_->rank[arc]);
      attach(head, 0, parts_->rank[arc]);
      ++arc;
    }
    const auto list = parts_->side(head, 0);
    std::size_t count = 0;  // modifiers that do not lie beyond the end
    while (count < list.size() && parts_->word[list[count]] >= at) ++count;
    if (count == 0) continue;
    for (std::uint32_t up = 0; up < parts_->ups(head); ++up) {
      const std::uint32_t a = parts_->begin[h] + up;
      if (!may_have(a, at)) continue;
      double best = kMinusInfinity;
      const double* attached = attached_.data() + row(head, 0, up);
      const double* last = scores_.sibling + square(head, 0) + list.size();
      for (std::size_t j = 0; j < count; ++j) {
        last += list.size() + 1;
        best = std::max(best, attached[j] + *last + by_end[list[j]]);
      }
      left_[a * width_ + at] = by_end[a] = best;
    }
  }
}

double ProjectiveSearch::best(const Parts& parts, const PartScores& scores,
                              std::vector<std::int32_t>& heads) {
  parts_ = &parts;
  scores_ = scores;
  width_ = static_cast<std::size_t>(parts.n) + 1;
  begin();
  for (int i = parts.n; i > 0; --i) {
    fill_right(i);
    fill_left(i);
  }
  // One word below the root, none before it.
  const auto list = parts.side(0, 1);
  const double* sibling = scores.sibling + square(0, 1);
  const double none = scores.sibling[square(0, 0)];
  double best = kMinusInfinity;
  std::uint32_t top = Parts::kNone;
  for (std::size_t j = 0; j < list.size(); ++j) {
    const std::uint32_t a = list[j];
    const double x = none + scores.arc[a] + sibling[j] +
                     sibling[(j + 1) * (list.size() + 1) + list.size()] + left(a)[1] +
                     right(a)[width_ - 1];
    if (x > best) {
      best = x;
      top = a;
    }
  }
  if (top == Parts::kNone) return kMinusInfinity;
  heads.assign(width_, -1);
  trace(top, heads);
  return best;
}

// Where a maximum came from is looked up: the first that gives it.
void ProjectiveSearch::trace(std::uint32_t root_arc, std::vector<std::int32_t>& heads) const {
  heads[parts_->word[root_arc]] = 0;
  std::vector<Item> stack{{root_arc, false, false, 1}, {root_arc, true, false, width_ - 1}};
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    const int h = parts_->word[item.arc], after = item.after ? 1 : 0;
    const std::uint32_t up = item.arc - parts_->begin[static_cast<std::size_t>(h)];
    const auto list = parts_->side(h, after);
    if (!item.incomplete) {
      if (item.at == static_cast<std::size_t>(h)) continue;
      const double value = item.after ? right(item.arc)[item.at] : left(item.arc)[item.at];
      std::size_t j = 0;
      for (; j + 1 < list.size(); ++j) {
        const double* rest = item.after ? right(list[j]) : left(list[j]);
        if (ended(h, after, up, j) + rest[item.at] == value) break;
      }
      stack.push_back({item.arc, item.after, true, j});
      stack.push_back({list[j], item.after, false, item.at});
      continue;
    }
    const std::uint32_t arc = list[item.at];
    heads[parts_->word[arc]] = h;
    std::size_t from;
    before(h, after, up, item.at, &from);
    if (from == 0) {
      stack.push_back(
          {arc, !item.after, false, static_cast<std::size_t>(item.after ? h + 1 : h - 1)});
      continue;
    }
    const std::uint32_t other = list[from - 1];
    const std::uint32_t low = item.after ? other : arc, high = item.after ? arc : other;
    std::size_t split = 0;
    between(low, high, &split);
    stack.push_back({item.arc, item.after, true, from - 1});
    stack.push_back({low, true, false, split});
    stack.push_back({high, false, false, split + 1});
  }
}

}  // namespace structlearn::parsing
