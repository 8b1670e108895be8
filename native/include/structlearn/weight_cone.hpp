// Weights that linear inequalities keep in a cone: <b_r, w> >= 0 for rows b_r no two of which share
// a weight, so that the nearest point of the cone is found row by row.
//
// In the dual the inequalities have multipliers l_r >= 0, and w = u + sum_r l_r b_r, u being what
// the examples pull: the best multipliers make w the nearest point of the cone to u.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace structlearn {

class WeightCone {
 public:
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

  double product(std::size_t r, const double* w) const {
    double sum = 0.0;
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) sum += value_[k] * w[index_[k]];
    return sum;
  }

  // w += a b_r.
  void add(std::size_t r, double a, double* w) const {
    for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) w[index_[k]] += a * value_[k];
  }

  // Calls moved(weight, by how much) for all that has to move to the nearest point of the cone.
  template <class Moved>
  void project(double* w, Moved&& moved) const {
    for (std::size_t r = 0; r < rows(); ++r) {
      const double outside = product(r, w);
      if (!(outside < 0.0)) continue;
      const double a = -outside / square_[r];
      for (std::int64_t k = ptr_[r]; k < ptr_[r + 1]; ++k) {
        w[index_[k]] += a * value_[k];
        moved(static_cast<std::size_t>(index_[k]), a * value_[k]);
      }
    }
  }
  void project(double* w) const {
    project(w, [](std::size_t, double) {});
  }

  // The best multipliers for what the examples pull; w follows.
  void settle(double* w, double* multiplier) const {
    for (std::size_t r = 0; r < rows(); ++r) {
      const double inside = product(r, w) / square_[r];
      const double step = -std::min(inside, multiplier[r]);
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

// A cone with its multipliers, or none at all: what dual solvers carry along.
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
