// Dual points on the tiny tagging problem: two solvers, one optimum, and points that stay feasible.
#pragma once

#include <string>
#include <vector>

#include "learners/frank_wolfe.hpp"
#include "learners/restricted_qp.hpp"
#include "tests/check.hpp"
#include "tests/problem/problem_test.hpp"

namespace test {

inline void check_dual_point(const WorkingSets& sets, const std::vector<double>& w) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    double sum = sets.set(i).rest;
    CHECK(sum >= 0.0);
    for (const double a : sets.set(i).alpha) {
      CHECK(a >= 0.0);
      sum += a;
    }
    CHECK_NEAR(sum, 1.0, 1e-12);
  }
  std::vector<double> again(w.size());
  sets.weights(again.data());
  for (std::size_t j = 0; j < w.size(); ++j) CHECK_NEAR(w[j], again[j], 1e-10);
}

inline double primal(const WorkingSets& sets, const std::vector<double>& w, const Survey& seen) {
  double sum = 0.0;
  for (const double x : w) sum += 0.5 * x * x;
  for (std::size_t i = 0; i < sets.size(); ++i) sum += sets.scale(i) * seen.loss[i];
  return sum;
}

inline void test_working_sets() {
  Tagging data;
  const Problem problem = data.problem(data.hamming());
  Interrupt interrupt;
  double optimum = 0.0;
  {
    context = "cutting planes";
    WorkingSets sets(problem, 0.7, 1.0, 0);
    std::vector<double> w(Tagging::weights, 0.0);
    for (int round = 0; round < 50; ++round) {
      const Survey seen = sets.survey(w.data(), 1e-9, true, 2, interrupt);
      CHECK(seen.complete);
      optimum = sets.dual(w.data());
      if (primal(sets, w, seen) - optimum < 1e-8) break;
      const RestrictedReport report =
          solve_restricted(sets, w.data(), {1e-10}, 1000, {}, interrupt);
      CHECK(report.solved);
      CHECK(report.gap <= 1e-10);
      check_dual_point(sets, w);
    }
  }
  // Few places for outputs: some must go, some become one.
  for (const std::size_t most : {std::size_t{2}, std::size_t{50}}) {
    context = "frank-wolfe, at most " + std::to_string(most);
    WorkingSets sets(problem, 0.7, 1.0, most);
    std::vector<double> w(Tagging::weights, 0.0), gap(sets.size(), 1.0);
    std::uint64_t random = 5;
    double last = -1.0;
    for (int pass = 0; pass < 400; ++pass) {
      const auto order = gap_sampled_order(gap, pass == 0 ? 1.0 : 0.2, random);
      frank_wolfe_pass(sets, order, FrankWolfeSettings{}, w, gap, interrupt);
      const double dual = sets.dual(w.data());
      CHECK(dual >= last - 1e-12);
      CHECK(dual <= optimum + 1e-7);
      last = dual;
    }
    check_dual_point(sets, w);
    const Survey seen = sets.survey(w.data(), 0.0, true, 2, interrupt);
    double total = 0.0;
    for (const double g : seen.gap) total += g;
    CHECK_NEAR(total, primal(sets, w, seen) - last, 1e-9);
    CHECK_NEAR(last, optimum, most == 2 ? 1e-1 : 1e-3);
    for (std::size_t i = 0; i < sets.size(); ++i) CHECK(sets.set(i).atoms.size() <= most);
  }
}

}  // namespace test
