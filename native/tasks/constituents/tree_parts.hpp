// The parts of a constituent tree as the parser scores it.
//
// A tree is binary: a row of children c1 c2 ... is c1 beside the rest c2 ..., which belongs to the
// label X of its parent. Its score is the sum over the nodes of the binary tree of
//   the span of a node with its label, or of a rest with its parent's,
//   the split, with that label: what its lengths and borders score, each shared by all the splits
//     of the sentence that look alike,
//   a child, first, in the middle or last, with the label of its parent,
//   the label of the child (a word's tag where it has no label) under its parent.
// A single word may go without a label, which is label 0. So it never has the label of nodes
// without a name, if there is one: that would be the same tree.
//
// An output is a row of 2 (2n - 1) integers, (label, split) of the nodes of the binary tree in
// preorder: label -1 for a rest, split 0 for a single word.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "structures/structure.hpp"
#include "structures/trees/constituency.hpp"

namespace structlearn::text {

// Blocks of parts: by span and label kNode to kLast, the last three by the label of the parent; by
// kind of split and label; one shared site for (place, symbol, parent), one for the root's symbol.
enum TreeBlock : std::size_t { kNode, kRest, kFirst, kMiddle, kLast, kSplit, kPair, kRoot };
inline constexpr std::size_t kPlaces = 3;      // of children: first, middle, last
inline constexpr std::size_t kSpanBlocks = 5;  // kNode to kLast

struct TreeSizes {
  std::size_t labels = 0, tags = 0;  // tags has one more than are known: the last is any other
  std::size_t nameless = 0;          // the label of nodes without a name; 0: there is none
  std::size_t symbols() const { return labels + tags; }
  std::size_t pair(std::size_t place, std::size_t symbol, std::size_t parent) const {
    return (place * symbols() + symbol) * labels + parent;
  }
  std::size_t pairs() const { return kPlaces * symbols() * labels; }
  std::size_t table() const { return pairs() + symbols(); }
};

// The spans i..j of n words, i < j, row by row.
inline std::size_t spans_of(std::size_t n) {
  return n * (n + 1) / 2;
}
inline std::size_t span_site(std::size_t n, std::size_t i, std::size_t j) {
  return i * (2 * n - i + 1) / 2 + (j - i - 1);
}

inline std::pair<std::size_t, std::size_t> span_of_site(std::size_t n, std::size_t site) {
  std::size_t i = 0;
  while (site >= n - i) site -= n - i++;
  return {i, i + 1 + site};
}

// Whether any tree has a part of this block at this span.
inline bool has_site(std::size_t block, std::size_t n, std::size_t i, std::size_t j) {
  switch (block) {
    case kNode:
      return true;
    case kRest:
      return i > 0 && j - i > 1;
    case kFirst:
      return j < n;
    case kMiddle:
      return i > 0 && j < n;
    default:
      return i > 0;
  }
}

// A sentence as its structure sees it: which splits look alike.
struct TreeShape final : Shape {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  static constexpr std::size_t kMostKinds = 4;  // of one split

  // What is seen of i, k and j, numbered, and which combinations are sites.
  struct Family {
    std::array<std::vector<std::uint32_t>, 3> seen;  // by position
    std::array<std::size_t, 3> kinds{};
    std::vector<std::uint32_t> site;  // [of i][of j][of k]
    std::size_t place(std::size_t i, std::size_t k, std::size_t j) const {
      return (seen[0][i] * kinds[2] + seen[2][j]) * kinds[1] + seen[1][k];
    }
  };

  TreeSizes sizes;
  std::vector<std::uint32_t> symbol;  // of each word without a label
  std::size_t length_kinds = 0;
  std::vector<std::uint32_t> length;   // the kind of each length
  std::vector<std::uint32_t> lengths;  // sites of [kind of k - i][kind of j - k]
  std::array<Family, kMostKinds - 1> family;
  std::vector<std::uint32_t> row;  // of each site, for the scorer

  std::size_t words() const { return symbol.size(); }
  // The sites of a split; how many.
  std::size_t split(std::size_t i, std::size_t k, std::size_t j, std::uint32_t* sites) const {
    std::size_t count = 0;
    const auto take = [&](std::uint32_t s) {
      sites[count] = s;
      count += s != kNone;
    };
    take(lengths[length[k - i] * length_kinds + length[j - k]]);
    for (const Family& f : family) take(f.site[f.place(i, k, j)]);
    return count;
  }
};

inline const TreeShape& tree_shape(const Layout& layout) {
  return static_cast<const TreeShape&>(*layout.shape);
}

// The scores, or the marginals, of one sentence.
template <class Real>
struct TreeView {
  const TreeShape& shape;
  std::size_t n, R;
  std::array<Real*, 8> block;

  template <class Blocks>
  TreeView(const Layout& layout, const Blocks& given)
      : shape(tree_shape(layout)), n(shape.words()), R(shape.sizes.labels) {
    for (std::size_t b = 0; b < block.size(); ++b) block[b] = given.block[b];
  }

  Real* row(std::size_t b, std::size_t i, std::size_t j) const {
    return block[b] + span_site(n, i, j) * R;
  }
  // Whether nodes over i..j may have a label.
  bool allows(std::size_t i, std::size_t j, std::size_t label) const {
    return j > i + 1 ? label > 0 : label == 0 || label != shape.sizes.nameless;
  }
  // The scores of label pairs with a child of this symbol; of a word without a label where s is 0.
  std::size_t symbol(std::size_t i, std::size_t s) const { return s == 0 ? shape.symbol[i] : s; }
  Real* pair(std::size_t place, std::size_t symbol) const {
    return block[kPair] + shape.sizes.pair(place, symbol, 0);
  }
  // Pointers to the rows of a split; how many.
  std::size_t split(std::size_t i, std::size_t k, std::size_t j, Real** rows) const {
    std::uint32_t sites[TreeShape::kMostKinds];
    const std::size_t count = shape.split(i, k, j, sites);
    for (std::size_t s = 0; s < count; ++s) rows[s] = block[kSplit] + sites[s] * R;
    return count;
  }
};

// Calls site(block, i, k, j, label) for the parts of an output that belong to spans and splits,
// pair(place, i, label, parent) for each child, and root(i, label) for the whole.
template <class Site, class Pair, class Root>
void walk_tree_parts(std::size_t n, std::span<const std::int32_t> y, Site&& site, Pair&& pair,
                     Root&& root) {
  struct Open {
    std::size_t i, j, parent, place;  // place: kPlaces for the whole
  };
  std::vector<Open> open{{0, n, 0, kPlaces}};
  for (std::size_t at = 0; !open.empty() && at + 1 < y.size(); at += 2) {
    const auto [i, j, parent, place] = open.back();
    open.pop_back();
    const bool rest = y[at] < 0;
    const std::size_t label = rest ? parent : static_cast<std::size_t>(y[at]);
    if (!rest && place == kPlaces) root(i, label);
    if (!rest && place < kPlaces) {
      pair(place, i, label, parent);
      site(kFirst + place, i, std::size_t{0}, j, parent);
    }
    site(rest ? kRest : kNode, i, std::size_t{0}, j, label);
    if (j - i == 1) continue;
    const std::size_t k = static_cast<std::size_t>(y[at + 1]);
    site(kSplit, i, k, j, label);
    open.push_back({k, j, label, 2});
    open.push_back({i, k, label, rest ? std::size_t{1} : std::size_t{0}});
  }
}

// Spans as a row of (begin, end, label), and back.
Output row_of_spans(std::span<const LabelledSpan>);
std::vector<LabelledSpan> spans_of_row(std::span<const std::int32_t> row);

// Whether these are spans of n words of which no two cross, outer before inner, left before right.
bool nested(std::span<const LabelledSpan>, std::size_t n);

// Puts outer spans before inner ones; says why they are no tree of n words, null: they are one.
const char* tree_fault(std::vector<LabelledSpan>& spans, std::size_t n, const TreeSizes& sizes);

// The output with these nested labelled spans, outer before inner; labels from 1.
Output tree_of_spans(std::span<const LabelledSpan> spans, std::size_t n);

}  // namespace structlearn::text
