// Online learning on the tiny tagging problem, interruption, and threads.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "learners/online.hpp"
#include "numeric/team.hpp"
#include "tests/check.hpp"
#include "tests/problem/problem_test.hpp"

namespace test {

// The lazy average equals the average of the weights written down after every step.
inline void test_online() {
  Tagging data;
  const Problem problem = data.problem(data.hamming());
  for (const Step step : {Step::kUnit, Step::kConstant, Step::kDecaying, Step::kPassiveAggressive,
                          Step::kPassiveAggressiveSquared, Step::kAdaGrad, Step::kArow}) {
    context = "online, step " + std::to_string(static_cast<int>(step));
    OnlineSettings settings;
    settings.step = step;
    settings.margin = step == Step::kUnit ? 0.0 : 1.0;
    settings.C = 0.7;
    std::vector<double> v(Tagging::weights, 0.0), behind = v, sum = v;
    std::vector<double> v2 = v, behind2 = v, squares = v, squares2 = v;
    OnlineState<double> state, whole;
    state.v = v;
    state.behind = behind;
    state.squares = squares;
    whole.squares = squares2;
    whole.v = v2;
    whole.behind = behind2;
    Interrupt interrupt;
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < Tagging::N; ++i) order.push_back(static_cast<std::int64_t>(i));
    double count = 0.0, total = 0.0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const std::int64_t i : order) {
        const EpochReport one = online_epoch(problem, {&i, 1}, settings, state, interrupt);
        CHECK(one.seen == 1 && one.complete);
        count += 1.0;
        const double share = step == Step::kDecaying ? count : 1.0;
        total += share;
        for (std::size_t j = 0; j < v.size(); ++j) sum[j] += share * state.scale * v[j];
      }
      const EpochReport report = online_epoch(problem, order, settings, whole, interrupt);
      CHECK(report.seen == Tagging::N);
    }
    // AdaGrad's regulariser waits for the end of a pass, here after each example: rounding only.
    for (std::size_t j = 0; j < v.size(); ++j) CHECK_NEAR(v[j], v2[j], 1e-12);
    if (step != Step::kAdaGrad) CHECK(v == v2);
    CHECK_NEAR(state.total, total, 1e-9);
    for (std::size_t j = 0; j < v.size(); ++j) {
      CHECK_NEAR((state.ahead * v[j] + behind[j]) / state.total, sum[j] / total, 1e-10);
    }
  }

  context = "perceptron on separable data";
  std::vector<double> v(Tagging::weights, 0.0);
  OnlineState<double> state;
  state.v = v;
  Interrupt interrupt;
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < Tagging::N; ++i) order.push_back(static_cast<std::int64_t>(i));
  OnlineSettings settings;
  settings.average = false;
  std::size_t updates = 1;
  for (int epoch = 0; epoch < 500 && updates > 0; ++epoch) {
    updates = online_epoch(problem, order, settings, state, interrupt).updates;
  }
  CHECK(updates == 0);
  bool complete = false;
  CHECK_NEAR(problem.total(v.data(), 0.0, 0.0, nullptr, 2, interrupt, &complete), 0.0, 1e-12);

  for (const UpdateAt at : {UpdateAt::kEarly, UpdateAt::kMaxViolation}) {
    context = "beam, update at " + std::to_string(static_cast<int>(at));
    std::fill(v.begin(), v.end(), 0.0);
    settings.beam = {1, at};
    std::size_t invalid = 0;
    updates = 1;
    for (int epoch = 0; epoch < 500 && updates > 0; ++epoch) {
      const EpochReport report = online_epoch(problem, order, settings, state, interrupt);
      updates = report.updates;
      invalid += report.invalid;
    }
    CHECK(updates == 0 && invalid == 0);
  }
  settings.beam = {};

  context = "interrupt";
  interrupt.request();
  const EpochReport stopped = online_epoch(problem, order, settings, state, interrupt);
  CHECK(!stopped.complete && stopped.seen == 0);
  problem.total(v.data(), 0.0, 0.0, nullptr, 2, interrupt, &complete);
  CHECK(!complete);
}

inline void test_threads() {
  context = "threads";
  std::vector<int> done(100, 0);
  parallel_for(done.size(), 4, [&](std::size_t task, std::size_t) { done[task] += 1; });
  CHECK(done == std::vector<int>(100, 1));
  CHECK_THROWS(std::runtime_error, parallel_for(50, 3, [](std::size_t task, std::size_t) {
                 if (task == 20) throw std::runtime_error("stop");
               }));
}

inline void test_team() {
  context = "team";
  for (const std::size_t threads : {1, 2, 5}) {
    Team team(threads);
    std::vector<int> done(8, 0);
    for (int round = 0; round < 200; ++round) {
      team.run(done.size(), [&](std::size_t task, std::size_t) { done[task] += 1; });
    }
    CHECK(done == std::vector<int>(8, 200));
    std::string said;
    try {
      team.run(8, [](std::size_t task, std::size_t) {
        if (task >= 3) throw std::runtime_error(std::to_string(task));
      });
    } catch (const std::runtime_error& error) {
      said = error.what();
    }
    CHECK(said == "3");
    team.run(8, [&](std::size_t task, std::size_t) { done[task] += 1; });  // goes on as before
    CHECK(done == std::vector<int>(8, 201));
  }
}

}  // namespace test
