// Linear inequalities that keep weights in a cone: <b_r, w> >= 0 for rows b_r no two of which share
// a weight, so that the nearest point of the cone is found row by row.
//
// In the dual the inequalities have multipliers l_r >= 0, and w = u + sum_r l_r b_r, u being the
// pull of the examples: the best multipliers make w the nearest point of the cone to u.
//
// Rows of several weights keep a small margin, a share kInside of their terms, so that sums of rows
// which are zero do not become negative by rounding: readers that require submodular scores would
// see a violation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace structlearn {

class WeightCone {
 public:
  static constexpr double kInside = 1e-12;

  // Row r has the weights index[ptr[r]..ptr[r + 1]] with these coefficients.
  WeightCone(std::vector<std::int64_t> ptr, std::vector<std::int64_t> index,
             std::vector<double> value)
      : ptr_(std::move(ptr)), index_(std::move(index)), value_(std::move(value)) {
    for (std::size_t r = 0; r < rows(); ++r) {
      double square = 0.0;
      for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) square += value_[k] * value_[k];
      square_.push_back(square);
    }
  }

  std::size_t rows() const { return ptr_.size() - 1; }

  // Whether every row bounds a single weight, whose sign is then fixed. The nearest point is the
  // same in every norm that takes weights one by one.
  bool bounds() const { return index_.size() == rows(); }

  double product(std::size_t r, const double* w) const {
    double sum = 0.0;
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) sum += value_[k] * w[index_[k]];
    return sum;
  }

  // The required margin of the row.
  double breadth(std::size_t r, const double* w) const {
    if (ptr_[r + 1] - ptr_[r] == 1) return 0.0;
    double sum = 0.0;
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) {
      sum += std::fabs(value_[k] * w[index_[k]]);
    }
    return kInside * sum;
  }

  // Calls entry(weight, coefficient) for all of a row.
  template <class Entry>
  void each(std::size_t r, Entry&& entry) const {
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) {
      entry(static_cast<std::size_t>(index_[k]), value_[k]);
    }
  }

  // w += a b_r.
  void add(std::size_t r, double a, double* w) const {
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) w[index_[k]] += a * value_[k];
  }

  // Calls moved(weight, amount) for every weight that must move to the nearest point of the cone.
  template <class Moved>
  void project(double* w, Moved&& moved) const {
    for (std::size_t r = 0; r < rows(); ++r) {
      const double found = product(r, w), wanted = breadth(r, w);
      if (!(found < 0.5 * wanted || found < 0.0)) continue;
      const double a = (wanted - found) / square_[r];
      for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) {
        w[index_[k]] += a * value_[k];
        moved(static_cast<std::size_t>(index_[k]), a * value_[k]);
      }
    }
  }
  void project(double* w) const {
    project(w, [](std::size_t, double) {});
  }

  // Sets the best multipliers for the pull of the examples, and w accordingly.
  void settle(double* w, double* multiplier) const {
    for (std::size_t r = 0; r < rows(); ++r) {
      const double found = product(r, w), wanted = breadth(r, w);
      if (multiplier[r] == 0.0 && found >= 0.5 * wanted) continue;
      const double step = -std::min((found - wanted) / square_[r], multiplier[r]);
      if (step == 0.0) continue;
      add(r, step, w);
      multiplier[r] = step < 0.0 && -step == multiplier[r] ? 0.0 : multiplier[r] + step;
    }
  }

  // w += sum_r l_r b_r.
  void shift(double* w, const double* multiplier) const {
    for (std::size_t r = 0; r < rows(); ++r) {
      if (multiplier[r] != 0.0) add(r, multiplier[r], w);
    }
  }

 private:
  std::vector<std::int64_t> ptr_, index_;
  std::vector<double> value_, square_;
};

// A cone with its multipliers, or none: the extra state of dual solvers.
struct ConePoint {
  const WeightCone* cone = nullptr;
  double* multiplier = nullptr;

  void settle(double* w) const {
    if (cone != nullptr) cone->settle(w, multiplier);
  }
  void shift(double* w) const {
    if (cone != nullptr) cone->shift(w, multiplier);
  }
};

}  // namespace structlearn
