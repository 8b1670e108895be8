// A non-negative number of any size: a double times a power of 2^512. It is exact to the last bits
// of the double, whatever is multiplied with whatever, and needs no logarithm to be added.
#pragma once

#include <cmath>
#include <cstdint>

namespace structlearn {

class Wide {
 public:
  Wide() = default;
  // exp(x); x may be -inf.
  static Wide exp(double x) {
    if (x == -INFINITY) return {};
    x = x < -1e17 ? -1e17 : x;  // not 0: nothing else may be left
    const double digits = std::nearbyint(x / kDigit);
    return normal(std::exp(x - digits * kDigit), static_cast<std::int64_t>(digits));
  }
  static Wide one() { return normal(1.0, 0); }

  bool zero() const { return m_ == 0.0; }
  double log() const { return std::log(m_) + static_cast<double>(e_) * kDigit; }

  Wide operator*(Wide b) const { return normal(m_ * b.m_, e_ + b.e_); }
  // b is not zero.
  Wide operator/(Wide b) const { return normal(m_ / b.m_, e_ - b.e_); }
  Wide operator+(Wide b) const {
    if (zero() || (b.e_ > e_ && !b.zero())) return b.plus(*this);
    return plus(b);
  }
  Wide& operator+=(Wide b) { return *this = *this + b; }

  // As a double, 0 where it is too small for one.
  double value() const {
    if (zero() || e_ < -2) return 0.0;
    return std::ldexp(m_, static_cast<int>(e_) * 512);
  }

 private:
  static constexpr double kDigit = 512 * 0.69314718055994530942;
  static constexpr double kHigh = 0x1p256, kLow = 0x1p-256;

  static Wide normal(double m, std::int64_t e) {
    Wide x;
    if (m == 0.0) return x;
    if (m >= kHigh) {
      m *= 0x1p-512;
      ++e;
    } else if (m < kLow) {
      m *= 0x1p512;
      --e;
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
  std::int64_t e_ = 0;
};

}  // namespace structlearn
