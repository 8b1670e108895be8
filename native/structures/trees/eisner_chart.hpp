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
    for (std::size_t i = n_ + 1; i-- > first;) {
      if (sibling_ == nullptr) {
        fill_row(i);
      } else {
        fill_sibling_row(i);
      }
    }
  }

  // The best tree below the root.
  double best(bool single_root, std::int32_t* heads) {
    fill(single_root ? 1 : 0);
    if (!single_root) {
      const double value = right_[n_];
      if (value > kMinusInfinity) trace({kRight, 0, n_}, heads);
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
      trace({kLeft, 1, top}, heads);
      trace({kRight, top, n_}, heads);
    }
    return value;
  }

  enum Kind { kRight, kLeft, kArcRight, kArcLeft, kBetween };
  // The best score of a span.
  double score(Kind kind, std::size_t i, std::size_t j) const {
    const double* tables[] = {right_, left_, arc_right_, arc_left_, between_};
    return tables[kind][at(i, j)];
  }
  const double* sibling() const { return sibling_; }
  // What the sibling k adds for the word j of head i, and for the word i of head j.
  double right_pair(std::size_t i, std::size_t k, std::size_t j) const {
    return sibling_[(i * N_ + k) * N_ + j];
  }
  double left_pair(std::size_t i, std::size_t k, std::size_t j) const {
    return sibling_[(j * N_ + k) * N_ + i];
  }

 private:
  struct Span {
    Kind kind;
    std::size_t i, j;
  };

  std::size_t at(std::size_t i, std::size_t j) const { return i * N_ + j; }

  void begin_row(std::size_t i) {
    for (double* table : {right_, left_, arc_right_, arc_left_, between_}) {
      std::fill(table + at(i, i), table + at(i, n_) + 1, kMinusInfinity);
    }
    right_[at(i, i)] = left_[at(i, i)] = 0.0;
  }

  void fill_row(std::size_t i) {
    begin_row(i);
    double *right = right_ + at(i, 0), *left = left_ + at(i, 0), *between = between_ + at(i, 0);
    if (i < n_) std::copy(left_ + at(i + 1, i + 1), left_ + at(i + 1, n_) + 1, between + i + 1);
    for (std::size_t j = i + 1; j <= n_; ++j) {
      arc_right_[at(i, j)] = between[j] + arc_[at(i, j)];
      right[j] = std::max(right[j], arc_right_[at(i, j)]);
      if (i > 0) {
        arc_left_[at(i, j)] = between[j] + arc_[at(j, i)];
        left[j] = std::max(left[j], arc_left_[at(i, j)]);
      }
      if (j == n_) break;
      const double a[] = {arc_right_[at(i, j)], right[j], left[j]};
      const double* x[] = {right_ + at(j, j + 1), left_ + at(j + 1, j + 1),
                           arc_left_ + at(j, j + 1)};
      double* out[] = {right + j + 1, between + j + 1, left + j + 1};
      kernels().max_add_rows(a, x, out, i > 0 ? 3 : 2, n_ - j);
    }
  }

  void fill_sibling_row(std::size_t i) {
    begin_row(i);
    double *right = right_ + at(i, 0), *left = left_ + at(i, 0), *between = between_ + at(i, 0);
    double *arc_right = arc_right_ + at(i, 0), *arc_left = arc_left_ + at(i, 0);
    if (i < n_) std::copy(left_ + at(i + 1, i + 1), left_ + at(i + 1, n_) + 1, between + i + 1);
    for (std::size_t j = i + 1; j <= n_; ++j) {
      // So far the arcs hold the best with a sibling between.
      arc_right[j] =
          std::max(arc_right[j], left_[at(i + 1, j)] + right_pair(i, i, j)) + arc_[at(i, j)];
      right[j] = std::max(right[j], arc_right[j]);
      if (i > 0) {
        arc_left[j] = std::max(arc_left[j], right[j - 1] + left_pair(i, j, j)) + arc_[at(j, i)];
        left[j] = std::max(left[j], arc_left[j]);
      }
      if (j == n_) break;
      for (std::size_t k = j + 1; k <= n_; ++k) {
        arc_right[k] =
            std::max(arc_right[k], arc_right[j] + (between_[at(j, k)] + right_pair(i, j, k)));
      }
      for (std::size_t k = j + 1; k <= n_ && i > 0; ++k) {
        arc_left[k] =
            std::max(arc_left[k], between[j] + (arc_left_[at(j, k)] + left_pair(i, j, k)));
      }
      const double a[] = {arc_right[j], right[j], left[j]};
      const double* x[] = {right_ + at(j, j + 1), left_ + at(j + 1, j + 1),
                           arc_left_ + at(j, j + 1)};
      double* out[] = {right + j + 1, between + j + 1, left + j + 1};
      kernels().max_add_rows(a, x, out, i > 0 ? 3 : 2, n_ - j);
    }
  }

  // Where a maximum came from is looked up: the first split that gives it.
  void trace(Span top, std::int32_t* heads) {
    std::vector<Span> stack{top};
    while (!stack.empty()) {
      const auto [kind, i, j] = stack.back();
      stack.pop_back();
      if (i == j) continue;
      std::size_t k = i;
      switch (kind) {
        case kRight:
          for (k = i + 1; k < j && arc_right_[at(i, k)] + right_[at(k, j)] != right_[at(i, j)];)
            ++k;
          stack.push_back({kArcRight, i, k});
          stack.push_back({kRight, k, j});
          break;
        case kLeft:
          while (k + 1 < j && left_[at(i, k)] + arc_left_[at(k, j)] != left_[at(i, j)]) ++k;
          stack.push_back({kLeft, i, k});
          stack.push_back({kArcLeft, k, j});
          break;
        case kBetween:
          while (k + 1 < j && right_[at(i, k)] + left_[at(k + 1, j)] != between_[at(i, j)]) ++k;
          stack.push_back({kRight, i, k});
          stack.push_back({kLeft, k + 1, j});
          break;
        case kArcRight:
          heads[j - 1] = static_cast<std::int32_t>(i);
          trace_right(i, j, stack);
          break;
        case kArcLeft:
          heads[i - 1] = static_cast<std::int32_t>(j);
          trace_left(i, j, stack);
          break;
      }
    }
  }

  void trace_right(std::size_t i, std::size_t j, std::vector<Span>& stack) const {
    if (sibling_ == nullptr) {
      stack.push_back({kBetween, i, j});
      return;
    }
    for (std::size_t k = i + 1; k < j; ++k) {
      const double x = arc_right_[at(i, k)] + (between_[at(k, j)] + right_pair(i, k, j));
      if (x + arc_[at(i, j)] == arc_right_[at(i, j)]) {
        stack.push_back({kArcRight, i, k});
        stack.push_back({kBetween, k, j});
        return;
      }
    }
    stack.push_back({kLeft, i + 1, j});
  }

  void trace_left(std::size_t i, std::size_t j, std::vector<Span>& stack) const {
    if (sibling_ == nullptr) {
      stack.push_back({kBetween, i, j});
      return;
    }
    for (std::size_t k = i + 1; k < j; ++k) {
      const double x = between_[at(i, k)] + (arc_left_[at(k, j)] + left_pair(i, k, j));
      if (x + arc_[at(j, i)] == arc_left_[at(i, j)]) {
        stack.push_back({kBetween, i, k});
        stack.push_back({kArcLeft, k, j});
        return;
      }
    }
    stack.push_back({kRight, i, j - 1});
  }

  const double *arc_, *sibling_;
  std::size_t n_, N_;
  double *right_, *left_, *arc_right_, *arc_left_, *between_;
};

}  // namespace structlearn
