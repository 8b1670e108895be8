// Chains and segmentations under automata against enumeration, and what is proven of their sums.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "structures/chains/constrained_sequence.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"
#include "tests/structures/chains/semimarkov_test.hpp"
#include "tests/structures/structures_test.hpp"

namespace test {

// A table drawn at random, for L positions if that is not 0.
inline Automaton random_automaton(Draw& draw, std::size_t K, std::size_t L) {
  Automaton a;
  a.states = 1 + draw.below(4);
  a.symbols = K;
  a.positions = L;
  a.start = draw.below(a.states);
  const double lost = draw.chance(0.5) ? 0.0 : 0.2;
  for (std::size_t j = 0; j < std::max<std::size_t>(L, 1) * a.states * K; ++j) {
    a.next.push_back(draw.chance(lost) ? -1 : static_cast<std::int32_t>(draw.below(a.states)));
  }
  for (std::size_t s = 0; s < a.states; ++s) a.accepting.push_back(draw.chance(0.7));
  return a;
}

// At most one run of a label.
inline Automaton one_run(std::size_t label, std::size_t K) {
  Automaton a;
  a.states = 3;
  a.symbols = K;
  a.accepting.assign(3, 1);
  for (const std::int32_t stay : {0, 2, 2}) {
    for (std::size_t k = 0; k < K; ++k) a.next.push_back(k == label ? 1 : stay);
  }
  a.next[2 * K + label] = -1;
  return a;
}

// A walk that shares nothing with the core's.
inline bool accepted(const Automaton& a, const Output& y) {
  std::size_t s = a.start;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (y[t] < 0) continue;
    const std::size_t table = a.positions == 0 ? 0 : t;
    const std::int32_t to =
        a.next.at((table * a.states + s) * a.symbols + static_cast<std::size_t>(y[t]));
    if (to < 0) return false;
    s = static_cast<std::size_t>(to);
  }
  return a.accepting[s] != 0;
}

inline std::vector<std::int64_t> row_of(const std::vector<Automaton>& automata) {
  std::vector<std::int64_t> row{static_cast<std::int64_t>(automata.size())};
  for (const Automaton& a : automata) {
    for (const std::size_t n : {a.states, a.symbols, a.positions, a.start}) {
      row.push_back(static_cast<std::int64_t>(n));
    }
    row.insert(row.end(), a.accepting.begin(), a.accepting.end());
    row.insert(row.end(), a.next.begin(), a.next.end());
  }
  return row;
}

// Leaves the outputs that all automata accept.
inline void restrict(Example& e, const std::vector<Automaton>& automata) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    bool all = true;
    for (const Automaton& a : automata) all &= accepted(a, e.outputs[i]);
    if (!all) continue;
    e.outputs[kept] = e.outputs[i];
    e.values[kept] = e.values[i];
    e.mu[kept++] = e.mu[i];
  }
  if (kept == 0) {  // enumeration needs something to say that there is nothing
    e.values[0] = kMinusInfinity;
    kept = 1;
  }
  e.outputs.resize(kept);
  e.values.resize(kept);
  e.mu.resize(kept);
}

// What certified sums promise, with a product that is too small for all automata.
inline void check_certificates(const std::vector<Automaton>& automata, std::size_t max_length,
                               const Example& e, Workspace& ws) {
  std::size_t most = 1;
  for (const Automaton& a : automata) most = std::max(most, a.states);
  const ConstrainedSequence s(automata, max_length, {most + 1, 0.3});
  for (const double eps : {0.3, 2.0}) {
    std::vector<double> right;
    const double expected = e.infer(eps, right);
    ConstrainedSequence::Certificate found;
    try {
      found = s.sum(e.layout, e.scores(), eps, {}, ws);
    } catch (const Incapable&) {
      continue;
    }
    const double slack = 1e-10 + 1e-12 * e.size();
    CHECK(found.bound <= 0.3);
    CHECK(found.value >= expected - slack);
    if (e.legal() > 0) CHECK(found.value + eps * std::log1p(-found.bound) <= expected + slack);
    const auto drawn = s.sample(e.layout, e.scores(), eps, 5, 3, ws);
    CHECK(drawn.size() == (e.legal() > 0 ? 5u : 0u));
    for (const Output& y : drawn) CHECK(e.value_of(y) > kMinusInfinity);
  }
}

inline void check_accepted(Draw& draw, Example& e, std::size_t max_length, std::size_t K,
                           std::size_t L, Workspace& ws) {
  std::vector<Automaton> own, brought;
  for (std::size_t n = draw.below(4); n > 0; --n) {
    own.push_back(draw.chance(0.5) ? one_run(draw.below(K), K)
                                   : random_automaton(draw, K, draw.chance(0.3) ? L : 0));
  }
  for (std::size_t n = draw.below(3); n > 0; --n) {
    brought.push_back(random_automaton(draw, K, draw.chance(0.5) ? L : 0));
  }
  const std::vector<std::int64_t> row = row_of(brought);
  if (!brought.empty()) e.layout.topology = row;
  restrict(e, own);
  if (draw.chance(0.5)) {
    e.layout.topology = {};
    check_certificates(own, max_length, e, ws);
  } else {
    restrict(e, brought);
  }
  check_structure(ConstrainedSequence(own, max_length, {}), e, ws);
}

inline void test_accepted_sequences() {
  Workspace ws;
  Draw draw(21);
  for (const double scale : {1.0, 1e3, 1e5}) {
    for (const double forbidden : {0.0, 0.1, 0.4}) {
      for (int repeat = 0; repeat < 40; ++repeat) {
        const std::size_t order = draw.below(4);
        const ChainShape shape{1 + draw.below(5), 1 + draw.below(3), order,
                               draw.chance(0.5),  draw.chance(0.5),  draw.chance(0.5)};
        context = "accepted chain of order " + std::to_string(order) + ", L " +
                  std::to_string(shape.L) + ", K " + std::to_string(shape.K) + ", scale " +
                  std::to_string(scale);
        Example e = make_chain(shape, draw, scale, forbidden);
        check_accepted(draw, e, 0, shape.K, shape.L, ws);
      }
      for (int repeat = 0; repeat < 20; ++repeat) {
        const SegmentShape shape{1 + draw.below(4), 1 + draw.below(4), 1 + draw.below(3),
                                 draw.chance(0.8),  draw.chance(0.5),  draw.chance(0.5)};
        context = "accepted segments, L " + std::to_string(shape.L) + ", K " +
                  std::to_string(shape.K) + ", scale " + std::to_string(scale);
        Example e = make_segments(shape, draw, scale, forbidden);
        check_accepted(draw, e, shape.D, shape.K, shape.L, ws);
      }
    }
  }
}

// Outcomes that stand for labels, others at each position.
inline void test_mapped_labels() {
  Workspace ws;
  Draw draw(22);
  for (int repeat = 0; repeat < 60; ++repeat) {
    context = "mapped labels";
    const ChainShape shape{1 + draw.below(5), 1 + draw.below(3), draw.below(3),
                           draw.chance(0.5),  draw.chance(0.5),  true};
    Example e = make_chain(shape, draw, 1.0, 0.1);
    const std::size_t K = 5;  // of the labels
    auto map = std::make_shared<SymbolMap>();
    for (std::size_t j = 0; j < shape.L * shape.K; ++j) {
      map->symbol.push_back(static_cast<std::int32_t>(draw.below(K)));
    }
    const std::vector<Automaton> automata{one_run(draw.below(K), K), random_automaton(draw, K, 0),
                                          random_automaton(draw, K, shape.L)};
    // The same automata of outcomes.
    std::vector<Automaton> expanded;
    for (const Automaton& a : automata) {
      Automaton b = a;
      b.symbols = shape.K;
      b.positions = shape.L;
      b.next.clear();
      for (std::size_t t = 0; t < shape.L; ++t) {
        for (std::size_t s = 0; s < a.states; ++s) {
          for (std::size_t k = 0; k < shape.K; ++k) {
            const auto label = static_cast<std::size_t>(map->symbol[t * shape.K + k]);
            b.next.push_back(a.rows(t)[s * K + label]);
          }
        }
      }
      expanded.push_back(std::move(b));
    }
    restrict(e, expanded);
    e.layout.shape = map;
    check_structure(ConstrainedSequence(automata, 0, {}), e, ws);
  }
}

// Longer than can be enumerated: by the automaton's states written into the labels of a chain.
inline void test_products_as_chains() {
  Workspace ws;
  Draw draw(23);
  for (const std::size_t K : {2, 5, 17}) {
    context = "a product as a chain, K " + std::to_string(K);
    const std::size_t L = 12;
    Example e;
    e.layout.add(Chain::kLabel, L, K, true);
    e.layout.add(Chain::transition(1), 1, K * K, false);
    draw_theta(e, draw, 2.0, K > 2 ? 0.05 : 0.0);
    Automaton a = random_automaton(draw, K, 0);
    while (a.states < 3) a = random_automaton(draw, K, 0);
    a.accepting.assign(a.states, 1);
    a.accepting[a.start] = 0;
    for (std::int32_t& to : a.next) to = std::max(to, 0);
    a.next[a.start * K] = static_cast<std::int32_t>((a.start + 1) % a.states);  // some are accepted
    // Labels (s, k): k was read and led to s.
    const std::size_t S = a.states;
    Example wide;
    wide.layout.add(Chain::kLabel, L, S * K, true);
    wide.layout.add(Chain::kStart, 1, S * K, false);
    wide.layout.add(Chain::kEnd, 1, S * K, false);
    wide.layout.add(Chain::transition(1), 1, S * K * S * K, false);
    wide.theta.assign(wide.layout.parts, kMinusInfinity);
    double* x = wide.theta.data();
    const double* T = e.theta.data() + L * K;
    for (std::size_t s = 0; s < S; ++s) {
      for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t t = 0; t < L; ++t) x[(t * S + s) * K + k] = e.theta[t * K + k];
        const auto first = static_cast<std::size_t>(a.next[a.start * K + k]);
        if (first == s) x[wide.layout.block[Chain::kStart].offset + s * K + k] = 0.0;
        if (a.accepting[s]) x[wide.layout.block[Chain::kEnd].offset + s * K + k] = 0.0;
        double* table = x + wide.layout.block[Chain::transition(1)].offset;
        for (std::size_t k2 = 0; k2 < K; ++k2) {
          const auto to = static_cast<std::size_t>(a.next[s * K + k2]);
          table[(s * K + k) * S * K + to * K + k2] = T[k * K + k2];
        }
      }
    }
    const ConstrainedSequence product({a}, 0, {});
    const Chain chain;
    Output y, z;
    CHECK_NEAR(product.argmax(e.layout, e.scores(), y, ws),
               chain.argmax(wide.layout, wide.scores(), z, ws), 1e-12);
    CHECK(accepted(a, y));
    const auto ours = product.kbest(e.layout, e.scores(), 9, ws);
    const auto theirs = chain.kbest(wide.layout, wide.scores(), 9, ws);
    CHECK(ours.size() == theirs.size());
    for (std::size_t n = 0; n < std::min(ours.size(), theirs.size()); ++n) {
      CHECK_NEAR(ours[n].first, theirs[n].first, 1e-12);
    }
    for (const double eps : {0.05, 1.0, 10.0}) {
      std::vector<double> p, q;
      const double sum = infer_with(chain, wide, wide.theta, eps, &q, ws);
      CHECK_NEAR(infer_with(product, e, e.theta, eps, &p, ws), sum, 1e-11);
      for (std::size_t t = 0; t < L; ++t) {
        for (std::size_t k = 0; k < K; ++k) {
          double right = 0.0;
          for (std::size_t s = 0; s < S; ++s) right += q[(t * S + s) * K + k];
          CHECK_NEAR(p[t * K + k], right, 1e-11);
        }
      }
    }
  }
}

inline void test_refused_automata() {
  context = "refused automata";
  Workspace ws;
  Automaton a = one_run(0, 3);
  a.next[2] = 3;
  CHECK_THROWS(std::invalid_argument, ConstrainedSequence({a}, 0, {}));
  Layout layout;
  layout.add(Chain::kLabel, 4, 2, true);
  CHECK_THROWS(std::invalid_argument, ConstrainedSequence({one_run(0, 3)}, 0, {}).check(layout));
  Draw draw(24);
  const ConstrainedSequence longer({random_automaton(draw, 2, 5)}, 0, {});
  CHECK_THROWS(std::invalid_argument, longer.check(layout));
  const std::vector<std::int64_t> row = row_of({one_run(0, 2), one_run(1, 2)});
  for (std::size_t n = 1; n < row.size(); ++n) {
    CHECK_THROWS(std::invalid_argument, read_automata({row.data(), n}));
  }
  CHECK(read_automata(row).size() == 2);
  // Both labels in one run each, in sentences whose labels alternate: none of two states can hold.
  Example e = make_chain({6, 2, 1, false, false, false}, draw, 0.1, 0.0);
  for (std::size_t t = 0; t < 6; ++t) e.theta[2 * t + t % 2] += 5.0;
  const ConstrainedSequence small({one_run(0, 2), one_run(1, 2)}, 0, {2, 1e-9});
  Output y;
  CHECK_THROWS(Incapable, small.argmax(e.layout, e.scores(), y, ws));
  CHECK_THROWS(Incapable, infer_with(small, e, e.theta, 1.0, nullptr, ws));
}

}  // namespace test
