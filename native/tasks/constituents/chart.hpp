// A parser of constituents: features of spans and splits, weights, and the chart over labels.
//
// The score of a tree is the sum over the nodes of its binary tree (see constituency.hpp: a row of
// children c1 c2 ... is c1 beside the rest c2 ...; the rest belongs to the label X of its parent)
// of
//   the features of the span of a node with its label, or of a rest with its parent's,
//   the features of the split, with that label,
//   the features of a child, first, in the middle or last, with the label of its parent,
//   a weight for the label of the child (a word's tag where it has no label) under its parent.
// Labels of parents and children meet in a table, so the chart needs O(n^2 R^2 + n^3 R) time
// besides the features and O(n^2 R) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tasks/constituents/span_features.hpp"

namespace structlearn::text {

// Feature keys -> rows, by open addressing.
class KeyIndex {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;
  KeyIndex() = default;
  // Key r has row r.
  explicit KeyIndex(std::span<const std::uint64_t> keys);
  std::uint32_t find(std::uint64_t key) const {
    std::size_t at = key & mask_;
    while (key_[at] != 0) {
      if (key_[at] == key) return row_[at];
      at = (at + 1) & mask_;
    }
    return kAbsent;
  }

 private:
  std::size_t mask_ = 0;
  std::vector<std::uint64_t> key_ = {0};
  std::vector<std::uint32_t> row_ = {0};
};

// A node of a binary tree. Label 0 is a word without a label. A rest has its parent's label.
struct TreeNode {
  std::uint32_t i, j, split;  // split 0 for a single word
  std::uint32_t label;
  bool rest;
};
using BinaryTree = std::vector<TreeNode>;  // preorder

// The binary tree of nested labelled spans, outer before inner; labels from 1.
struct TreeSpan {
  std::uint32_t begin, end, label;
};
BinaryTree binary_tree(std::span<const TreeSpan> spans, std::size_t n);
void labelled_spans(const BinaryTree& tree, std::vector<TreeSpan>& spans);

// Sizes and places of the weights: rows of R for the features, then the tables of label pairs.
struct TreeWeights {
  std::size_t labels = 0, tags = 0;  // tags has one more than are known: the last is any other
  std::size_t symbols() const { return labels + tags; }
  // Children [first, middle, last][symbol][parent], and the outermost symbol.
  std::size_t pair(std::size_t place, std::size_t symbol, std::size_t parent) const {
    return (place * symbols() + symbol) * labels + parent;
  }
  std::size_t root(std::size_t symbol) const { return 3 * symbols() * labels + symbol; }
  std::size_t table_size() const { return 3 * symbols() * labels + symbols(); }
};

// One sentence with what the chart needs.
struct TreeInput {
  TreeTokens tokens;
  std::vector<std::uint32_t> tag;  // its number among the known tags, the last for others
};

// Finds the best tree. Memory is kept from sentence to sentence.
class TreeChart {
 public:
  // weights: rows x labels; table: as TreeWeights says.
  TreeChart(const TreeWeights& sizes, const KeyIndex& index, const float* weights,
            const double* table)
      : sizes_(sizes), index_(index), weights_(weights), table_(table) {}

  // `gold`: where given, a labelled span costs `cost` unless it is in that tree, and one that is
  // missing does too: those that are there earn it.
  double parse(const TreeInput& input, BinaryTree& tree, const BinaryTree* gold = nullptr,
               double cost = 0.0);

  // The k best trees with their scores, best first (Huang & Chiang 2005, algorithm 3: the chart of
  // the best tree, and then only the derivations that the next ones ask for).
  std::vector<std::pair<double, BinaryTree>> kbest(const TreeInput& input, std::size_t k);

 private:
  friend class TreeRanking;
  std::size_t at(std::size_t i, std::size_t j) const { return (i * (n_ + 1) + j) * sizes_.labels; }
  void add(double* out);  // the weights of the features in keys_
  // Scores by parent of a child over i..j in one of the three places, its features added.
  void as_child(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j,
                double* out);
  // The label that gave as_child its maximum.
  std::uint32_t child_label(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j,
                            std::size_t parent) const;

  const TreeWeights& sizes_;
  const KeyIndex& index_;
  const float* weights_;
  const double* table_;
  std::size_t n_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<const float*> rows_;
  // By span and label: a complete node; a child, first and in the middle, by its parent; the last
  // child or a rest, by their parent. Splits, negative where the last child beats every rest.
  std::vector<double> node_, first_, middle_, follow_, scores_;
  std::vector<std::int32_t> node_split_, follow_split_;
};

}  // namespace structlearn::text
