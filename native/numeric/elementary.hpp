// exp, log, log1p and expm1 with the same bits on every machine.
//
// The C library's differ between systems, and between processors of one system: glibc has a variant
// for processors that fuse multiplications with additions. These use additions, multiplications and
// divisions alone, each of which IEEE 754 defines to the last bit, and the library is built without
// contraction. Errors are below one unit in the last place for exp and log, below three for log1p
// and expm1 (native/tests/numeric/elementary_test.hpp).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace structlearn::elementary {

// 2^(i/32): the nearest double, and what is missing.
struct Power {
  double value, missing;
};
inline constexpr Power kPowers[32] = {
    {0x1p+0, 0.0},
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55},
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54},
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54},
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55},
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54},
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54},
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55},
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55},
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54},
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55},
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59},
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56},
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55},
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54},
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54},
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54},
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55},
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55},
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54},
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54},
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57},
    {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56},
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54},
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54},
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56},
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55},
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56},
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55},
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54},
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54},
    {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54},
};

// 2^e for -1022 <= e <= 1023.
inline double power_of_two(std::int64_t e) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

// x = (32 m + i) ln 2 / 32 + r with |r| <= ln 2 / 64, so that exp(x) = 2^m 2^(i/32) exp(r), and a
// Taylor polynomial for exp(r) (P. T. P. Tang, ACM TOMS 15(2), 1989).
inline double exp(double x) {
  if (!(x <= 0x1.62e42fefa39efp+9)) return x + std::numeric_limits<double>::infinity();  // or NaN
  if (x < -746.0) return 0.0;
  constexpr double kPerStep = 0x1.71547652b82fep+5;  // 32 / ln 2
  // ln 2 / 32 in two pieces: the product of the first and a whole number of 16 bits is exact.
  constexpr double kStep = 0x1.62e42fefa0000p-6, kStepMissing = 0x1.cf79abc9e3b3ap-45;
  constexpr double kRound = 0x1.8p+52;
  const double n = (x * kPerStep + kRound) - kRound;
  const double r = (x - n * kStep) - n * kStepMissing, r2 = r * r;
  const double p = r + r2 * ((0.5 + r * (1.0 / 6.0)) +
                             r2 * ((1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0)));
  const auto whole = static_cast<std::int64_t>(n), m = whole >> 5;
  const Power power = kPowers[whole & 31];
  const double y = power.value + (power.missing + power.value * p);
  if (m >= -1021 && m <= 1023) return y * power_of_two(m);
  return m > 0 ? y * 2.0 * power_of_two(m - 1) : y * power_of_two(m + 1000) * 0x1p-1000;
}

// x = 2^k z with z between the roots of 1/2 and 2, and log z = 2 artanh(s), s = (z - 1) / (z + 1),
// by its series.
inline double log(double x) {
  constexpr double kLog2 = 0x1.62e42fefa3000p-1, kLog2Missing = 0x1.3de6af278ece6p-42;
  if (!(x > 0.0)) {
    return x == 0.0 ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
  }
  if (!(x <= std::numeric_limits<double>::max())) return x;  // infinity
  std::int64_t k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  // The bits from the root of 1/2 to that of 2 have one exponent after this shift.
  constexpr std::uint64_t kRootOfHalf = std::bit_cast<std::uint64_t>(0x1.6a09e667f3bcdp-1);
  const auto bits = std::bit_cast<std::uint64_t>(x) - kRootOfHalf;
  k += static_cast<std::int64_t>(bits) >> 52;
  const double z = std::bit_cast<double>((bits & 0xfffffffffffffU) + kRootOfHalf);
  const double f = z - 1.0, s = f / (2.0 + f), q = s * s, q2 = q * q, q4 = q2 * q2;
  // 2 artanh(s) = f - f^2/2 + s (f^2/2 + series), in which the largest terms are exact
  const double series = q * ((2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9)) +
                             q4 * ((2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17)) +
                                   q4 * (2.0 / 19 + q * (2.0 / 21))));
  const double half = 0.5 * f * f, exponent = static_cast<double>(k);
  return exponent * kLog2 - ((half - (s * (half + series) + exponent * kLog2Missing)) - f);
}

// log(1 + x), by the logarithm of the rounded sum and the share of x that it has kept (W. Kahan).
inline double log1p(double x) {
  const double sum = 1.0 + x;
  if (sum == 1.0 || !(sum <= std::numeric_limits<double>::max())) return x;
  return sum == 0.0 ? -std::numeric_limits<double>::infinity() : log(sum) * (x / (sum - 1.0));
}

// exp(x) - 1, by the same means.
inline double expm1(double x) {
  const double power = exp(x);
  if (power == 1.0) return x;
  const double rest = power - 1.0;
  if (rest == -1.0 || !(rest <= std::numeric_limits<double>::max())) return rest;
  return rest * (x / log(power));
}

}  // namespace structlearn::elementary
