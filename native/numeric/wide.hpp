// A non-negative number of any size: a double times a power of 2^512. It is exact to the last bits
// of the double, whatever is multiplied with whatever, and needs no logarithm to be added. The
// power is a double as well: beyond 2^53 it is rounded, as the logarithm of such a number would be.
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"

namespace structlearn {

class Wide {
 public:
  Wide() = default;
  // exp(x); x may be -inf.
  static Wide exp(double x) {
    if (x == -INFINITY) return {};
    const double digits = std::nearbyint(x / kDigit);
    // What is left is less than a digit, but for rounding.
    return normal(elementary::exp(std::clamp(x - digits * kDigit, -kDigit, kDigit)), digits);
  }
  // exp(x / eps), as exact as x is: where sums of numbers are equal, so are these products, but for
  // the last bits of a double, however large the numbers are.
  static Wide exp_ratio(double x, double eps) {
    const double q = x / eps;
    if (!(std::abs(q) < 1e300)) return exp(q);
    const double rest = std::fma(-q, eps, x) / eps;
    const double digits = std::nearbyint(q / kDigit);
    return normal(elementary::exp(std::fma(-digits, kDigit, q) + rest), digits);
  }
  // exp(x - y) for numbers whose difference is too large to have digits after the point. They are
  // rounded each by itself, to fewer digits than a double has: sums of such differences are exact,
  // and those that are equal stay equal.
  static Wide exp_difference(double x, double y) {
    return normal(1.0, rounded_digits(x) - rounded_digits(y));
  }
  static Wide one() { return normal(1.0, 0); }

  bool zero() const { return m_ == 0.0; }
  double log() const { return elementary::log(m_) + e_ * kDigit; }

  Wide operator*(Wide b) const { return normal(m_ * b.m_, e_ + b.e_); }
  // b is not zero.
  Wide operator/(Wide b) const { return normal(m_ / b.m_, e_ - b.e_); }
  Wide operator+(Wide b) const {
    if (zero() || (b.e_ > e_ && !b.zero())) return b.plus(*this);
    return plus(b);
  }
  Wide& operator+=(Wide b) { return *this = *this + b; }

  // As a double, 0 where it is too small for one and infinity where it is too large.
  double value() const {
    if (zero() || e_ < -2) return 0.0;
    if (e_ > 2) return INFINITY;
    return std::ldexp(m_, static_cast<int>(e_) * 512);
  }

 private:
  static constexpr double kDigit = 512 * 0.69314718055994530942;
  static constexpr double kHigh = 0x1p256, kLow = 0x1p-256;

  // x as a power of 2^512, of 44 binary digits.
  static double rounded_digits(double x) {
    int exponent;
    const double digits = std::frexp(x / kDigit, &exponent);
    return std::nearbyint(std::ldexp(std::nearbyint(std::ldexp(digits, 44)), exponent - 44));
  }
  static Wide normal(double m, double e) {
    Wide x;
    if (m == 0.0) return x;
    if (m >= kHigh) {
      m *= 0x1p-512;
      e += 1.0;
    } else if (m < kLow) {
      m *= 0x1p512;
      e -= 1.0;
    }
    x.m_ = m;
    x.e_ = e;
    return x;
  }
  // b is not larger in its power.
  Wide plus(Wide b) const {
    if (b.zero() || e_ - b.e_ > 1) return *this;
    return normal(m_ + (e_ == b.e_ ? b.m_ : b.m_ * 0x1p-512), e_);
  }

  double m_ = 0.0;
  double e_ = 0.0;
};

}  // namespace structlearn
