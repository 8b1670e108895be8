#include "learners/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "numeric/kernels.hpp"

namespace structlearn {

bool SymmetricMatrix::factorise() {
  for (std::size_t i = 0; i < n_; ++i) {
    const double d = entry_[i * n_ + i];
    if (!(d > 0.0) || !std::isfinite(d)) return false;
    unit_[i] = 1.0 / std::sqrt(d);
  }
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = i; j < n_; ++j) entry_[i * n_ + j] *= unit_[i] * unit_[j];
  }
  const std::vector<double> kept = entry_;
  for (double ridge = 0.0; ridge < 1e-6; ridge = ridge == 0.0 ? 1e-15 : 10.0 * ridge) {
    if (ridge > 0.0) entry_ = kept;
    if (try_factor(ridge)) return true;
  }
  return false;
}

// Right-looking, a panel of rows at a time: what is left of a row takes all of a panel at once.
bool SymmetricMatrix::try_factor(double ridge) {
  constexpr std::size_t kPanel = 48;
  // A pivot this small, of a matrix with ones on the diagonal, is rounding.
  const double least = 1e-16 * static_cast<double>(n_ + 10);
  const auto subtract = kernels().outer_sum;
  std::vector<double> sum(n_);
  for (std::size_t i = 0; i < n_; ++i) entry_[i * n_ + i] += ridge;
  for (std::size_t begin = 0; begin < n_; begin += kPanel) {
    const std::size_t end = std::min(n_, begin + kPanel);
    for (std::size_t i = begin; i < n_; ++i) {
      double* row = entry_.data() + i * n_;
      const std::size_t above = std::min(i, end) - begin;
      if (above > 0) {
        const double* panel = entry_.data() + begin * n_ + i;
        subtract(panel, panel, above, n_, sum.data(), 1, 1, n_ - i);
        for (std::size_t j = i; j < n_; ++j) row[j] -= sum[j - i];
      }
      if (i >= end) continue;
      if (!(row[i] > least)) return false;
      const double scale = 1.0 / std::sqrt(row[i]);
      for (std::size_t j = i; j < n_; ++j) row[j] *= scale;
    }
  }
  return true;
}

void SymmetricMatrix::solve(double* x) const {
  const auto add = kernels().add_scaled;
  for (std::size_t i = 0; i < n_; ++i) x[i] *= unit_[i];
  for (std::size_t i = 0; i < n_; ++i) {  // R'z = x
    const double* row = entry_.data() + i * n_;
    x[i] /= row[i];
    add(-x[i], row + i + 1, x + i + 1, n_ - i - 1);
  }
  for (std::size_t i = n_; i-- > 0;) {
    const double* row = entry_.data() + i * n_;
    double sum = x[i];
    for (std::size_t j = i + 1; j < n_; ++j) sum -= row[j] * x[j];
    x[i] = sum / row[i];
  }
  for (std::size_t i = 0; i < n_; ++i) x[i] *= unit_[i];
}

}  // namespace structlearn
