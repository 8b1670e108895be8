// Chains and multiclass against enumeration, and wide chains against plain loops.
#pragma once

#include <memory>
#include <string>

#include "numeric/kernels.hpp"
#include "structures/multiclass.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"

namespace test {

inline double infer_with(const Structure& s, const Example& e, const std::vector<double>& theta,
                         double eps, std::vector<double>* p, Workspace& ws) {
  Example moved;
  moved.layout = e.layout;
  moved.theta = theta;
  Marginals out;
  if (p != nullptr) {
    p->assign(theta.size(), -1.0);
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      if (e.layout.block[b].present) out.block[b] = p->data() + e.layout.block[b].offset;
    }
  }
  return s.infer(e.layout, moved.scores(), eps, out, ws);
}

inline void check_best(const Structure& s, const Example& e, Workspace& ws) {
  const double slack = 1e-11 * e.size();
  Output y;
  const double value = s.argmax(e.layout, e.scores(), y, ws);
  CHECK_NEAR(value, e.best(), slack);
  if (e.legal() > 0) CHECK_NEAR(e.value_of(y), e.best(), slack);

  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    std::vector<std::uint32_t> parts;
    s.encode(e.layout, e.outputs[i], parts);
    std::vector<double> mu(e.theta.size(), 0.0);
    for (const std::uint32_t j : parts) mu[j] += 1.0;
    CHECK(mu == e.mu[i]);
  }

  std::vector<double> sorted = e.values;
  std::sort(sorted.rbegin(), sorted.rend());
  for (const std::size_t n : {std::size_t{1}, std::size_t{3}, e.outputs.size() + 2}) {
    const auto found = s.kbest(e.layout, e.scores(), n, ws);
    CHECK(found.size() == std::min(n, e.legal()));
    std::vector<Output> seen;
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK_NEAR(found[i].first, sorted[i], slack);
      CHECK_NEAR(e.value_of(found[i].second), found[i].first, slack);
      CHECK(i == 0 || found[i].first <= found[i - 1].first);
      seen.push_back(found[i].second);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

inline void check_sums(const Structure& s, const Example& e, double eps, Workspace& ws) {
  const double slack = 1e-10 + 1e-12 * e.size() / eps;
  std::vector<double> right, p;
  const double expected = e.infer(eps, right);
  const double value = infer_with(s, e, e.theta, eps, &p, ws);
  CHECK_NEAR(value, expected, 1e-10 + 1e-12 * e.size());
  CHECK(infer_with(s, e, e.theta, eps, nullptr, ws) == value);
  if (e.legal() == 0) return;
  for (std::size_t j = 0; j < p.size(); ++j) {
    CHECK_NEAR(p[j], right[j], slack);
    if (e.theta[j] == kMinusInfinity) CHECK(p[j] == 0.0);
  }
  if (e.size() > 10.0) return;
  const double h = 1e-4 * eps;
  for (std::size_t j = 0; j < p.size(); j += 1 + p.size() / 7) {
    if (e.theta[j] == kMinusInfinity) continue;
    std::vector<double> up = e.theta, down = e.theta;
    up[j] += h;
    down[j] -= h;
    const double slope =
        (infer_with(s, e, up, eps, nullptr, ws) - infer_with(s, e, down, eps, nullptr, ws)) /
        (2.0 * h);
    CHECK_NEAR(p[j], slope, 1e-5);
  }
}

inline void check_draws(const Structure& s, const Example& e, Workspace& ws) {
  const auto drawn = s.sample(e.layout, e.scores(), 1.0, 40, 7, ws);
  CHECK(drawn.size() == (e.legal() > 0 ? 40u : 0u));
  for (const Output& y : drawn) CHECK(e.value_of(y) > kMinusInfinity);
  CHECK(s.sample(e.layout, e.scores(), 1.0, 40, 7, ws) == drawn);
}

inline void check_structure(const Structure& s, const Example& e, Workspace& ws) {
  s.check(e.layout);
  check_best(s, e, ws);
  for (const double eps : {0.3, 1.0, 5.0}) check_sums(s, e, eps, ws);
  check_draws(s, e, ws);
}

// The workspace is used again and again: what one example leaves must not reach the next.
inline void test_small_structures() {
  Workspace ws;
  Draw draw(1);
  const Chain chain;
  const Multiclass multiclass;
  for (const double scale : {1.0, 1e3, 1e5}) {
    for (const double forbidden : {0.0, 0.1, 0.4}) {
      for (std::size_t order = 0; order <= 3; ++order) {
        for (int repeat = 0; repeat < 6; ++repeat) {
          ChainShape shape{1 + draw.below(5), 1 + draw.below(3), order,
                           draw.chance(0.5),  draw.chance(0.5),  draw.chance(0.5)};
          context = "chain of order " + std::to_string(order) + ", L " + std::to_string(shape.L) +
                    ", K " + std::to_string(shape.K) + ", scale " + std::to_string(scale);
          check_structure(chain, make_chain(shape, draw, scale, forbidden), ws);
        }
      }
      for (std::size_t K = 1; K <= 9; ++K) {
        context = "multiclass, K " + std::to_string(K) + ", scale " + std::to_string(scale);
        check_structure(multiclass, make_multiclass(K, draw, scale, forbidden), ws);
      }
    }
  }
}

// All scores equal: the first output is the best, and draws find all of them.
inline void test_equal_scores() {
  Workspace ws;
  Draw draw(4);
  for (std::size_t order = 0; order <= 2; ++order) {
    context = "equal scores, order " + std::to_string(order);
    const Example e = make_chain({3, 2, order, false, true, true}, draw, 0.0, 0.0);
    const Chain chain;
    Output y;
    chain.argmax(e.layout, e.scores(), y, ws);
    CHECK(y == Output(3, 0));
    std::vector<Output> drawn = chain.sample(e.layout, e.scores(), 1.0, 200, 9, ws);
    std::sort(drawn.begin(), drawn.end());
    CHECK(std::unique(drawn.begin(), drawn.end()) - drawn.begin() == 8);
  }
}

// One label leads by far and loses a little at every position: no single step shows it.
inline void test_slow_return() {
  Workspace ws;
  const Chain chain;
  for (const double lead : {100.0, 600.0, 720.0, 1000.0}) {
    context = "slow return, lead " + std::to_string(lead);
    const std::size_t L = 20;
    const double loss = 85.0;
    Example e;
    e.layout.add(Chain::kLabel, L, 2, true);
    e.layout.add(Chain::transition(1), 1, 4, false);
    e.theta.assign(e.layout.parts, 0.0);
    e.theta[2 * L + 1] = e.theta[2 * L + 2] = kMinusInfinity;
    e.theta[0] = lead;
    for (std::size_t t = 1; t < L; ++t) e.theta[2 * t] = -loss;
    const double first = lead - loss * static_cast<double>(L - 1);
    std::vector<double> p;
    CHECK_NEAR(infer_with(chain, e, e.theta, 1.0, &p, ws), std::log1p(std::exp(first)), 1e-10);
    CHECK_NEAR(p[1], 1.0 / (1.0 + std::exp(first)), 1e-10);
  }
}

// A shared table's marginals position by position are those of a table given by position.
inline void test_marginals_by_position() {
  context = "marginals by position";
  Workspace ws;
  const Chain chain;
  Draw draw(2), same(2);
  const Example shared = make_chain({4, 3, 1, false, false, false}, draw, 1.0, 0.0);
  Example anchored = make_chain({4, 3, 1, true, false, false}, same, 1.0, 0.0);
  std::copy_n(shared.theta.begin(), 12, anchored.theta.begin());
  for (std::size_t t = 0; t < 3; ++t) {
    std::copy_n(shared.theta.begin() + 12, 9,
                anchored.theta.begin() + 12 + 9 * static_cast<long>(t));
  }
  std::vector<double> p, label(12), pair(27);
  infer_with(chain, anchored, anchored.theta, 1.0, &p, ws);
  Marginals out;
  out.by_position = true;
  out.block[Chain::kLabel] = label.data();
  out.block[Chain::transition(1)] = pair.data();
  chain.infer(shared.layout, shared.scores(), 1.0, out, ws);
  for (std::size_t j = 0; j < 12; ++j) CHECK_NEAR(label[j], p[j], 1e-12);
  for (std::size_t j = 0; j < 27; ++j) CHECK_NEAR(pair[j], p[12 + j], 1e-12);
}

// Widths at which the vector loops change: max and log-sum by plain loops.
inline void test_wide_chains() {
  Workspace ws;
  const Chain chain;
  for (const std::size_t K : {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 45, 64, 65, 70}) {
    context = "wide chain, K " + std::to_string(K);
    Draw draw(K);
    const std::size_t L = 5;
    Example e;
    e.layout.add(Chain::kLabel, L, K, true);
    e.layout.add(Chain::transition(1), 1, K * K, false);
    draw_theta(e, draw, 2.0, 0.2);
    for (std::size_t k = 0; k < K; ++k) e.theta[k] = e.theta[L * K + k] = 0.25;
    for (std::size_t t = 0; t < L; ++t) e.theta[t * K] = 0.5;
    const double* T = e.theta.data() + L * K;
    std::vector<double> best(e.theta.begin(), e.theta.begin() + static_cast<long>(K)),
        log_sum = best;
    for (std::size_t t = 1; t < L; ++t) {
      std::vector<double> next(K, kMinusInfinity), next_sum(K, kMinusInfinity);
      for (std::size_t k = 0; k < K; ++k) {
        double sum = 0.0;
        for (std::size_t a = 0; a < K; ++a) {
          next[k] = std::max(next[k], best[a] + T[a * K + k]);
          sum += std::exp(log_sum[a] + T[a * K + k]);
        }
        next[k] += e.theta[t * K + k];
        next_sum[k] = std::log(sum) + e.theta[t * K + k];
      }
      best = next;
      log_sum = next_sum;
    }
    double total = 0.0;
    for (const double x : log_sum) total += std::exp(x);
    Output y;
    const double value = chain.argmax(e.layout, e.scores(), y, ws);
    CHECK_NEAR(value, *std::max_element(best.begin(), best.end()), 1e-12);
    double walked = 0.0;
    for (std::size_t t = 0; t < L; ++t) {
      const auto k = static_cast<std::size_t>(y[t]);
      walked += e.theta[t * K + k];
      if (t > 0) walked += T[static_cast<std::size_t>(y[t - 1]) * K + k];
    }
    CHECK_NEAR(walked, value, 1e-12);
    std::vector<double> p;
    CHECK_NEAR(infer_with(chain, e, e.theta, 1.0, &p, ws), std::log(total), 1e-10);
    for (std::size_t t = 0; t < L; ++t) {
      double sum = 0.0;
      for (std::size_t k = 0; k < K; ++k) sum += p[t * K + k];
      CHECK_NEAR(sum, 1.0, 1e-12);
    }
    // The same bits with every instruction set that is here.
    const std::string before = kernels().name;
    for (const char* name : {"baseline", "avx2", "avx512"}) {
      if (!use_kernels(name)) continue;
      std::vector<double> q;
      Output z;
      CHECK(chain.argmax(e.layout, e.scores(), z, ws) == value && z == y);
      infer_with(chain, e, e.theta, 1.0, &q, ws);
      CHECK(q == p);
    }
    use_kernels(before.c_str());
  }
}

inline void test_refusals() {
  context = "wrong layouts";
  const Chain chain;
  const auto refuse = [&](auto&& build) {
    Layout layout;
    build(layout);
    CHECK_THROWS(std::invalid_argument, chain.check(layout));
  };
  refuse([](Layout&) {});
  refuse([](Layout& l) { l.add(Chain::kLabel, 0, 3, true); });
  refuse([](Layout& l) { l.add(Chain::kLabel, 2, 0, true); });
  refuse([](Layout& l) {
    l.add(Chain::kLabel, 2, 3, true);
    l.add(Chain::kStart, 1, 2, false);
  });
  refuse([](Layout& l) {
    l.add(Chain::kLabel, 4, 3, true);
    l.add(Chain::transition(1), 1, 8, false);
  });
  refuse([](Layout& l) {
    l.add(Chain::kLabel, 4, 3, true);
    l.add(Chain::transition(1), 2, 9, true);
  });
  Layout empty;
  CHECK_THROWS(std::invalid_argument, Multiclass().check(empty));
}

// Finite scores whose sum is not finite must not lead a back-pointer out of the table.
inline void test_overflow() {
  context = "overflow";
  Workspace ws;
  Example e;
  e.layout.add(Chain::kLabel, 3, 2, true);
  e.layout.add(Chain::transition(1), 1, 4, false);
  e.theta = {1e308, 1e308, 1e308, 1e308, 1e308, 1e308, kMinusInfinity, 0.0, 0.0, kMinusInfinity};
  Output y;
  Chain().argmax(e.layout, e.scores(), y, ws);
  for (const std::int32_t k : y) CHECK(k == 0 || k == 1);
}

}  // namespace test
