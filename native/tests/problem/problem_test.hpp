// A tiny tagging problem: losses by enumeration, gradients by differences.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "problem/problem.hpp"
#include "scoring/row_scorer.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"

namespace test {

// Sequences with dense features, labels from a hidden weight vector: separable.
template <std::size_t Features, std::size_t Examples>
struct TaggingOf {
  static constexpr std::size_t K = 3, D = Features, N = Examples;
  std::vector<std::int64_t> site_ptr{0}, gold_ptr{0}, indptr, allowed_ptr;
  std::vector<double> x, delta, weight;
  std::vector<std::int32_t> label, indices;
  std::vector<std::uint32_t> part;
  std::vector<std::uint8_t> allowed;
  std::vector<ScorerBlock> blocks;
  std::shared_ptr<const Oracle> oracle =
      std::make_shared<StructureOracle>(std::make_shared<Chain>());
  static constexpr std::size_t weights = D * K + 2 * K + K * K;

  TaggingOf() {
    Draw draw(11);
    std::vector<double> hidden(weights);
    for (double& w : hidden) w = draw.between(-3.0, 3.0);
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t L = 1 + draw.below(4);
      site_ptr.push_back(site_ptr.back() + static_cast<std::int64_t>(L));
      for (std::size_t j = 0; j < L * D; ++j) x.push_back(draw.between(-1.0, 1.0));
      weight.push_back(draw.between(0.5, 2.0));
    }
    delta.assign(K * K, 1.0);
    for (std::size_t k = 0; k < K; ++k) delta[k * K + k] = 0.0;
    for (std::size_t r = 0; r <= x.size() / D; ++r)
      indptr.push_back(static_cast<std::int64_t>(r * D));
    for (std::size_t j = 0; j < x.size(); ++j) indices.push_back(static_cast<std::int32_t>(j % D));
    rebuild(FeatureRows::Kind::kDense);
    // The best output of each example under the hidden weights is its gold output.
    const RowScorer scorer(blocks, N, weights);
    Workspace ws;
    for (std::size_t i = 0; i < N; ++i) {
      const Layout layout = scorer.layout(i);
      std::vector<double> theta(layout.parts);
      scorer.score(i, layout, hidden.data(), 1.0, theta.data());
      Output y;
      Chain chain;
      chain.argmax(layout, scores_of(layout, theta.data()), y, ws);
      chain.encode(layout, y, part);
      gold_ptr.push_back(static_cast<std::int64_t>(part.size()));
      label.insert(label.end(), y.begin(), y.end());
    }
  }

  void rebuild(FeatureRows::Kind kind) {
    blocks.assign(4, ScorerBlock{});
    FeatureRows& f = blocks[Chain::kLabel].features;
    f.kind = kind;
    f.features = D;
    f.site_ptr = site_ptr;
    f.indptr = indptr.data();
    f.indices = indices.data();
    f.values = x.data();
    std::size_t offset = 0;
    const std::size_t outcomes[] = {K, K, K, K * K};
    for (std::size_t b = 0; b < 4; ++b) {
      WeightRows& w = blocks[b].weights;
      w.present = true;
      w.offset = offset;
      w.outcomes = w.columns = outcomes[b];
      offset += outcomes[b] * (b == 0 ? D : 1);
    }
  }

  Gold gold() const { return {gold_ptr, part.data(), {}, nullptr}; }
  Cost hamming() const {
    Cost cost;
    cost.delta = delta.data();
    cost.label = label.data();
    cost.site_ptr = site_ptr;
    return cost;
  }
  Problem problem(Cost cost) const {
    return Problem(std::make_shared<RowScorer>(blocks, N, weights), oracle, gold(), cost, weight);
  }
};

using Tagging = TaggingOf<4, 8>;

// The loss of an example, written out over all label sequences.
inline double loss_by_enumeration(const Tagging& data, std::size_t i, const double* w,
                                  double margin, double eps, bool zero_one) {
  const RowScorer scorer(data.blocks, Tagging::N, Tagging::weights);
  const Layout layout = scorer.layout(i);
  std::vector<double> theta(layout.parts);
  scorer.score(i, layout, w, 1.0, theta.data());
  const std::size_t L = layout.block[0].sites;
  const auto first = static_cast<std::size_t>(data.site_ptr[i]);
  std::vector<double> values;
  double gold = 0.0;
  for (const Output& y : sequences(L, Tagging::K)) {
    std::vector<std::uint32_t> parts;
    Chain().encode(layout, y, parts);
    double score = 0.0, wrong = 0.0;
    for (const std::uint32_t j : parts) score += theta[j];
    for (std::size_t t = 0; t < L; ++t) wrong += y[t] != data.label[first + t];
    if (wrong == 0.0) gold = score;
    values.push_back(score + margin * (zero_one ? (wrong > 0.0) : wrong));
  }
  const double top = *std::max_element(values.begin(), values.end());
  if (eps == 0.0) return top - gold;
  double sum = 0.0;
  for (const double v : values) sum += std::exp((v - top) / eps);
  return top + eps * std::log(sum) - gold;
}

inline std::vector<double> random_weights(std::uint64_t seed) {
  Draw draw(seed);
  std::vector<double> w(Tagging::weights);
  for (double& v : w) v = draw.between(-1.0, 1.0);
  return w;
}

inline void test_losses() {
  Tagging data;
  Cost zero_one;
  zero_one.zero_one = true;
  for (const bool is_zero_one : {false, true}) {
    const Problem problem = data.problem(is_zero_one ? zero_one : data.hamming());
    for (const double margin : {0.0, 1.0}) {
      for (const double eps : {0.0, 0.3, 1.0, 5.0}) {
        context = "loss, margin " + std::to_string(margin) + ", temperature " +
                  std::to_string(eps) + (is_zero_one ? ", zero-one" : ", hamming");
        const std::vector<double> w = random_weights(3);
        Workspace ws;
        PartVector r;
        double sum = 0.0;
        for (std::size_t i = 0; i < Tagging::N; ++i) {
          const LossResult found =
              problem.loss(i, problem.scorer().layout(i), w.data(), 1.0, margin, eps, r, ws);
          const double right = loss_by_enumeration(data, i, w.data(), margin, eps, is_zero_one);
          CHECK_NEAR(found.loss, right, 1e-10);
          CHECK(found.loss >= -1e-12);
          sum += data.weight[i] * right;
        }
        Interrupt interrupt;
        bool complete = false;
        std::vector<double> gradient(Tagging::weights, 0.0), again = gradient;
        const double total =
            problem.total(w.data(), margin, eps, gradient.data(), 1, interrupt, &complete);
        CHECK(complete);
        CHECK_NEAR(total, sum, 1e-9);
        CHECK(problem.total(w.data(), margin, eps, again.data(), 3, interrupt, &complete) == total);
        CHECK(gradient == again);  // the same bits whatever the threads
        for (std::size_t j = 0; j < Tagging::weights; ++j) {
          const double h = 1e-5;
          std::vector<double> up = w, down = w;
          up[j] += h;
          down[j] -= h;
          const double slope =
              (problem.total(up.data(), margin, eps, nullptr, 1, interrupt, &complete) -
               problem.total(down.data(), margin, eps, nullptr, 1, interrupt, &complete)) /
              (2.0 * h);
          CHECK_NEAR(gradient[j], slope, 1e-5);
        }
      }
    }
  }
}

inline void test_scorer() {
  context = "scorer";
  Tagging data;
  const std::vector<double> w = random_weights(4);
  const RowScorer dense(data.blocks, Tagging::N, Tagging::weights);
  data.rebuild(FeatureRows::Kind::kSparse);
  const RowScorer sparse(data.blocks, Tagging::N, Tagging::weights);
  for (std::size_t i = 0; i < Tagging::N; ++i) {
    const Layout layout = dense.layout(i);
    std::vector<double> a(layout.parts), b(layout.parts);
    dense.score(i, layout, w.data(), 0.5, a.data());
    sparse.score(i, layout, w.data(), 0.5, b.data());
    for (std::size_t j = 0; j < a.size(); ++j) CHECK_NEAR(a[j], b[j], 1e-14);
    // <theta, v> = <w, A^T v>, with v dense or as a list.
    PartVector v, list;
    v.clear(true);
    list.clear(false);
    double product = 0.0;
    for (std::size_t j = 0; j < layout.parts; ++j) {
      const double value = static_cast<double>(j % 5) - 2.0;
      v.value.push_back(value);
      list.add(j, 0.5 * value);
      list.add(j, 0.5 * value);
      product += 2.0 * a[j] * value;
    }
    for (const PartVector* form : {&v, &list}) {
      std::vector<double> back(Tagging::weights, 0.0);
      sparse.scatter(i, layout, *form, 1.0, back.data());
      double dot = 0.0, norm = 0.0;
      for (std::size_t q = 0; q < back.size(); ++q) {
        dot += w[q] * back[q];
        norm += back[q] * back[q];
      }
      CHECK_NEAR(dot, product, 1e-11);
      CHECK_NEAR(dense.squared_norm(i, layout, *form), norm, 1e-10);
    }
  }
}

// With the completions as gold parts, which have values at eps > 0, the gradient stays the same.
inline void check_completed(const Problem& problem, const Tagging& data,
                            const std::vector<double>& w, double eps) {
  Workspace ws;
  PartVector p;
  std::vector<std::int64_t> ptr(1, 0);
  std::vector<std::uint32_t> part;
  std::vector<double> value;
  for (std::size_t i = 0; i < Tagging::N; ++i) {
    CHECK(problem.partial(i));
    problem.complete(i, problem.scorer().layout(i), w.data(), eps, p, ws);
    for (std::size_t n = 0; n < p.value.size(); ++n) {
      part.push_back(p.dense ? static_cast<std::uint32_t>(n) : p.index[n]);
      value.push_back(p.value[n]);
    }
    ptr.push_back(static_cast<std::int64_t>(part.size()));
  }
  const Gold gold{ptr, part.data(), {}, nullptr, value.data()};
  const Problem completed(std::make_shared<RowScorer>(data.blocks, Tagging::N, Tagging::weights),
                          data.oracle, gold, Cost{}, {});
  for (std::size_t i = 0; i < Tagging::N; ++i) {
    const Layout layout = problem.scorer().layout(i);
    PartVector before, after;
    const double loss = problem.loss(i, layout, w.data(), 1.0, 0.0, eps, before, ws).loss;
    const double tangent = completed.loss(i, layout, w.data(), 1.0, 0.0, eps, after, ws).loss;
    CHECK(eps == 0.0 ? std::abs(tangent - loss) < 1e-11 : tangent > loss);
    CHECK(before.index == after.index);
    CHECK(before.value.size() == after.value.size());
    for (std::size_t n = 0; n < before.value.size(); ++n) {
      CHECK_NEAR(after.value[n], before.value[n], 1e-12);
    }
  }
}

// Unknown labels: the clamp is the same sum over the outputs that agree with what is known.
inline void test_partial_labels() {
  Tagging data;
  const std::vector<double> w = random_weights(6);
  std::vector<std::int64_t> no_gold(Tagging::N + 1, 0);
  for (std::size_t i = 0; i < Tagging::N; ++i) {
    data.allowed_ptr.push_back(static_cast<std::int64_t>(data.allowed.size()));
    for (std::int64_t s = data.site_ptr[i]; s < data.site_ptr[i + 1]; ++s) {
      for (std::size_t k = 0; k < Tagging::K; ++k) {
        const bool known = s % 2 == 0;
        const auto label = static_cast<std::size_t>(data.label[static_cast<std::size_t>(s)]);
        data.allowed.push_back(!known || k == label);
      }
    }
  }
  const Gold gold{no_gold, nullptr, data.allowed_ptr, data.allowed.data()};
  const Problem problem(std::make_shared<RowScorer>(data.blocks, Tagging::N, Tagging::weights),
                        data.oracle, gold, Cost{}, {});
  Workspace ws;
  PartVector r;
  for (const double eps : {0.0, 1.0}) {
    context = "partial labels, temperature " + std::to_string(eps);
    for (std::size_t i = 0; i < Tagging::N; ++i) {
      const Layout layout = problem.scorer().layout(i);
      std::vector<double> theta(layout.parts);
      problem.scorer().score(i, layout, w.data(), 1.0, theta.data());
      double all = 0.0, agreeing = 0.0, top = kMinusInfinity, top_agreeing = kMinusInfinity;
      for (const Output& y : sequences(layout.block[0].sites, Tagging::K)) {
        std::vector<std::uint32_t> parts;
        Chain().encode(layout, y, parts);
        double score = 0.0;
        bool agrees = true;
        for (const std::uint32_t j : parts) {
          score += theta[j];
          if (j < layout.block[0].size()) {
            agrees &= data.allowed[static_cast<std::size_t>(data.allowed_ptr[i]) + j] != 0;
          }
        }
        all += std::exp(score);
        top = std::max(top, score);
        if (agrees) {
          agreeing += std::exp(score);
          top_agreeing = std::max(top_agreeing, score);
        }
      }
      const double right = eps == 0.0 ? top - top_agreeing : std::log(all) - std::log(agreeing);
      CHECK_NEAR(problem.loss(i, layout, w.data(), 1.0, 0.0, eps, r, ws).loss, right, 1e-11);
    }
    check_completed(problem, data, w, eps);
  }
}

}  // namespace test
