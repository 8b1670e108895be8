// How the spans of Eisner's chart are made of smaller ones: one derivation per tree, common to all
// code that follows derivations from the whole down.
#pragma once

#include <cstddef>
#include <vector>

namespace structlearn {

// As in eisner_chart.hpp, whose tables have this order.
enum class EisnerKind : std::size_t { kRight, kLeft, kArcRight, kArcLeft, kBetween };

struct EisnerSpan {
  EisnerKind kind;
  std::size_t i, j;

  bool is_arc() const { return kind == EisnerKind::kArcRight || kind == EisnerKind::kArcLeft; }
  // For an arc.
  std::size_t head() const { return kind == EisnerKind::kArcRight ? i : j; }
  std::size_t word() const { return kind == EisnerKind::kArcRight ? j : i; }
  // The place of its entry in tables of N * N, one kind after another.
  std::size_t place(std::size_t N) const {
    return (static_cast<std::size_t>(kind) * N + i) * N + j;
  }
};

struct EisnerWay {
  EisnerSpan tail[2];
  std::size_t tails = 0;
  std::size_t sibling = 0;  // of an arc, if siblings have scores: the word before, or the head

  // The spans to follow further down.
  void push_tails(std::vector<EisnerSpan>& stack) const {
    for (std::size_t t = 0; t < tails; ++t) {
      if (tail[t].i < tail[t].j) stack.push_back(tail[t]);
    }
  }
};

inline std::size_t eisner_ways(const EisnerSpan& span, bool siblings) {
  return span.i == span.j || (span.is_arc() && !siblings) ? 1 : span.j - span.i;
}

// The e-th of them, splits from left to right; for an arc the one without a sibling comes last.
// From one way of two spans to the next, the entry of the first span moves by one in its table,
// that of the second by a row, and the sibling by one word.
inline EisnerWay eisner_way(const EisnerSpan& span, bool siblings, std::size_t e) {
  using enum EisnerKind;
  const auto [kind, i, j] = span;
  const std::size_t k = i + 1 + e;
  if (i == j) return {};
  if (span.is_arc() && !siblings) return {{{kBetween, i, j}}, 1};
  switch (kind) {
    case kRight:
      return {{{kArcRight, i, k}, {kRight, k, j}}, 2};
    case kLeft:
      return {{{kLeft, i, k - 1}, {kArcLeft, k - 1, j}}, 2};
    case kBetween:
      return {{{kRight, i, k - 1}, {kLeft, k, j}}, 2};
    case kArcRight:
      if (k == j) return {{{kLeft, i + 1, j}}, 1, i};
      return {{{kArcRight, i, k}, {kBetween, k, j}}, 2, k};
    case kArcLeft:
      break;
  }
  if (k == j) return {{{kRight, i, j - 1}}, 1, j};
  return {{{kBetween, i, k}, {kArcLeft, k, j}}, 2, k};
}

}  // namespace structlearn
