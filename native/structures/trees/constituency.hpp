// Constituent trees over n words: sets of nested labelled spans (CKY, Cocke 1970, Kasami 1965,
// Younger 1967).
//
// Block 0: span, n * (n + 1) sites of R labels; site i * (n + 1) + j is the span of the words
// i..j-1, read where i < j. Label 0 stands for "unlabelled".
//
// Nodes have any number of children. The chart is binary: a node with children c1 c2 ... cm is c1
// beside what follows it, c2 ... cm, which for m > 2 is an unlabelled span of its own (label 0) and
// so on to the right. So
//
//   child(i, j) = body(i, j) + any label but 0       a node of the tree
//   follow(i, j) = body(i, j) + any label            a node, or the rest of a row of children
//   body(i, j) = child(i, k) beside follow(k, j)     i < k < j; nothing for one word
//
// where a single word may have no label in either place, and the whole is follow(0, n). There is
// one derivation per tree: only the last of a row of children may be unlabelled, so there is no
// other way to cut the row.
//
// An output is a row of 2 (2n - 1) integers, (label, split) of the nodes of the binary tree in
// preorder; split 0 for a single word.
//
// O(n^2 R + n^3) time, O(n^2) memory besides the scores.
#pragma once

#include "structures/structure.hpp"

namespace structlearn {

// A labelled span of an output.
struct LabelledSpan {
  std::int32_t begin, end, label;
};

// Structures whose outputs are lists of spans.
class SpanOutputs {
 public:
  virtual ~SpanOutputs() = default;
  // The spans of an output, outer ones first, left before right.
  virtual void spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const = 0;
};

// The number of words for a block of n * (n + 1) sites; 0 if no n fits.
std::size_t words_of_sites(std::size_t sites);

class Constituency final : public Structure, public SpanOutputs {
 public:
  static constexpr std::size_t kSpan = 0;

  void check(const Layout&) const override;
  bool reads(const Layout&, std::size_t block, std::size_t site) const override;
  bool scores_are_valid(const Layout&, std::size_t block, const double* x) const override;
  double argmax(const Layout&, const Scores&, Output& y, Workspace&) const override;
  double infer(const Layout&, const Scores&, double eps, const Marginals&,
               Workspace&) const override;
  void encode(const Layout&, std::span<const std::int32_t> y,
              std::vector<std::uint32_t>& parts) const override;
  std::vector<std::pair<double, Output>> kbest(const Layout&, const Scores&, std::size_t n,
                                               Workspace&) const override;
  std::vector<Output> sample(const Layout&, const Scores&, double eps, std::size_t n,
                             std::uint64_t seed, Workspace&) const override;
  void spans(std::span<const std::int32_t> y, std::vector<LabelledSpan>& found) const override;
};

}  // namespace structlearn
