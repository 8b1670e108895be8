// The probability that a part is right, from its marginal probability.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "numeric/elementary.hpp"

namespace structlearn {

// confidence = sigma(a log p - b log(1 - p) + c), at most `highest` and at least 1 - highest;
// without a curve p itself. As `Calibration` in Python has fitted it.
struct Confidence {
  Confidence() = default;
  // (highest), or (highest, a, b, c), or nothing: the probability itself.
  explicit Confidence(const std::vector<double>& given) {
    if (given.size() != 0 && given.size() != 1 && given.size() != 4) {
      throw std::invalid_argument("a curve of confidence has three numbers and a bound");
    }
    if (!given.empty()) highest = given[0];
    curved = given.size() == 4;
    if (curved) a = given[1], b = given[2], c = given[3];
  }

  double operator()(double p) const {
    if (curved) {
      const double q = std::clamp(p, kEdge, 1.0 - kEdge);
      const double z = a * elementary::log(q) - b * elementary::log1p(-q) + c,
                   e = elementary::exp(-std::abs(z));
      p = z >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
    }
    return std::max(1.0 - highest, std::min(p, highest));
  }

  static constexpr double kEdge = 1e-7;  // keeps logarithms finite
  bool curved = false;
  double a = 1.0, b = 1.0, c = 0.0, highest = 1.0;
};

}  // namespace structlearn
