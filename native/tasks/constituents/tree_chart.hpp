// The chart over a sentence's spans, and the trees that are read off it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tasks/constituents/tree_parts.hpp"

namespace structlearn::text {

// By span and label: a complete node; a child, first and in the middle, by its parent; the last
// child or a rest, by their parent; and the whole. Best scores, or logs of sums of exponentials.
struct TreeChart {
  double *node, *first, *middle, *follow;
  double whole;
};

// What a workspace holds for trees of spans: the tables of a chart in the order of TreeSums, what
// sums need besides, and scores over eps.
enum class SpanTreeScratch {
  kNode,
  kFirst,
  kMiddle,
  kFollow,
  kInner,
  kRest,
  kLast,
  kMass,
  kDivided
};

// Takes the labels that no node over i..j has out of a row of scores.
inline void forbid(const TreeView<const double>& v, std::size_t i, std::size_t j, double* row) {
  for (const std::size_t x : {std::size_t{0}, v.shape.sizes.nameless}) {
    if (!v.allows(i, j, x)) row[x] = kMinusInfinity;
  }
}

// The best scores. The chart lies in the workspace.
TreeChart best_chart(const TreeView<const double>&, Workspace&);

// The same with log-sum-exp for max, and what only sums need: `inner` is a node
// without the score of its own span, `rest` a rest, `last` the last child.
struct TreeSums : TreeChart {
  double *inner, *rest, *last;
};
TreeSums sum_chart(const TreeView<const double>&, Workspace&);
// The scores over eps, which sums are made of, in `out`.
Scores divided(const Layout&, const Scores&, double eps, double* out);

// The derivations of a chart as a forest (lazy_kbest.hpp).
class TreeForest {
 public:
  // A node with its label, a child by its parent's, what follows a first child, the whole.
  enum Kind : std::uint64_t { kNodeItem, kFirstItem, kMiddleItem, kFollowItem, kWhole };

  TreeForest(const TreeView<const double>& view, const TreeChart& chart)
      : v_(view), chart_(chart) {}

  std::uint64_t root() const { return number(kWhole, 0, v_.n, 0); }
  double best(std::uint64_t node) const;
  std::uint32_t ways(std::uint64_t node) const;
  double way(std::uint64_t node, std::uint32_t edge, std::vector<std::uint64_t>& tails) const;
  // Adds what an edge is of an output, if anything; right before left in `tails` makes a stack of
  // them a preorder.
  void write(std::uint64_t node, std::uint32_t edge, Output& y) const;

 private:
  struct Item {
    Kind kind;
    std::size_t i, j, label;
    bool word() const { return j == i + 1; }
  };
  std::uint64_t number(Kind kind, std::size_t i, std::size_t j, std::size_t label) const {
    return ((kind * (v_.n + 1) + i) * (v_.n + 1) + j) * v_.R + label;
  }
  Item item(std::uint64_t number) const;
  // How many labels a child over these words may have.
  std::uint32_t symbols(const Item& a) const {
    return static_cast<std::uint32_t>(a.word() ? v_.R : v_.R - 1);
  }

  const TreeView<const double>& v_;
  TreeChart chart_;
};

}  // namespace structlearn::text
