// The row-wise softmax and a draw from it, shared by every structure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/kernels.hpp"
#include "numeric/random.hpp"
#include "structures/structure.hpp"

namespace structlearn {

inline double max_value(const double* x, std::size_t n) {
  double best = kMinusInfinity;
  for (std::size_t i = 0; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

inline std::size_t first_max(const double* x, std::size_t n) {
  return static_cast<std::size_t>(std::max_element(x, x + n) - x);
}

// p = softmax(x / eps); returns eps log sum exp(x / eps), or -inf with p = 0.
inline double softmax(const double* x, std::size_t n, double eps, double* p) {
  const double top = max_value(x, n);
  if (top == kMinusInfinity) {
    std::fill(p, p + n, 0.0);
    return top;
  }
  kernels().exp_shifted(x, n, top, 1.0 / eps, p);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += p[i];
  for (std::size_t i = 0; i < n; ++i) p[i] /= sum;
  return top + eps * std::log(sum);
}

// An index drawn in proportion to weights w >= 0, not all zero; never one of weight zero.
inline std::size_t draw(const double* w, std::size_t n, std::size_t stride, Random& random) {
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += w[i * stride];
  double left = random.uniform() * total;
  std::size_t last = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = w[i * stride];
    if (x <= 0.0) continue;
    last = i;
    if (left < x) return i;
    left -= x;
  }
  return last;
}

}  // namespace structlearn
