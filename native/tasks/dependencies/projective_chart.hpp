// A chart of all projective trees by arcs, siblings and grandparents together.
//
// Its items are half-constituents that know the head of their head (Koo & Collins 2010, model 1).
// An arc g -> h of the candidates stands for "h below g", so that the chart has a row for each arc
// and not for each pair of words: with K heads for a word and D modifiers of a head O(n K (D^2 +
// n D)) time after pruning, O(n^4) without, and O(n^2 K) memory. Every tree has one derivation.
//
// What is added up is Sum's: the maximum, or a log-sum. From the values, the ways to build an item
// are asked for one by one: best trees, k best, draws and probabilities all need nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/softmax.hpp"
#include "tasks/dependencies/parts.hpp"

namespace structlearn::parsing {

// Of `first` and of n terms.
struct Maximum {
  static constexpr bool kIsMaximum = true;
  template <class Term>
  static double of(double first, std::size_t n, Term&& x) {
    double best[4] = {first, kMinusInfinity, kMinusInfinity, kMinusInfinity};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) best[k] = std::max(best[k], x(i + k));
    }
    for (; i < n; ++i) best[0] = std::max(best[0], x(i));
    return std::max(std::max(best[0], best[1]), std::max(best[2], best[3]));
  }
};
struct LogSum {
  static constexpr bool kIsMaximum = false;
  template <class Term>
  static double of(double first, std::size_t n, Term&& x) {
    return log_sum(n + 1, 1.0, [&](std::size_t i) { return i == n ? first : x(i); });
  }
};

template <class Sum>
class ProjectiveChart {
 public:
  using Node = std::size_t;

  // Half of a constituent, from its head to an end; two neighbouring modifiers of a head with what
  // lies between them; the arc to a modifier with what lies between it and the head; or a tree.
  struct Item {
    enum Kind { kHalf, kLinked, kAttached, kTree } kind;
    int h, after;
    std::uint32_t up;      // half and attached: which head of h
    std::size_t first, j;  // half: the end; linked: the modifier before, 0 none; the modifier
  };
  // One way to build an item: its parts, their score but for that of the arc, and what it needs.
  struct Way {
    double score = 0.0;
    std::uint32_t arc = Parts::kNone;
    std::size_t siblings = 0, sibling[3] = {};
    std::size_t grands = 0, grand = 0;
    std::size_t tails = 0;
    Node tail[2] = {};
  };

  // Parts and scores are borrowed.
  void fill(const Parts& parts, const PartScores& scores);
  Node tree() const { return value_.size() - 1; }
  double value(Node v) const { return value_[v]; }
  const std::vector<Node>& order() const { return order_; }  // of a log-sum: tails come first

  Item item(Node v) const;
  std::size_t ways(const Item&) const;
  Way way(const Item&, std::size_t e) const;
  double total(const Way& w) const {
    double x = w.arc == Parts::kNone ? w.score : w.score + scores_.arc[w.arc];
    for (std::size_t t = 0; t < w.tails; ++t) x += value_[w.tail[t]];
    return x;
  }

 private:
  void fill_right(int h);
  void fill_left(int end);
  // The scores between a modifier and those before it, and of the arc to it.
  void link(int h, int after, std::size_t j);
  void attach(int h, int after, std::size_t j);
  double between(std::uint32_t low, std::uint32_t high) const;
  double ended(int h, int after, std::uint32_t up, std::size_t j) const;
  bool may_have(std::uint32_t up_arc, std::size_t m) const;
  void set(Node v, double x) {
    value_[v] = x;
    if (!Sum::kIsMaximum && x > kMinusInfinity) order_.push_back(v);
  }

  std::size_t square(int h, int after) const {
    return parts_->sibling_begin[static_cast<std::size_t>(2 * h + after)];
  }
  std::size_t row(int h, int after, std::uint32_t up) const;
  Node right(std::uint32_t arc, std::size_t end) const { return arc * width_ + end; }
  Node left(std::uint32_t arc, std::size_t end) const { return left_ + arc * width_ + end; }
  Node half(std::uint32_t arc, int after, std::size_t end) const {
    return after ? right(arc, end) : left(arc, end);
  }
  // What lies between a head and its first modifier is below the modifier.
  Node inner(int h, int after, std::uint32_t arc) const {
    const auto i = static_cast<std::size_t>(h);
    return after ? left(arc, i + 1) : right(arc, i - 1);
  }

  const Parts* parts_ = nullptr;
  PartScores scores_;
  std::size_t width_ = 0;
  // Halves of each arc by their end, then squares of siblings, rows of grandparents, the tree.
  std::size_t left_ = 0, linked_ = 0, attached_ = 0;
  std::vector<double> value_;
  std::vector<double> left_by_end_;  // of each end, by arc
  std::vector<double> last_;         // of each modifier on a side: the score if it is the last
  std::vector<Node> order_;
};

// Where the modifiers of h on one side begin, under the up-th head of h.
template <class Sum>
std::size_t ProjectiveChart<Sum>::row(int h, int after, std::uint32_t up) const {
  const auto i = static_cast<std::size_t>(h);
  const std::size_t first = parts_->down_begin[2 * i];
  const std::size_t width = parts_->down_begin[2 * i + 2] - first;
  return parts_->grand_begin[i] + up * width + (after ? parts_->down_begin[2 * i + 1] - first : 0);
}

// Whether a word may be below the word of an arc: the arc's head must not lie between.
template <class Sum>
bool ProjectiveChart<Sum>::may_have(std::uint32_t up_arc, std::size_t m) const {
  const std::size_t g = parts_->head[up_arc], h = parts_->word[up_arc];
  return m > h ? g < h || m < g : g > h || m > g;
}

template <class Sum>
double ProjectiveChart<Sum>::between(std::uint32_t low, std::uint32_t high) const {
  const std::size_t first = parts_->word[low], last = parts_->word[high];
  const double *a = &value_[right(low, first)], *b = &value_[left(high, first + 1)];
  return Sum::of(kMinusInfinity, last - first, [&](std::size_t r) { return a[r] + b[r]; });
}

template <class Sum>
void ProjectiveChart<Sum>::link(int h, int after, std::size_t j) {
  const auto list = parts_->side(h, after);
  const std::size_t size = list.size() + 1, first = square(h, after);
  const double* sibling = scores_.sibling + first;
  set(linked_ + first + j, value_[inner(h, after, list[j])] + sibling[j]);
  for (std::size_t i = 0; i < j; ++i) {
    const std::uint32_t low = after ? list[i] : list[j], high = after ? list[j] : list[i];
    const std::size_t at = (i + 1) * size + j;
    set(linked_ + first + at, between(low, high) + sibling[at]);
  }
}

template <class Sum>
void ProjectiveChart<Sum>::attach(int h, int after, std::size_t j) {
  const auto list = parts_->side(h, after);
  const std::size_t size = list.size() + 1;
  const std::uint32_t first = parts_->begin[static_cast<std::size_t>(h)];
  const double* linked = value_.data() + linked_ + square(h, after) + j;
  for (std::uint32_t up = 0; up < parts_->ups(h); ++up) {
    if (!may_have(first + up, parts_->word[list[j]])) continue;
    const std::size_t at = row(h, after, up);
    const double* attached = value_.data() + attached_ + at;
    const double inside =
        Sum::of(linked[0], j, [&](std::size_t i) { return attached[i] + linked[(i + 1) * size]; });
    set(attached_ + at + j, inside + (scores_.arc[list[j]] + scores_.grand[at + j]));
  }
}

// The j-th modifier is the last one on its side.
template <class Sum>
double ProjectiveChart<Sum>::ended(int h, int after, std::uint32_t up, std::size_t j) const {
  const std::size_t size = parts_->side(h, after).size() + 1;
  return value_[attached_ + row(h, after, up) + j] +
         scores_.sibling[square(h, after) + (j + 1) * size + size - 1];
}

// The right halves of a word: all it needs lies to its right.
template <class Sum>
void ProjectiveChart<Sum>::fill_right(int h) {
  const auto at = static_cast<std::size_t>(h);
  const auto list = parts_->side(h, 1);
  for (std::size_t j = 0; j < list.size(); ++j) {
    link(h, 1, j);
    attach(h, 1, j);
  }
  last_.resize(list.size());
  for (std::uint32_t up = 0; up < parts_->ups(h); ++up) {
    const std::uint32_t arc = parts_->begin[at] + up;
    const std::size_t g = parts_->head[arc], end = g > at ? g : width_;
    set(right(arc, at), scores_.sibling[square(h, 1) + list.size()]);
    for (std::size_t j = 0; j < list.size(); ++j) last_[j] = ended(h, 1, up, j);
    if constexpr (Sum::kIsMaximum) {  // row by row, which compilers make vectors of
      double* out = &value_[right(arc, 0)];
      for (std::size_t j = 0; j < list.size(); ++j) {
        if (last_[j] == kMinusInfinity) continue;
        const double* rest = &value_[right(list[j], 0)];
        for (std::size_t e = parts_->word[list[j]]; e < end; ++e) {
          out[e] = std::max(out[e], last_[j] + rest[e]);
        }
      }
    } else {
      for (std::size_t e = at + 1; e < end; ++e) {
        set(right(arc, e), Sum::of(kMinusInfinity, list.size(), [&](std::size_t j) {
              return last_[j] + value_[right(list[j], e)];
            }));
      }
    }
  }
}

// The left halves that end at a word, of that word and of all after it.
template <class Sum>
void ProjectiveChart<Sum>::fill_left(int end) {
  const auto at = static_cast<std::size_t>(end);
  double* by_end = left_by_end_.data() + at * parts_->arcs();
  const double alone = scores_.sibling[square(end, 0) + parts_->side(end, 0).size()];
  std::uint32_t arc = parts_->begin[at];
  for (std::uint32_t a = arc; a < parts_->begin[at + 1]; ++a) set(left(a, at), by_end[a] = alone);
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
    const double* last = scores_.sibling + square(head, 0) + list.size();
    for (std::uint32_t up = 0; up < parts_->ups(head); ++up) {
      const std::uint32_t a = parts_->begin[h] + up;
      if (!may_have(a, at)) continue;
      const double* attached = value_.data() + attached_ + row(head, 0, up);
      by_end[a] = Sum::of(kMinusInfinity, count, [&](std::size_t j) {
        return attached[j] + last[(j + 1) * (list.size() + 1)] + by_end[list[j]];
      });
      set(left(a, at), by_end[a]);
    }
  }
}

template <class Sum>
void ProjectiveChart<Sum>::fill(const Parts& parts, const PartScores& scores) {
  parts_ = &parts;
  scores_ = scores;
  width_ = static_cast<std::size_t>(parts.n) + 1;
  left_ = parts.arcs() * width_;
  linked_ = 2 * left_;
  attached_ = linked_ + parts.siblings();
  value_.assign(attached_ + parts.grands() + 1, kMinusInfinity);
  left_by_end_.assign(left_, kMinusInfinity);
  order_.clear();
  for (int i = parts.n; i > 0; --i) {
    fill_right(i);
    fill_left(i);
  }
  const Item whole = item(tree());
  set(tree(),
      Sum::of(kMinusInfinity, ways(whole), [&](std::size_t e) { return total(way(whole, e)); }));
}

template <class Sum>
typename ProjectiveChart<Sum>::Item ProjectiveChart<Sum>::item(Node v) const {
  const auto range_of = [](const std::vector<std::uint32_t>& begin, std::size_t index) {
    return std::upper_bound(begin.begin(), begin.end(), index) - begin.begin() - 1;
  };
  if (v < linked_) {
    const int after = v < left_;
    const std::size_t arc = (after ? v : v - left_) / width_, end = v % width_;
    const std::uint16_t h = parts_->word[arc];
    return {Item::kHalf, h, after, static_cast<std::uint32_t>(arc - parts_->begin[h]), end, 0};
  }
  if (v < attached_) {
    const auto side = static_cast<int>(range_of(parts_->sibling_begin, v - linked_));
    const std::size_t at = v - linked_ - square(side / 2, side % 2);
    const std::size_t size = parts_->side(side / 2, side % 2).size() + 1;
    return {Item::kLinked, side / 2, side % 2, 0, at / size, at % size};
  }
  if (v == tree()) return {Item::kTree, 0, 1, 0, 0, 0};
  const auto h = static_cast<std::size_t>(range_of(parts_->grand_begin, v - attached_));
  const std::size_t first = parts_->down_begin[2 * h], at = v - attached_ - parts_->grand_begin[h];
  const std::size_t width = parts_->down_begin[2 * h + 2] - first, rank = at % width;
  const std::size_t before = parts_->down_begin[2 * h + 1] - first;
  const int after = rank >= before;
  return {Item::kAttached,
          static_cast<int>(h),
          after,
          static_cast<std::uint32_t>(at / width),
          0,
          after ? rank - before : rank};
}

template <class Sum>
std::size_t ProjectiveChart<Sum>::ways(const Item& item) const {
  const auto list = parts_->side(item.h, item.after);
  switch (item.kind) {
    case Item::kHalf:
      return item.first == static_cast<std::size_t>(item.h) ? 1 : list.size();
    case Item::kLinked: {
      if (item.first == 0) return 1;
      const int a = parts_->word[list[item.first - 1]], b = parts_->word[list[item.j]];
      return static_cast<std::size_t>(a < b ? b - a : a - b);
    }
    case Item::kAttached:
      return item.j + 1;
    default:
      return list.size();
  }
}

template <class Sum>
typename ProjectiveChart<Sum>::Way ProjectiveChart<Sum>::way(const Item& item,
                                                             std::size_t e) const {
  const auto list = parts_->side(item.h, item.after);
  const std::size_t size = list.size() + 1, first = square(item.h, item.after);
  Way w;
  const auto sibling = [&](std::size_t part) {
    w.sibling[w.siblings++] = part;
    w.score += scores_.sibling[part];
  };
  const auto tail = [&](Node v) { w.tail[w.tails++] = v; };
  const std::size_t above = item.kind == Item::kAttached || item.kind == Item::kHalf
                                ? row(item.h, item.after, item.up)
                                : 0;
  switch (item.kind) {
    case Item::kHalf:
      if (item.first == static_cast<std::size_t>(item.h)) {
        sibling(first + list.size());
        break;
      }
      sibling(first + (e + 1) * size + list.size());
      tail(attached_ + above + e);
      tail(half(list[e], item.after, item.first));
      break;
    case Item::kLinked: {
      sibling(first + item.first * size + item.j);
      if (item.first == 0) {
        tail(inner(item.h, item.after, list[item.j]));
        break;
      }
      std::uint32_t low = list[item.first - 1], high = list[item.j];
      if (!item.after) std::swap(low, high);
      tail(right(low, parts_->word[low] + e));
      tail(left(high, parts_->word[low] + e + 1));
      break;
    }
    case Item::kAttached:
      w.arc = list[item.j];
      w.grands = 1;
      w.grand = above + item.j;
      w.score = scores_.grand[w.grand];
      if (e > 0) tail(attached_ + above + e - 1);
      tail(linked_ + first + e * size + item.j);
      break;
    case Item::kTree:  // one word below the root, none before it
      w.arc = list[e];
      sibling(square(0, 0));
      sibling(first + e);
      sibling(first + (e + 1) * size + list.size());
      tail(left(list[e], 1));
      tail(right(list[e], width_ - 1));
      break;
  }
  return w;
}

}  // namespace structlearn::parsing
