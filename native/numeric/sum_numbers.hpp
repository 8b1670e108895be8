// What sums over trees are worked out in: doubles, vectorised, as long as nothing gets too small
// for them, and else wide numbers. The same loops are compiled for both.
#pragma once

#include <cmath>
#include <cstddef>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/wide.hpp"

namespace structlearn {

inline double exponential(double x, double) {
  return elementary::exp(x);
}
inline Wide exponential(double x, Wide) {
  return Wide::exp(x);
}
inline bool is_zero(double x) {
  return x == 0.0;
}
inline bool is_zero(Wide x) {
  return x.zero();
}
inline double log_of(double x) {
  return elementary::log(x);
}
inline double log_of(Wide x) {
  return x.log();
}
inline double as_double(double x) {
  return x;
}
inline double as_double(Wide x) {
  return x.value();
}
template <class T>
T one() {
  if constexpr (std::is_same_v<T, double>) {
    return 1.0;
  } else {
    return T::one();
  }
}

// Below this a double has lost, or will lose, what a sum needs.
inline constexpr double kLeast = 1e-200;
inline bool too_small(double x) {
  return !(x > kLeast) || !(x < 1e200);
}
inline bool too_small(Wide) {
  return false;
}

// y[i] += a x[i]
inline void add_times(double a, const double* x, double* y, std::size_t n) {
  kernels().add_scaled(a, x, y, n);
}
template <class T>
void add_times(const T& a, const T* x, T* y, std::size_t n) {
  if (is_zero(a)) return;
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// <x, y>; four sums side by side for doubles, always the same four.
inline double inner_product(const double* x, const double* y, std::size_t n) {
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) s[j] += x[i + j] * y[i + j];
  }
  for (; i < n; ++i) s[0] += x[i] * y[i];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
template <class T>
T inner_product(const T* x, const T* y, std::size_t n) {
  T s{};
  for (std::size_t i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}

template <class T>
T sum_of(const T* x, std::size_t n) {
  T s{};
  for (std::size_t i = 0; i < n; ++i) s += x[i];
  return s;
}

}  // namespace structlearn
