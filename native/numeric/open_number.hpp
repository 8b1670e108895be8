// A sum of exponentials x = sum_i exp(s_i / eps), and how open it is which term one draws: the
// entropy of the shares of its terms, log x + eps d log x / d eps. That is 0 for one term, adds up
// over factors, and over terms needs their shares alone: large scores cost it no digits. It may be
// negative in between: of x / y it is the difference.
#pragma once

#include <cmath>
#include <cstddef>

#include "numeric/elementary.hpp"
#include "numeric/sum_numbers.hpp"
#include "numeric/wide.hpp"

namespace structlearn {

class Open {
 public:
  Open() = default;
  Open(Wide x, double open) : x_(x), open_(open) {}
  static Open one() { return {Wide::one(), 0.0}; }
  static Open exp_ratio(double x, double eps) { return {Wide::exp_ratio(x, eps), 0.0}; }
  static Open exp_difference(double x, double y) { return {Wide::exp_difference(x, y), 0.0}; }

  bool zero() const { return x_.zero(); }
  double open() const { return open_; }

  Open operator*(const Open& b) const { return {x_ * b.x_, open_ + b.open_}; }
  Open operator/(const Open& b) const { return {x_ / b.x_, open_ - b.open_}; }
  Open operator+(const Open& b) const {
    if (b.zero()) return *this;
    if (zero()) return b;
    const Wide ratio = b.x_ / x_;
    const double r = ratio.value();
    if (r > 1.0) return b + *this;
    Open sum{x_ + b.x_, open_};
    if (r > 0.0)
      sum.open_ += elementary::log1p(r) + r / (1.0 + r) * (b.open_ - open_ - ratio.log());
    return sum;
  }
  Open& operator+=(const Open& b) { return *this = *this + b; }

 private:
  Wide x_;
  double open_ = 0.0;
};

inline Open exponential(double x, Open) {
  return {Wide::exp(x), 0.0};
}
inline bool is_zero(const Open& x) {
  return x.zero();
}
inline bool too_small(const Open&) {
  return false;
}
// What adds up over factors.
inline double log_of(const Open& x) {
  return x.open();
}

}  // namespace structlearn
