// Dense symmetric systems that are positive definite up to rounding.
#pragma once

#include <cstddef>
#include <vector>

namespace structlearn {

// The upper half of a symmetric matrix, rows one after another, and its factor M = R'R in place.
// Rows and columns are divided by the roots of the diagonal first, so that nothing depends on the
// units in which they are measured; where rounding has eaten a pivot, a ridge at its level stands
// in.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t n) : n_(n), entry_(n * n, 0.0), unit_(n) {}

  std::size_t size() const { return n_; }
  // Entry (i, j), i <= j; row i from its diagonal on is contiguous.
  double& operator()(std::size_t i, std::size_t j) { return entry_[i * n_ + j]; }
  double* row(std::size_t i) { return entry_.data() + i * n_; }
  void clear() { entry_.assign(n_ * n_, 0.0); }

  // False where there is no factor: an entry is not finite, or no ridge below 1e-6 helps.
  bool factorise();
  // x = M^-1 x.
  void solve(double* x) const;

 private:
  bool try_factor(double ridge);

  std::size_t n_;
  std::vector<double> entry_, unit_;
};

}  // namespace structlearn
