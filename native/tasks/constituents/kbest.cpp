#include <algorithm>
#include <unordered_map>

#include "structures/structure.hpp"
#include "tasks/constituents/chart.hpp"

namespace structlearn::text {

// The ways to derive each entry of the chart, found as far as they are asked for.
class TreeRanking {
 public:
  TreeRanking(TreeChart& chart, const TreeInput& input)
      : chart_(chart), input_(input), features_(input.tokens) {}

  std::vector<std::pair<double, BinaryTree>> best(std::size_t k) {
    std::vector<std::pair<double, BinaryTree>> found;
    const Item root{kRoot, 0, static_cast<std::uint32_t>(chart_.n_), 0};
    while (found.size() < k && has(root, found.size())) {
      found.emplace_back(score(root, found.size()), BinaryTree{});
      write(root, found.size() - 1, false, found.back().second);
    }
    return found;
  }

 private:
  // Entries: a node with its label; a first, middle or last child under a label; what follows the
  // first child under a label (the last child, or a rest); the whole.
  enum Kind : std::uint32_t { kNode, kFirst, kMiddle, kLast, kFollow, kRoot };
  struct Item {
    Kind kind;
    std::uint32_t i, j, label;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  // A way to derive an item from one or two others, each by its ways of some rank.
  struct Way {
    double score, gain;
    Item left, right;  // right.i == kNone: there is none
    std::uint32_t left_rank, right_rank;
    std::uint32_t order;  // ties go to the edge that came first
  };
  struct Ways {
    std::vector<Way> found, heap;
  };

  std::uint64_t key(const Item& a) const {
    const std::uint64_t n = chart_.n_ + 1;
    return ((a.kind * n + a.i) * n + a.j) * chart_.sizes_.labels + a.label;
  }

  static bool worse(const Way& a, const Way& b) {
    return a.score < b.score || (a.score == b.score && a.order > b.order);
  }

  // The score of the best way, from the chart where it has it.
  double top(const Item& a) {
    const std::size_t at = chart_.at(a.i, a.j) + a.label;
    switch (a.kind) {
      case kNode:
        return chart_.node_[at];
      case kFirst:
        return chart_.first_[at];
      case kMiddle:
        return chart_.middle_[at];
      case kFollow:
        return chart_.follow_[at];
      default:
        return has(a, 0) ? score(a, 0) : kMinusInfinity;
    }
  }

  double score(const Item& a, std::size_t rank) { return ways(a).found[rank].score; }
  double of(const Item& a, std::uint32_t rank) { return rank == 0 ? top(a) : score(a, rank); }

  void push(Ways& to, const Way& way) {
    if (way.score == kMinusInfinity) return;
    to.heap.push_back(way);
    std::push_heap(to.heap.begin(), to.heap.end(), worse);
  }

  void edge(Ways& to, double gain, const Item& left, const Item& right) {
    const double other = right.i == kNone ? 0.0 : top(right);
    push(to, {gain + top(left) + other, gain, left, right, 0, 0,
              static_cast<std::uint32_t>(to.heap.size())});
  }

  // The sum of the weights of features for one label; the keys come from `extract`.
  template <class Extract>
  double weight(std::uint32_t label, Extract&& extract) {
    scores_.assign(chart_.sizes_.labels, 0.0);
    extract(chart_.keys_);
    chart_.add(scores_.data());
    return scores_[label];
  }

  void open(const Item& a, Ways& to) {
    const Item none{kNode, kNone, 0, 0};
    const auto R = static_cast<std::uint32_t>(chart_.sizes_.labels);
    const bool word = a.j == a.i + 1;
    const auto tag_or = [&](std::uint32_t s) { return s == 0 ? R + input_.tag[a.i] : s; };
    if (a.kind == kRoot) {
      for (std::uint32_t s = word ? 0 : 1; s < R; ++s) {
        edge(to, chart_.table_[chart_.sizes_.root(tag_or(s))], {kNode, a.i, a.j, s}, none);
      }
    } else if (a.kind == kNode && word) {
      push(to, {top(a), top(a), none, none, 0, 0, 0});
    } else if (a.kind == kFirst || a.kind == kMiddle || a.kind == kLast) {
      constexpr TreeFeatures::Place kPlaces[] = {
          TreeFeatures::Place::kFirst, TreeFeatures::Place::kMiddle, TreeFeatures::Place::kLast};
      const std::size_t place = a.kind - kFirst;
      const double own =
          weight(a.label, [&](auto& keys) { features_.child(kPlaces[place], a.i, a.j, keys); });
      for (std::uint32_t s = word ? 0 : 1; s < R; ++s) {
        edge(to, own + chart_.table_[chart_.sizes_.pair(place, tag_or(s), a.label)],
             {kNode, a.i, a.j, s}, none);
      }
    } else {
      if (a.kind == kFollow) edge(to, 0.0, {kLast, a.i, a.j, a.label}, none);
      if (word) return;
      const double own = weight(a.label, [&](auto& keys) {
        a.kind == kNode ? features_.node(a.i, a.j, keys) : features_.rest(a.i, a.j, keys);
      });
      for (std::uint32_t k = a.i + 1; k < a.j; ++k) {
        const double split =
            weight(a.label, [&](auto& keys) { features_.split(a.i, k, a.j, keys); });
        edge(to, own + split, {a.kind == kNode ? kFirst : kMiddle, a.i, k, a.label},
             {kFollow, k, a.j, a.label});
      }
    }
  }

  // References to the values of an unordered_map stay good while others are made.
  Ways& ways(const Item& a) {
    const auto [at, made] = ways_.try_emplace(key(a));
    if (made) open(a, at->second);
    return at->second;
  }

  // Whether there are more than `rank` ways; finds them.
  bool has(const Item& a, std::size_t rank) {
    Ways& mine = ways(a);
    while (mine.found.size() <= rank) {
      if (!mine.found.empty()) {
        // The ways next to the one found last, each reached from one neighbour only.
        const Way last = mine.found.back();
        const auto step = [&](Way next) {
          const bool two = next.right.i != kNone;
          next.score = next.gain + of(next.left, next.left_rank) +
                       (two ? of(next.right, next.right_rank) : 0.0);
          push(mine, next);
        };
        if (last.right.i != kNone && has(last.right, last.right_rank + 1)) {
          Way next = last;
          ++next.right_rank;
          step(next);
        }
        if (last.right_rank == 0 && last.left.i != kNone && has(last.left, last.left_rank + 1)) {
          Way next = last;
          ++next.left_rank;
          step(next);
        }
      }
      if (mine.heap.empty()) return false;
      std::pop_heap(mine.heap.begin(), mine.heap.end(), worse);
      mine.found.push_back(mine.heap.back());
      mine.heap.pop_back();
    }
    return true;
  }

  // The tree in preorder; `rest`: a split of this item is that of a rest.
  void write(const Item& a, std::size_t rank, bool rest, BinaryTree& tree) {
    has(a, rank);
    const Way way = ways(a).found[rank];
    const bool splits = way.right.i != kNone;
    if (a.kind == kNode || (a.kind == kFollow && splits)) {
      tree.push_back({a.i, a.j, splits ? way.right.i : 0, a.label, rest});
    }
    if (way.left.i != kNone) write(way.left, way.left_rank, false, tree);
    if (splits) {
      // A rest is what follows and is split itself.
      has(way.right, way.right_rank);
      const bool more = ways(way.right).found[way.right_rank].right.i != kNone;
      write(way.right, way.right_rank, more, tree);
    }
  }

  TreeChart& chart_;
  const TreeInput& input_;
  TreeFeatures features_;
  std::unordered_map<std::uint64_t, Ways> ways_;
  std::vector<double> scores_;
};

std::vector<std::pair<double, BinaryTree>> TreeChart::kbest(const TreeInput& input, std::size_t k) {
  BinaryTree best;
  parse(input, best);
  return TreeRanking(*this, input).best(k);
}

}  // namespace structlearn::text
