// One example of a constituent tree, and traversals of the rows that are its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "structures/trees/constituency.hpp"

namespace structlearn {

struct SpanView {
  std::size_t n, R;
  const double* span;

  SpanView(const Layout& layout, const Scores& scores)
      : n(words_of_sites(layout.block[Constituency::kSpan].sites)),
        R(layout.block[Constituency::kSpan].outcomes),
        span(scores.block[Constituency::kSpan]) {}

  std::size_t site(std::size_t i, std::size_t j) const { return i * (n + 1) + j; }
  // Scores by label of the span i..j.
  const double* row(std::size_t i, std::size_t j) const { return span + site(i, j) * R; }
};

// A node of a binary tree still to be visited.
struct OpenSpan {
  std::uint32_t i, j;
  bool child;  // a node of the tree; label 0 is not allowed unless it is a single word
};

// Builds the row of an output top down: `expand(node)` gives (label, split).
template <class Expand>
void write_tree(std::size_t n, Output& y, std::vector<OpenSpan>& open, Expand&& expand) {
  y.clear();
  y.reserve(2 * (2 * n - 1));
  open.assign(1, {0, static_cast<std::uint32_t>(n), false});
  while (!open.empty()) {
    const OpenSpan at = open.back();
    open.pop_back();
    const auto [label, split] = expand(at);
    y.push_back(static_cast<std::int32_t>(label));
    y.push_back(static_cast<std::int32_t>(split));
    if (at.j - at.i > 1) {
      open.push_back({static_cast<std::uint32_t>(split), at.j, false});
      open.push_back({at.i, static_cast<std::uint32_t>(split), true});
    }
  }
}

// Calls visit(i, j, row) for every node of the binary tree, in preorder: a row of `Width` numbers,
// the last of them the split.
template <std::size_t Width, class Visit>
void walk_tree(std::span<const std::int32_t> y, Visit&& visit) {
  const std::uint32_t n = static_cast<std::uint32_t>((y.size() / Width + 1) / 2);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{0, n}};
  for (std::size_t at = 0; !open.empty() && at + Width <= y.size(); at += Width) {
    const auto [i, j] = open.back();
    open.pop_back();
    visit(i, j, y.data() + at);
    if (j - i > 1) {
      const std::uint32_t split = static_cast<std::uint32_t>(y[at + Width - 1]);
      open.emplace_back(split, j);
      open.emplace_back(i, split);
    }
  }
}

}  // namespace structlearn
