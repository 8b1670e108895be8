// Constituent trees: the chart against itself from two sides, grammars, and the parser of text.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "numeric/random.hpp"
#include "structures/trees/constituency.hpp"
#include "structures/trees/grammar_trees.hpp"
#include "tests/check.hpp"

namespace test {

inline double score_of(const structlearn::Structure& s, const structlearn::Layout& layout,
                       const std::vector<double>& theta, const structlearn::Output& y) {
  std::vector<std::uint32_t> parts;
  s.encode(layout, y, parts);
  double sum = 0.0;
  for (const std::uint32_t p : parts) sum += theta[p];
  return sum;
}

// Whatever the size: the maximum is the score of its tree and the head of the list, marginals add
// up to the nodes of a binary tree, draws are trees.
inline void test_trees_of_spans() {
  using namespace structlearn;
  const Constituency trees;
  Workspace ws;
  for (const std::size_t n : {1, 2, 3, 9, 40}) {
    for (const std::size_t R : {1, 2, 9, 30}) {
      context = "n " + std::to_string(n) + " R " + std::to_string(R);
      Layout layout;
      layout.add(Constituency::kSpan, n * (n + 1), R, true);
      std::vector<double> theta(layout.parts);
      Random random(7, n * 100 + R);
      for (double& x : theta) x = 4.0 * random.uniform() - 2.0;
      trees.check(layout);
      Scores scores;
      scores.block[0] = theta.data();
      Output y;
      const double best = trees.argmax(layout, scores, y, ws);
      CHECK(y.size() == 2 * (2 * n - 1));
      CHECK_NEAR(score_of(trees, layout, theta, y), best, 1e-9);
      const auto listed = trees.kbest(layout, scores, 3, ws);
      CHECK(!listed.empty());
      CHECK_NEAR(listed[0].first, best, 1e-9);
      std::vector<double> p(layout.parts, -1.0);
      Marginals out;
      out.block[0] = p.data();
      const double value = trees.infer(layout, scores, 1.0, out, ws);
      CHECK(value >= best - 1e-9);
      double sum = 0.0;
      for (const double x : p) sum += x;
      CHECK_NEAR(sum, static_cast<double>(2 * n - 1), 1e-6);
      for (const Output& drawn : trees.sample(layout, scores, 1.0, 5, 3, ws)) {
        CHECK(score_of(trees, layout, theta, drawn) <= best + 1e-9);
      }
      std::vector<LabelledSpan> spans;
      trees.spans(y, spans);
      CHECK(spans.size() <= 2 * n - 1);
      std::fill(theta.begin(), theta.end(), kMinusInfinity);
      CHECK(trees.argmax(layout, scores, y, ws) == kMinusInfinity);
      CHECK(trees.infer(layout, scores, 1.0, out, ws) == kMinusInfinity);
      CHECK(trees.sample(layout, scores, 1.0, 2, 3, ws).empty());
      CHECK(trees.kbest(layout, scores, 2, ws).empty());
    }
  }
  Layout wrong;
  wrong.add(Constituency::kSpan, 7, 2, true);
  CHECK_THROWS(std::invalid_argument, trees.check(wrong));
}

inline void test_trees_of_grammars() {
  using namespace structlearn;
  Grammar grammar;
  grammar.symbols = 3;
  grammar.binary = {{0, 1, 2}, {1, 0, 0}, {2, 2, 1}, {0, 0, 1}};
  grammar.unary = {{0, 1}, {1, 2}, {2, 0}};
  grammar.chain_ptr = {0, 1, 2, 3, 5};
  grammar.chain_rule = {0, 1, 2, 1, 0};
  const GrammarTrees trees(grammar);
  Workspace ws;
  for (const std::size_t n : {1, 2, 5, 12}) {
    context = "n " + std::to_string(n);
    Layout layout;
    layout.add(GrammarTrees::kWord, n, 3, true);
    layout.add(GrammarTrees::kSpan, n * (n + 1), 3, true);
    layout.add(GrammarTrees::kBinary, 1, 4, false);
    layout.add(GrammarTrees::kUnary, 1, 3, false);
    layout.add(GrammarTrees::kRoot, 1, 3, false);
    trees.check(layout);
    std::vector<double> theta(layout.parts), p(layout.parts);
    Random random(9, n);
    for (double& x : theta) x = 2.0 * random.uniform() - 1.0;
    Scores scores;
    Marginals out;
    for (std::size_t b = 0; b <= GrammarTrees::kRoot; ++b) {
      scores.block[b] = theta.data() + layout.block[b].offset;
      out.block[b] = p.data() + layout.block[b].offset;
    }
    Output y;
    const double best = trees.argmax(layout, scores, y, ws);
    CHECK_NEAR(score_of(trees, layout, theta, y), best, 1e-9);
    for (const auto& [value, other] : trees.kbest(layout, scores, 7, ws)) {
      CHECK(value <= best + 1e-9);
      CHECK_NEAR(score_of(trees, layout, theta, other), value, 1e-9);
    }
    CHECK(trees.infer(layout, scores, 0.5, out, ws) >= best - 1e-9);
    double words = 0.0;
    for (std::size_t i = 0; i < 3 * n; ++i) words += p[i];
    CHECK_NEAR(words, static_cast<double>(n), 1e-6);
    for (const Output& drawn : trees.sample(layout, scores, 1.0, 5, 3, ws)) {
      CHECK(score_of(trees, layout, theta, drawn) <= best + 1e-9);
    }
  }
  grammar.binary.push_back({0, 0, 3});
  CHECK_THROWS(std::invalid_argument, GrammarTrees{grammar});
}

}  // namespace test
