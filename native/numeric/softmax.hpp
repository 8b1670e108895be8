// The row-wise softmax and a draw from it, shared by every structure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/random.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// A sum of weights below this may have lost some of them.
inline constexpr double kTooSmall = 1e-250;

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
  return top + eps * elementary::log(sum);
}

// eps log sum exp(x(i) / eps) over i < n, eps > 0.
template <class Term>
double log_sum(std::size_t n, double eps, Term&& x) {
  double top = kMinusInfinity;
  for (std::size_t i = 0; i < n; ++i) top = std::max(top, x(i));
  if (top == kMinusInfinity) return top;
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += elementary::exp((x(i) - top) / eps);
  return top + eps * elementary::log(sum);
}

// eps log (exp(a / eps) + exp(b / eps)), eps > 0.
inline double log_add(double a, double b, double eps) {
  const double top = std::max(a, b), low = std::min(a, b);
  return low == kMinusInfinity ? top
                               : top + eps * elementary::log1p(elementary::exp((low - top) / eps));
}

// Calls f(i, share) for i < n, where share is that of exp(x(i) / eps) in their sum. However large
// the scores are, the shares add up to 1.
template <class Term, class F>
void for_shares(std::size_t n, double eps, Term&& x, F&& f) {
  double top = kMinusInfinity, sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) top = std::max(top, x(i));
  if (top == kMinusInfinity) return;
  for (std::size_t i = 0; i < n; ++i) sum += elementary::exp((x(i) - top) / eps);
  for (std::size_t i = 0; i < n; ++i) f(i, elementary::exp((x(i) - top) / eps) / sum);
}

// The scores p become softmax(p / eps), whose entropy is added up from terms that are not negative;
// returns eps log sum exp(p / eps), or -inf with p = 0 and no entropy.
inline double softmax_with_entropy(double* p, std::size_t n, double eps, double* entropy) {
  const std::size_t best = first_max(p, n);
  const double top = p[best];
  *entropy = 0.0;
  if (top == kMinusInfinity) {
    std::fill(p, p + n, 0.0);
    return top;
  }
  double total = 0.0, rest = 0.0, mean = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double lag = (top - p[k]) / eps;
    total += p[k] = elementary::exp(-lag);
    if (p[k] > 0.0) mean += p[k] * lag;
    if (k != best) rest += p[k];
  }
  for (std::size_t k = 0; k < n; ++k) p[k] /= total;
  *entropy = elementary::log1p(rest) + mean / total;
  return top + eps * elementary::log(total);
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

// An index below n drawn in proportion to exp(x(i) / eps); `w` has room for n numbers.
template <class Term>
std::size_t draw_softmax(std::size_t n, double eps, double* w, Random& random, Term&& x) {
  double top = kMinusInfinity;
  for (std::size_t i = 0; i < n; ++i) top = std::max(top, w[i] = x(i));
  for (std::size_t i = 0; i < n; ++i) w[i] = elementary::exp((w[i] - top) / eps);
  return draw(w, n, 1, random);
}

}  // namespace structlearn
