// Sentences as a counted grammar reads them, against the list of all trees.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/queries.hpp"
#include "tasks/constituents/grammar_reader.hpp"
#include "tests/check.hpp"

namespace test {

inline void test_grammar_reader() {
  using namespace structlearn;
  // Tags N and V; S, VP, two symbols that are called NP, and the rest of a row.
  enum : std::uint32_t { kN, kV, kS, kVP, kNP, kInner, kRest };
  Grammar grammar;
  grammar.symbols = 7;
  grammar.names = 3;
  grammar.name = {Grammar::kNameless, Grammar::kNameless, 0, 1, 2, 2, Grammar::kNameless};
  grammar.binary = {{kS, kNP, kVP},    {kVP, kV, kNP}, {kNP, kN, kRest}, {kRest, kN, kN},
                    {kNP, kInner, kN}, {kNP, kN, kN},  {kNP, kN, kInner}};
  grammar.unary = {{kNP, kN}, {kVP, kV}, {kS, kVP}, {kNP, kInner}, {kInner, kN}};
  grammar.close(4);
  text::CountedGrammar model{GrammarTrees(grammar), 2, {}};
  for (std::size_t r = 0; r < 12; ++r) model.scores.push_back(-0.2 * static_cast<double>(r + 1));
  for (std::size_t a = 0; a < 7; ++a) {
    model.scores.push_back(a == kS || a == kNP ? -0.5 : kMinusInfinity);
  }
  const std::vector<text::TagNumbers> sentences = {
      {kN, kV, kN, kN}, {kN, kN, kN}, {kV}, {-1, kV, -1}, {kN, kN, kN, kN, kN}, {kV, kV}};
  const text::GrammarInputs inputs(model, sentences);
  const auto reader = inputs.reader();
  for (std::size_t s = 0; s < inputs.size(); ++s) {
    context = "sentence " + std::to_string(s);
    const auto n = static_cast<std::int32_t>(sentences[s].size());
    const Scored& scored = reader->scores(s, Purpose::kSums);
    const auto ranked = kbest(*reader, scored, 1000);
    std::vector<double> p;
    if (s >= 4) {  // a row of five nouns, and two verbs, are not derived
      CHECK(ranked.size() == 1 && ranked[0].first == kMinusInfinity);
      CHECK((ranked[0].second == Output{0, n, 0}));
      CHECK(sample(*reader, scored, 1.0, 3, 1).size() == 3);
      CHECK(marginals(*reader, scored, 1.0, p) == kMinusInfinity);
      CHECK(entropy(*reader, scored, 1.0).value == 0.0);
      CHECK(score(*reader, scored, ranked[0].second) == kMinusInfinity);
      continue;
    }
    std::map<Output, double> listed;
    for (const auto& [value, y] : ranked) {
      listed[y] = value;
      CHECK_NEAR(score(*reader, scored, y), value, 1e-12);
    }
    CHECK(listed.size() == ranked.size());
    for (const double eps : {0.3, 1.0, 3.0}) {
      double sum = 0.0;
      for (const auto& [y, value] : listed) sum += std::exp(value / eps);
      CHECK_NEAR(marginals(*reader, scored, eps, p), eps * std::log(sum), 1e-9);
      std::vector<double> expected(p.size(), 0.0);
      for (const auto& [y, value] : listed) {
        std::set<std::size_t> once;  // two nodes of one name over a span count once
        for (const Part& part : reader->parts(y)) once.insert(reader->find(part));
        for (const std::size_t q : once) expected[q] += std::exp(value / eps) / sum;
      }
      for (std::size_t q = 0; q < p.size(); ++q) CHECK_NEAR(p[q], expected[q], 1e-9);
      for (const Output& y : sample(*reader, scored, eps, 20, 2)) CHECK(listed.count(y) == 1);
    }
  }
  context.clear();
  reader->scores(1, Purpose::kBest);
  for (Output wrong : {Output{}, {0, 3, 1}, {0, 4, 2}, {0, 2, 2, 1, 3, 2}, {0, 3, 2, 0, 3, 0}}) {
    CHECK(!reader->to_structure(wrong));
  }
  grammar.name.pop_back();
  CHECK_THROWS(std::invalid_argument, GrammarTrees{grammar});
  grammar.unary.push_back({kS, kS});
  CHECK_THROWS(std::invalid_argument, grammar.close(4));
}

}  // namespace test
