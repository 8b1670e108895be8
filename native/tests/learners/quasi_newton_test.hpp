// The vector work of L-BFGS: a quadratic is minimised, and threads change no bit.
#pragma once

#include <cmath>
#include <vector>

#include "learners/quasi_newton.hpp"
#include "tests/check.hpp"

namespace test {

inline void test_quasi_newton() {
  using namespace structlearn;
  for (const std::size_t n : {std::size_t{1}, std::size_t{1023}, std::size_t{40000}}) {
    std::vector<std::vector<double>> ends;
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
      // 1/2 |w|^2 + 1/2 sum of h_i (w_i - 1)^2: the optimum is h / (1 + h).
      const auto h = [](std::size_t i) { return 1.0 + static_cast<double>(i % 7); };
      CurvatureMemory memory(n, 5);
      std::vector<double> w(n, 0.0), g(n), d(n, 0.0), next(n), next_g(n);
      const auto evaluate = [&](const std::vector<double>& at, std::vector<double>& slope) {
        for (std::size_t i = 0; i < n; ++i) slope[i] = h(i) * (at[i] - 1.0);
        return finish_gradient(at.data(), d.data(), 1.0, n, slope.data(), threads);
      };
      SmoothPoint point = evaluate(w, g);
      for (int iteration = 0; iteration < 60 && point.squared_gradient > 1e-18; ++iteration) {
        const double slope = memory.direction(g.data(), d.data(), false, threads);
        CHECK(slope < 0.0);
        // An exact line search, from two slopes.
        advance(w.data(), d.data(), 1.0, n, next.data(), threads);
        const double far = evaluate(next, next_g).slope;
        advance(w.data(), d.data(), slope / (slope - far), n, next.data(), threads);
        point = evaluate(next, next_g);
        CHECK(memory.remember(next.data(), w.data(), next_g.data(), g.data(), next_g.data(),
                              threads) ||
              point.squared_gradient < 1e-18);
        w.swap(next);
        g.swap(next_g);
      }
      CHECK(memory.pairs() <= 5);
      for (std::size_t i = 0; i < n; i += 11) CHECK_NEAR(w[i], h(i) / (1.0 + h(i)), 1e-8);
      ends.push_back(w);
    }
    CHECK(ends[0] == ends[1]);
  }
}

inline void test_orthants() {
  using namespace structlearn;
  const std::vector<double> w = {1.0, -1.0, 0.0, 0.0, 0.0, 2.0};
  const std::vector<double> d = {-2.0, -1.0, 1.0, -1.0, 1.0, 1.0};
  const std::vector<double> v = {1.0, 1.0, -1.0, -1.0, 0.0, -1.0};
  std::vector<double> out(w.size());
  advance_in_orthant(w.data(), d.data(), v.data(), 1.0, w.size(), out.data(), 2);
  CHECK((out == std::vector<double>{0.0, -2.0, 1.0, 0.0, 0.0, 3.0}));
  // No losses at all: the pseudo-gradient is w + l1 sign(w), the gap the objective itself.
  std::vector<double> g(w.size(), 0.0), pseudo(w.size());
  const SparsePoint point = finish_pseudo_gradient(w.data(), w.data(), v.data(), 1.0, 0.5, w.size(),
                                                   g.data(), pseudo.data(), 2);
  CHECK((pseudo == std::vector<double>{1.5, -1.5, 0.0, 0.0, 0.0, 2.5}));
  CHECK_NEAR(point.gap, 0.5 * 6.0 + 0.5 * 4.0, 1e-12);
  CHECK_NEAR(point.absolute_weights, 4.0, 1e-12);
  CHECK_NEAR(point.decrease, 0.0, 1e-12);
}

}  // namespace test
