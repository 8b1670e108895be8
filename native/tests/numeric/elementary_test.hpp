// exp, log, log1p and expm1: their errors, their special values, and the same bits on every
// machine.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numeric/elementary.hpp"
#include "numeric/random.hpp"
#include "tests/check.hpp"

namespace test {

// |got - expected| in units of the last place of a double at `expected`.
inline double units(double got, long double expected) {
  int exponent;
  std::frexp(static_cast<double>(expected), &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 53, -1074));
  return static_cast<double>(std::abs(static_cast<long double>(got) - expected)) / unit;
}

struct Elementary {
  const char* name;
  double (*ours)(double);
  long double (*exact)(long double);
  double low, high, most_units;
};

inline void test_elementary() {
  using namespace structlearn;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Elementary functions[] = {
      {"exp", elementary::exp, std::exp, -708.0, 709.7, 1.0},
      {"exp, subnormal", elementary::exp, std::exp, -745.0, -708.0, 1.5},
      {"exp", elementary::exp, std::exp, -1.0, 1.0, 1.0},
      {"log", elementary::log, std::log, 0.0, 2.0, 1.0},
      {"log", elementary::log, std::log, 0.0, 1e-307, 1.0},
      {"log", elementary::log, std::log, 0.0, 1e300, 1.0},
      {"log1p", elementary::log1p, std::log1p, -1.0, 1.0, 3.0},
      {"log1p", elementary::log1p, std::log1p, 0.0, 1e-3, 3.0},
      {"expm1", elementary::expm1, std::expm1, -2.0, 2.0, 3.0},
      {"expm1", elementary::expm1, std::expm1, -50.0, 700.0, 3.0},
  };
  Random random(5, 0);
  std::uint64_t bits = 0;
  for (const Elementary& f : functions) {
    context = f.name;
    for (int i = 0; i < 20000; ++i) {
      const double x = f.low + (f.high - f.low) * random.uniform(), y = f.ours(x);
      bits = (bits ^ std::bit_cast<std::uint64_t>(y)) * 0x9e3779b97f4a7c15U;
      // Where long double is no longer than double there is nothing to compare with.
      if (LDBL_MANT_DIG > 60) CHECK(units(y, f.exact(x)) < f.most_units);
    }
  }
  context = "elementary functions, their bits";
  CHECK(bits == 0xe50e6d7f15a93a61U);

  context = "elementary functions at the ends";
  CHECK(elementary::exp(0.0) == 1.0 && elementary::log(1.0) == 0.0);
  CHECK(elementary::exp(-kInfinity) == 0.0 && elementary::exp(-800.0) == 0.0);
  CHECK(elementary::exp(kInfinity) == kInfinity && elementary::exp(709.8) == kInfinity);
  CHECK(elementary::exp(-745.0) == 5e-324);
  CHECK(elementary::log(0.0) == -kInfinity && elementary::log(kInfinity) == kInfinity);
  CHECK(std::isnan(elementary::log(-1.0)) && std::isnan(elementary::log(nan)));
  CHECK(std::isnan(elementary::exp(nan)) && std::isnan(elementary::expm1(nan)));
  CHECK(elementary::log1p(-1.0) == -kInfinity && elementary::log1p(kInfinity) == kInfinity);
  CHECK(elementary::log1p(1e-300) == 1e-300 && std::isnan(elementary::log1p(-2.0)));
  CHECK(elementary::expm1(-kInfinity) == -1.0 && elementary::expm1(kInfinity) == kInfinity);
  CHECK(elementary::expm1(1e-300) == 1e-300);
}

}  // namespace test
