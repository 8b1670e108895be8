// Parse trees of a context-free grammar with binary and unary rules, scored rule by rule.
//
// Blocks: 0 word (n sites of R: a symbol for a word itself), 1 span (n * (n + 1) sites, as in
// Constituency, one part per name: any symbol of this name covers i..j, counted once however many
// do), 2 binary and 3 unary (one shared site, one score per rule), 4 root (one site of R: the
// outermost symbol). All but the first may be absent.
//
// Each span has a symbol from a word or a binary rule, and above it a chain of unary rules without
// repeated symbols: cycles of unary rules would make infinitely many trees. The chains are the
// closure of the unary rules and are computed once, with the grammar.
//
// An output is a row of 3 (2n - 1) integers for the nodes of the binary tree in preorder: (symbol
// of the word, or binary rule), chain (0 for none), split (0 for a word).
//
// O(n^3 B + n^2 C) time for B rules and C chains, without unreachable ones; O(n^2 R) memory. The
// best tree, k-best lists and samples are read off the chart as a forest (forest.hpp).
#pragma once

#include <array>
#include <span>

#include "structures/structure.hpp"
#include "structures/trees/constituency.hpp"

namespace structlearn {

struct Grammar {
  std::size_t symbols = 0;
  std::vector<std::array<std::uint32_t, 3>> binary;  // parent, left, right
  std::vector<std::array<std::uint32_t, 2>> unary;   // parent, child
  // Chain c applies the unary rules chain_rule[chain_ptr[c]..chain_ptr[c + 1]], bottom up.
  std::vector<std::uint32_t> chain_ptr, chain_rule;
  // The name of each symbol, or kNameless, and the number of names. Without names each symbol is
  // its own name.
  static constexpr std::uint32_t kNameless = 0xFFFFFFFFu;
  std::vector<std::uint32_t> name;
  std::size_t names = 0;

  // All chains of up to `most` rules without repeated symbols; throws std::invalid_argument if a
  // rule leads to itself, or there are so many chains that it must be a mistake.
  void close(std::size_t most);
};

class GrammarTrees final : public Structure, public SpanOutputs {
 public:
  static constexpr std::size_t kWord = 0, kSpan = 1, kBinary = 2, kUnary = 3, kRoot = 4;

  // Throws std::invalid_argument if a rule or a chain names something that does not exist.
  explicit GrammarTrees(Grammar grammar);

  void check(const Layout&) const override;
  bool reads(const Layout&, std::size_t block, std::size_t site) const override;
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

  const Grammar& grammar() const { return grammar_; }
  // Binary rules sorted by their left child: those of symbol b are [begin[b], begin[b + 1]).
  const std::vector<std::uint32_t>& by_left() const { return by_left_; }
  const std::vector<std::uint32_t>& left_begin() const { return left_begin_; }
  // Chains that start at symbol b, likewise.
  const std::vector<std::uint32_t>& by_bottom() const { return by_bottom_; }
  const std::vector<std::uint32_t>& bottom_begin() const { return bottom_begin_; }
  // The names that a chain adds to that of its bottom, each once.
  std::span<const std::uint32_t> added(std::size_t c) const {
    return {added_.data() + added_ptr_[c], added_.data() + added_ptr_[c + 1]};
  }
  std::uint32_t bottom(std::size_t c) const {
    return grammar_.unary[grammar_.chain_rule[grammar_.chain_ptr[c]]][1];
  }
  std::uint32_t top(std::size_t c) const {
    return grammar_.unary[grammar_.chain_rule[grammar_.chain_ptr[c + 1] - 1]][0];
  }

 private:
  Grammar grammar_;
  std::vector<std::uint32_t> by_left_, left_begin_, by_bottom_, bottom_begin_, added_ptr_, added_;
};

}  // namespace structlearn
