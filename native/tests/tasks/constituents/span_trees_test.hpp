// Constituent trees of the parser against the list of them all, and scores against features that
// are added up tree by tree.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string_view>
#include <vector>

#include "models/queries.hpp"
#include "problem/problem.hpp"
#include "tasks/constituents/span_reader.hpp"
#include "tasks/constituents/span_scorer.hpp"
#include "tasks/constituents/span_trees.hpp"
#include "tests/check.hpp"

namespace test {

namespace sl = structlearn;
namespace slt = structlearn::text;

// Every set of nested labelled spans over i..j with one label at most a span, those of several
// words labelled where they are children; words do not have the label without a name.
inline std::vector<std::vector<sl::LabelledSpan>> all_trees(int i, int j, int labels,
                                                            int nameless) {
  std::vector<std::vector<sl::LabelledSpan>> found;
  if (j - i == 1) {
    found.emplace_back();
    for (int x = 1; x < labels; ++x) {
      if (x != nameless) found.push_back({{i, j, x}});
    }
    return found;
  }
  // Rows of at least two children: the first one's end, then the others.
  const auto rows = [&](auto&& self, int from, bool first) -> decltype(found) {
    decltype(found) all;
    if (from == j) return {{}};
    for (int end = from + 1; end <= j; ++end) {
      if (first && end == j) continue;
      for (const auto& child : all_trees(from, end, labels, nameless)) {
        for (const auto& others : self(self, end, false)) {
          all.push_back(child);
          all.back().insert(all.back().end(), others.begin(), others.end());
        }
      }
    }
    return all;
  };
  for (const auto& children : rows(rows, i, true)) {
    for (int x = 1; x < labels; ++x) {
      found.push_back({{i, j, x}});
      found.back().insert(found.back().end(), children.begin(), children.end());
    }
  }
  return found;
}

inline slt::TreeInput tree_input(const std::vector<std::string_view>& words,
                                 const std::vector<std::string_view>& tags) {
  slt::TreeInput input;
  input.tokens.assign(words, tags, {});
  std::map<std::string_view, std::uint32_t> known{{"D", 0}, {"N", 1}, {"V", 2}};
  for (const auto tag : tags) input.tag.push_back(known.count(tag) ? known[tag] : 3);
  return input;
}

// The score of a tree from the weights of its features, one node after another.
inline double score_by_features(const slt::TreeInput& input, const slt::TreeSizes& sizes,
                                const slt::FeatureIndex& index, const std::vector<double>& w,
                                const sl::Output& y) {
  const slt::TreeFeatures features(input.tokens);
  const std::size_t R = sizes.labels, table = index.size() * R;
  double total = 0.0;
  std::vector<std::uint64_t> keys;
  const auto take = [&](std::size_t label) {
    for (const auto key : keys) {
      const auto row = index.find(key);
      if (row != slt::FeatureIndex::kAbsent) total += w[row * R + label];
    }
    keys.clear();
  };
  std::size_t at = 0;
  using Place = slt::TreeFeatures::Place;
  constexpr Place places[] = {Place::kFirst, Place::kMiddle, Place::kLast};
  const auto node = [&](auto&& self, std::size_t i, std::size_t j, std::size_t parent,
                        int place) -> void {
    const bool rest = y[at] < 0;
    const std::size_t label = rest ? parent : static_cast<std::size_t>(y[at]);
    const std::size_t k = static_cast<std::size_t>(y[at + 1]);
    at += 2;
    const std::size_t symbol = label > 0 ? label : R + input.tag[i];
    if (!rest && place >= 0) {
      features.child(places[place], i, j, keys);
      take(parent);
      total += w[table + sizes.pair(static_cast<std::size_t>(place), symbol, parent)];
    } else if (!rest) {
      total += w[table + sizes.pairs() + symbol];
    }
    j - i == 1 ? features.word(i, keys)
    : rest     ? features.rest(i, j, keys)
               : features.node(i, j, keys);
    take(label);
    if (j - i == 1) return;
    features.split(i, k, j, keys);
    take(label);
    self(self, i, k, label, rest ? 1 : 0);
    self(self, k, j, label, 2);
  };
  node(node, 0, input.tokens.size(), 0, -1);
  return total;
}

// Every query of a model against all trees with their scores, as rows of the structure.
inline void test_span_queries(const slt::SpanModel& model, const slt::SpanScorer& scorer,
                              std::size_t e, const std::map<sl::Output, double>& listed) {
  slt::SpanReader reader(model, scorer);
  const sl::Scored& scored = reader.scores(e, sl::Purpose::kSums);
  sl::Output best;
  const double most = sl::best(reader, scored, best).value;
  std::map<sl::Output, double> score;
  for (const auto& [y, s] : listed) {
    sl::Output row = y;
    reader.to_model(row);
    score[row] = s;
    CHECK_NEAR(sl::score(reader, scored, row), s, 1e-10);
    CHECK(reader.to_structure(row) && row == y);
  }
  CHECK(score.size() == listed.size() && score.count(best) == 1);
  for (const auto& [s, y] : sl::kbest(reader, scored, 9)) CHECK_NEAR(s, score[y], 1e-10);
  for (sl::Output wrong : {sl::Output{0, 1, 0}, {0, 9, 1}, {0, 1, 3}, {0, 1, -1}, {-1, 1, 1}}) {
    CHECK(!reader.to_structure(wrong));
  }
  for (const double eps : {0.3, 1.0, 3.0}) {
    double sum = 0.0;
    for (const auto& [y, s] : score) sum += std::exp((s - most) / eps);
    std::vector<double> p;
    CHECK_NEAR(sl::marginals(reader, scored, eps, p), most + eps * std::log(sum), 1e-9);
    std::vector<double> expected(p.size(), 0.0);
    double nats = 0.0;
    for (const auto& [y, s] : score) {
      const double share = std::exp((s - most) / eps) / sum;
      nats -= share * std::log(share);
      for (const sl::Part& part : reader.parts(y)) expected[reader.find(part)] += share;
    }
    for (std::size_t q = 0; q < p.size(); ++q) {
      CHECK_NEAR(p[q], expected[q], 1e-9);
      CHECK(reader.find(reader.part(q / 2, q % 2)) == q);
    }
    CHECK_NEAR(sl::entropy(reader, scored, eps).value, nats, 1e-8);
    const auto certain = sl::certainties(reader, scored, best, p);
    const auto parts = reader.parts(best);
    CHECK(certain.size() == parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      CHECK_NEAR(certain[k], expected[reader.find(parts[k])], 1e-9);
    }
    for (const sl::Output& y : sl::sample(reader, scored, eps, 20, 1)) CHECK(score.count(y) == 1);
  }
}

inline void test_span_trees(int nameless) {
  {  // tags the other way round are another feature of a split
    const auto input = tree_input({"a", "b", "a", "b"}, {"D", "N", "D", "N"});
    std::vector<std::uint64_t> one, other;
    slt::TreeFeatures(input.tokens).split(0, 1, 4, one);
    slt::TreeFeatures(input.tokens).split(0, 2, 4, other);
    CHECK(one[1] != other[1]);
  }
  const std::vector<std::vector<std::string_view>> words = {
      {"it"},
      {"the", "dog"},
      {"the", "dog", "sees"},
      {"it", "sees", "the", "dog"},
      {"the", "dog", "sees", "the", "dog", "the", "dog", "sees", "it"}};
  const std::vector<std::vector<std::string_view>> tags = {
      {"N"},
      {"D", "N"},
      {"D", "N", "V"},
      {"N", "V", "D", "N"},
      {"D", "N", "V", "D", "N", "D", "N", "V", "X"}};
  const int labels = 3;
  const slt::TreeSizes sizes{labels, 4, static_cast<std::size_t>(nameless)};
  const slt::SpanTrees trees;
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  // Features of some trees, so that others have features without weights.
  std::vector<slt::TreeInput> inputs;
  std::vector<sl::Output> gold;
  for (std::size_t e = 0; e < words.size(); ++e) {
    inputs.push_back(tree_input(words[e], tags[e]));
    const int n = static_cast<int>(words[e].size());
    std::vector<sl::LabelledSpan> spans{{0, n, 1}};
    for (int i = 1; i + 1 < n; ++i) spans.push_back({i, n, 1 + i % 2});
    if (nameless == 1 && n == 1) spans.clear();
    gold.push_back(slt::tree_of_spans(spans, words[e].size()));
  }
  const auto keys = slt::counted_features(inputs, gold).keys();
  const auto index = slt::feature_rows(keys);
  const slt::SpanScorer scorer(sizes, index, inputs);
  std::vector<double> w(scorer.weights());
  std::vector<float> narrow(w.size());
  for (std::size_t q = 0; q < w.size(); ++q) w[q] = narrow[q] = static_cast<float>(normal(random));
  const slt::SpanModel model{sizes, index, narrow, {{}, {0}, {1, 0}}, 2};

  for (std::size_t e = 0; e < words.size(); ++e) {
    context = "sentence " + std::to_string(e);
    const std::size_t n = words[e].size();
    const sl::Layout layout = scorer.layout(e);
    trees.check(layout);
    std::vector<double> theta(layout.parts);
    scorer.score(e, layout, w.data(), 1.0, theta.data());
    sl::Workspace ws;

    // <A w, v> = <w, A^T v>, dense and sparse, and through every way to say A^T v.
    sl::PartVector dense, sparse;
    dense.clear(true);
    for (std::size_t q = 0; q < layout.parts; ++q) {
      dense.value.push_back(normal(random));
      if (q % 7 == 0) sparse.add(q, dense.value.back());
    }
    for (const auto* v : {&dense, &sparse}) {
      double parts = 0.0, size = 1.0;
      for (std::size_t q = 0; q < v->value.size(); ++q) {
        parts += v->value[q] * theta[v->dense ? q : v->index[q]];
        size += std::abs(v->value[q] * theta[v->dense ? q : v->index[q]]);
      }
      CHECK_NEAR(scorer.dot(e, layout, *v, w.data()), parts, 1e-12 * size);
      std::vector<double> g(w.size(), 0.0), twice(w.size(), 0.0);
      scorer.scatter(e, layout, *v, 1.0, g.data(), -2.0, twice.data());
      double by_weights = 0.0;
      for (std::size_t q = 0; q < w.size(); ++q) {
        by_weights += w[q] * g[q];
        CHECK(twice[q] == -2.0 * g[q]);
      }
      CHECK_NEAR(by_weights, parts, 1e-12 * size);
    }
    std::vector<std::pair<std::size_t, std::size_t>> ranges;
    scorer.rows(e, layout, ranges);
    std::set<std::size_t> touched;
    for (const auto& [from, count] : ranges) {
      for (std::size_t q = from; q < from + count; ++q) touched.insert(q);
    }
    sl::WeightEntries entries;
    scorer.gather(e, layout, dense, entries);
    for (const auto& [q, x] : entries) CHECK(touched.count(q) == 1);

    // The gold tree there and back.
    std::vector<sl::LabelledSpan> spans;
    trees.spans(gold[e], spans);
    CHECK(slt::tree_of_spans(spans, n) == gold[e]);

    // Scores of trees by parts, and by features.
    const auto score = [&](const sl::Output& y) {
      std::vector<std::uint32_t> parts;
      trees.encode(layout, y, parts);
      double sum = 0.0;
      for (const auto q : parts) sum += theta[q];
      return sum;
    };
    CHECK_NEAR(score(gold[e]), score_by_features(inputs[e], sizes, *index, w, gold[e]), 1e-11);
    const sl::Scores scores = sl::scores_of(layout, theta.data());
    sl::Output best;
    const double value = trees.argmax(layout, scores, best, ws);
    CHECK_NEAR(score(best), value, 1e-11);
    CHECK_NEAR(score_by_features(inputs[e], sizes, *index, w, best), value, 1e-11);
    if (n > 4) continue;

    const auto all = all_trees(0, static_cast<int>(n), labels, nameless);
    std::map<sl::Output, double> listed;
    double most = sl::kMinusInfinity;
    for (const auto& tree : all) {
      const sl::Output y = slt::tree_of_spans(tree, n);
      listed[y] = score_by_features(inputs[e], sizes, *index, w, y);
      most = std::max(most, listed[y]);
    }
    CHECK(listed.size() == all.size());
    CHECK_NEAR(value, most, 1e-11);
    const auto ranked = trees.kbest(layout, scores, all.size() + 5, ws);
    CHECK(ranked.size() == all.size());
    for (std::size_t r = 0; r < ranked.size(); ++r) {
      CHECK(listed.count(ranked[r].second) == 1);
      CHECK_NEAR(ranked[r].first, listed[ranked[r].second], 1e-11);
      CHECK(r == 0 || ranked[r].first <= ranked[r - 1].first + 1e-12);
    }
    test_span_queries(model, scorer, e, listed);
    // Sums, at a temperature so low that exponentials of whole tables underflow too.
    for (const double eps : {1.0, 0.5, 0.004}) {
      context = "sentence " + std::to_string(e) + ", eps " + std::to_string(eps);
      double sum = 0.0;
      for (const auto& [y, s] : listed) sum += std::exp((s - most) / eps);
      std::vector<double> expected(layout.parts, 0.0);
      for (const auto& [y, s] : listed) {
        std::vector<std::uint32_t> parts;
        trees.encode(layout, y, parts);
        for (const auto q : parts) expected[q] += std::exp((s - most) / eps) / sum;
      }
      sl::PartVector p;
      const sl::StructureOracle oracle(std::make_shared<slt::SpanTrees>());
      CHECK_NEAR(oracle.infer(0, layout, theta.data(), eps, p, ws), most + eps * std::log(sum),
                 1e-10);
      for (std::size_t q = 0; q < layout.parts; ++q) CHECK_NEAR(p.value[q], expected[q], 1e-9);
      const auto drawn = trees.sample(layout, scores, eps, 4000, 3, ws);
      std::map<sl::Output, double> often;
      for (const auto& y : drawn) often[y] += 1.0 / static_cast<double>(drawn.size());
      for (const auto& [y, share] : often) {
        CHECK(listed.count(y) == 1);
        CHECK_NEAR(share, std::exp((listed[y] - most) / eps) / sum, 0.04);
      }
    }
  }
  context.clear();
}

inline void test_span_trees() {
  for (const int nameless : {0, 1, 2}) test_span_trees(nameless);
}

}  // namespace test
