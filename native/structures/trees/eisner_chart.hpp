// Eisner's chart (Eisner 1996; with siblings, McDonald & Pereira 2006), row by row.
//
// Five tables over i < j: right[i][j] and left[i][j] are complete spans with head i, or j, that
// have all their words below it; arc_right[i][j] and arc_left[i][j] spans that begin with the arc i
// -> j, or j -> i; between[i][j] a complete span with head i beside one with head j. All of row i
// come from rows below it and from earlier entries of its own, so an entry, once final, is pushed
// into those after it: the inner loops run along rows of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"
#include "structures/trees/eisner_ways.hpp"

namespace structlearn {

class EisnerChart {
 public:
  EisnerChart(const double* arc, const double* sibling, std::size_t n, Workspace& ws)
      : arc_(arc), sibling_(sibling), n_(n), N_(n + 1) {
    enum Scratch { kTables };
    double* tables = ws.real(kTables, 5 * N_ * N_);
    right_ = tables;
    left_ = tables + N_ * N_;
    arc_right_ = tables + 2 * N_ * N_;
    arc_left_ = tables + 3 * N_ * N_;
    between_ = tables + 4 * N_ * N_;
  }

  void fill(std::size_t first) {
    for (std::size_t i = n_ + 1; i-- > first;) siblings() ? fill_row<true>(i) : fill_row<false>(i);
  }

  // The best tree below the root.
  double best(bool single_root, std::int32_t* heads) {
    fill(single_root ? 1 : 0);
    if (!single_root) {
      const double value = right_[n_];
      if (value > kMinusInfinity) trace({EisnerKind::kRight, 0, n_}, heads);
      return value;
    }
    double value = kMinusInfinity;
    std::size_t top = 1;
    for (std::size_t m = 1; m <= n_; ++m) {
      const double x =
          arc_[m] + (sibling_ ? sibling_[m] : 0.0) + left_[at(1, m)] + right_[at(m, n_)];
      if (x > value) {
        value = x;
        top = m;
      }
    }
    if (value > kMinusInfinity) {
      heads[top - 1] = 0;
      trace({EisnerKind::kLeft, 1, top}, heads);
      trace({EisnerKind::kRight, top, n_}, heads);
    }
    return value;
  }

  // The best score of a span.
  double score(const EisnerSpan& span) const { return right_[span.place(N_)]; }
  bool siblings() const { return sibling_ != nullptr; }
  // The sibling score of word m with head h and sibling s.
  double pair(std::size_t h, std::size_t s, std::size_t m) const {
    return sibling_[(h * N_ + s) * N_ + m];
  }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return i * N_ + j; }

  void begin_row(std::size_t i) {
    for (double* table : {right_, left_, arc_right_, arc_left_, between_}) {
      std::fill(table + at(i, i), table + at(i, n_) + 1, kMinusInfinity);
    }
    right_[at(i, i)] = left_[at(i, i)] = 0.0;
  }

  template <bool kSiblings>
  void fill_row(std::size_t i) {
    begin_row(i);
    double *right = right_ + at(i, 0), *left = left_ + at(i, 0), *between = between_ + at(i, 0);
    double *arc_right = arc_right_ + at(i, 0), *arc_left = arc_left_ + at(i, 0);
    if (i < n_) std::copy(left_ + at(i + 1, i + 1), left_ + at(i + 1, n_) + 1, between + i + 1);
    for (std::size_t j = i + 1; j <= n_; ++j) {
      // With siblings, the arcs so far hold the best ones with a sibling between.
      double below = between[j];
      if constexpr (kSiblings) below = std::max(arc_right[j], left_[at(i + 1, j)] + pair(i, i, j));
      arc_right[j] = below + arc_[at(i, j)];
      right[j] = std::max(right[j], arc_right[j]);
      if (i > 0) {
        if constexpr (kSiblings) below = std::max(arc_left[j], right[j - 1] + pair(j, j, i));
        arc_left[j] = below + arc_[at(j, i)];
        left[j] = std::max(left[j], arc_left[j]);
      }
      if (j == n_) break;
      if constexpr (kSiblings) push_siblings(i, j);
      const double a[] = {arc_right[j], right[j], left[j]};
      const double* x[] = {right_ + at(j, j + 1), left_ + at(j + 1, j + 1),
                           arc_left_ + at(j, j + 1)};
      double* out[] = {right + j + 1, between + j + 1, left + j + 1};
      kernels().max_add_rows(a, x, out, i > 0 ? 3 : 2, n_ - j);
    }
  }

  void push_siblings(std::size_t i, std::size_t j) {
    double *arc_right = arc_right_ + at(i, 0), *arc_left = arc_left_ + at(i, 0);
    const double before = arc_right[j], beside = between_[at(i, j)];
    const double *after = between_ + at(j, 0), *left_after = arc_left_ + at(j, 0);
    const double* right_pair = sibling_ + at(i, j) * N_;
    for (std::size_t k = j + 1; k <= n_; ++k) {
      arc_right[k] = std::max(arc_right[k], before + (after[k] + right_pair[k]));
    }
    for (std::size_t k = j + 1; k <= n_ && i > 0; ++k) {
      arc_left[k] = std::max(arc_left[k], beside + (left_after[k] + pair(k, j, i)));
    }
  }

  // Back-pointers are not stored: take the first way that gives the maximum.
  void trace(const EisnerSpan& top, std::int32_t* heads) {
    std::vector<EisnerSpan> stack;
    stack.reserve(n_);
    stack.push_back(top);
    while (!stack.empty()) {
      const EisnerSpan span = stack.back();
      stack.pop_back();
      if (span.is_arc()) heads[span.word() - 1] = static_cast<std::int32_t>(span.head());
      EisnerWay way = eisner_way(span, siblings(), 0);
      if (const std::size_t e = first_best(span, way)) way = eisner_way(span, siblings(), e);
      way.push_tails(stack);
    }
  }

  // Added up as in the chart; the last way need not be checked. `way` is the first.
  std::size_t first_best(const EisnerSpan& span, const EisnerWay& way) const {
    const std::size_t last = eisner_ways(span, siblings()) - 1;
    if (last == 0) return 0;
    const double *a = right_ + way.tail[0].place(N_), *b = right_ + way.tail[1].place(N_);
    const double wanted = score(span);
    std::size_t e = 0;
    if (!span.is_arc()) {
      while (e < last && a[e] + b[e * N_] != wanted) ++e;
      return e;
    }
    const std::size_t h = span.head(), m = span.word();
    const double arc = arc_[at(h, m)];
    while (e < last && a[e] + (b[e * N_] + pair(h, way.sibling + e, m)) + arc != wanted) ++e;
    return e;
  }

  const double *arc_, *sibling_;
  std::size_t n_, N_;
  double *right_, *left_, *arc_right_, *arc_left_, *between_;
};

}  // namespace structlearn
