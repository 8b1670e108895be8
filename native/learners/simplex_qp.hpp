// Quadratic programs over a simplex: max_a b'a - 1/2 a'Ga, a >= 0, sum a <= 1. What is missing to 1
// belongs to a vertex of its own, the origin, whose gradient is a constant.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace structlearn {

// A symmetric matrix that grows by a row at a time and is never rebuilt: rows of the lower half
// one after another.
class Gram {
 public:
  std::size_t size() const { return size_; }
  double operator()(std::size_t a, std::size_t b) const {
    return a >= b ? entry_[a * (a + 1) / 2 + b] : entry_[b * (b + 1) / 2 + a];
  }
  // The products of the a-th vector with those before it and itself.
  std::span<const double> row(std::size_t a) const {
    return {entry_.data() + a * (a + 1) / 2, a + 1};
  }
  // Adds the products of a new vector with the old ones, and with itself last.
  void grow(std::span<const double> row);
  // Keeps the rows and columns marked with a non-zero byte.
  void keep(std::span<const unsigned char> kept);

 private:
  std::vector<double> entry_;
  std::size_t size_ = 0;
};

// Where a program over the simplex stands: gradients of the vertices, the last of them the origin.
struct SimplexPoint {
  std::span<double> alpha;     // >= 0
  double* rest;                // 1 - sum alpha
  std::span<double> gradient;  // b - G alpha
  double origin = 0.0;         // the origin's gradient

  double best() const;    // the largest gradient
  double mean() const;    // <alpha, gradient>, the origin's share included
  double spread() const;  // the largest minus the smallest among vertices in use
};

// Moves weight from a vertex in use to the best one, exactly, until the spread of the gradients is
// at most `tolerance`; G is multiplied by `scale`. At most `most` moves; returns their number.
std::size_t pairwise_steps(const Gram& gram, double scale, SimplexPoint& point, double tolerance,
                           std::size_t most);

// The same to the last digits: pairwise moves until the vertices in use stay the same, then the
// linear system that makes their gradients equal. Returns the spread that is left.
double solve_simplex(const Gram& gram, std::span<const double> b, SimplexPoint& point,
                     double tolerance, std::size_t most_rounds);

}  // namespace structlearn
