// The perceptron in whole numbers against one in doubles that knows no tricks.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tasks/tagging/integer_perceptron.hpp"
#include "tests/check.hpp"
#include "tests/example.hpp"

namespace test {

// Weights by feature and label, Viterbi, steps of 1, the sum of the weights after every sentence.
struct PlainPerceptron {
  std::size_t K, features;
  std::vector<std::vector<bool>> observed;
  std::vector<double> w, sum;  // features * K, start, end, transition
  std::vector<double> mask;    // the same places
  double steps = 0.0;

  double& at(std::vector<double>& v, std::size_t row, std::size_t k) { return v[row * K + k]; }

  std::vector<std::size_t> best(const std::vector<std::vector<std::int32_t>>& x) {
    const std::size_t L = x.size();
    std::vector<std::vector<double>> alpha(L, std::vector<double>(K));
    std::vector<std::vector<std::size_t>> from(L, std::vector<std::size_t>(K, 0));
    const auto value = [&](std::size_t row, std::size_t k) {
      return at(w, row, k) + at(mask, row, k);
    };
    for (std::size_t t = 0; t < L; ++t) {
      for (std::size_t k = 0; k < K; ++k) {
        double score = 0.0;
        for (const std::int32_t f : x[t]) score += at(w, static_cast<std::size_t>(f), k);
        if (t == 0) {
          alpha[0][k] = score + value(features, k);
          continue;
        }
        double most = kMinusInfinity;
        for (std::size_t a = 0; a < K; ++a) {
          const double v = alpha[t - 1][a] + value(features + 2 + a, k);
          if (v > most) {
            most = v;
            from[t][k] = a;
          }
        }
        alpha[t][k] = most + score;
      }
    }
    std::vector<std::size_t> y(L);
    double most = kMinusInfinity;
    for (std::size_t k = 0; k < K; ++k) {
      const double v = alpha[L - 1][k] + value(features + 1, k);
      if (v > most) {
        most = v;
        y[L - 1] = k;
      }
    }
    for (std::size_t t = L - 1; t > 0; --t) y[t - 1] = from[t][y[t]];
    return y;
  }

  // What a labelling scores, masks left out.
  template <class Label>
  double score(const std::vector<std::vector<std::int32_t>>& x, Label label) {
    double sum = at(w, features, label(0)) + at(w, features + 1, label(x.size() - 1));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (const std::int32_t f : x[t]) sum += at(w, static_cast<std::size_t>(f), label(t));
      if (t > 0) sum += at(w, features + 2 + label(t - 1), label(t));
    }
    return sum;
  }

  // Whether a step was taken, and the loss before it.
  std::pair<bool, double> learn(const std::vector<std::vector<std::int32_t>>& x,
                                const std::vector<std::int32_t>& gold, bool boundaries) {
    const std::vector<std::size_t> y = best(x);
    const auto right = [&](std::size_t t) { return static_cast<std::size_t>(gold[t]); };
    const double loss = score(x, [&](std::size_t t) { return y[t]; }) - score(x, right);
    std::size_t wrong = 0;
    const auto step = [&](auto label, double d) {
      for (std::size_t t = 0; t < x.size(); ++t) {
        const auto k = static_cast<std::size_t>(label(t));
        for (const std::int32_t f : x[t]) {
          const auto row = static_cast<std::size_t>(f);
          if (observed[row][k]) at(w, row, k) += d;
        }
        if (t > 0) at(w, features + 2 + static_cast<std::size_t>(label(t - 1)), k) += d;
        if (boundaries && t == 0) at(w, features, k) += d;
        if (boundaries && t + 1 == x.size()) at(w, features + 1, k) += d;
      }
    };
    for (std::size_t t = 0; t < x.size(); ++t) wrong += y[t] != static_cast<std::size_t>(gold[t]);
    if (wrong > 0) {
      step([&](std::size_t t) { return gold[t]; }, 1.0);
      step([&](std::size_t t) { return y[t]; }, -1.0);
    }
    steps += 1.0;
    for (std::size_t i = 0; i < w.size(); ++i) sum[i] += w[i];
    return {wrong > 0, loss};
  }
};

inline void test_integer_perceptron() {
  Draw draw(9);
  for (int trial = 0; trial < 60; ++trial) {
    context = "integer perceptron " + std::to_string(trial);
    const std::size_t K = trial % 3 == 0 ? 9 + draw.below(140) : 1 + draw.below(9);
    const std::size_t features = 1 + draw.below(12);
    const bool boundaries = draw.chance(0.7), masked = draw.chance(0.5);
    PlainPerceptron plain{K, features, {}, {}, {}, {}};
    plain.w.assign((features + 2 + K) * K, 0.0);
    plain.sum = plain.mask = plain.w;
    // Some features with all labels, some with few: both kinds of storage.
    std::vector<std::uint32_t> row_ptr{0}, column;
    for (std::size_t f = 0; f < features; ++f) {
      plain.observed.emplace_back(K, false);
      const double share = draw.chance(0.4) ? 1.0 : 0.15;
      for (std::uint32_t k = 0; k < K; ++k) {
        if (!draw.chance(share)) continue;
        plain.observed[f][k] = true;
        column.push_back(k);
      }
      row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
    }
    // Label 0 is always legal, so that every sentence has a labelling.
    std::vector<double> start(K, 0.0), end(K, 0.0), transition(K * K, 0.0);
    if (masked) {
      for (std::size_t a = 1; a < K; ++a) {
        if (draw.chance(0.3)) start[a] = plain.mask[features * K + a] = kMinusInfinity;
        if (draw.chance(0.3)) end[a] = plain.mask[(features + 1) * K + a] = kMinusInfinity;
        for (std::size_t b = 1; b < K; ++b) {
          if (!draw.chance(0.4)) continue;
          transition[a * K + b] = plain.mask[(features + 2 + a) * K + b] = kMinusInfinity;
        }
      }
    }
    IntegerPerceptron::Layout layout{row_ptr, column.data(), nullptr, K, boundaries, {}, {}, {}};
    if (masked) {
      layout.start_mask = start;
      layout.end_mask = end;
      layout.transition_mask = transition;
    }
    // Rows that are filled up: the fillers stay zero.
    const bool filled = K >= 4 && draw.chance(0.3);
    std::vector<std::uint8_t> real;
    if (filled) {
      row_ptr.assign(1, 0);
      column.clear();
      for (std::size_t f = 0; f < features; ++f) {
        for (std::uint32_t k = 0; k < K; ++k) {
          column.push_back(k);
          real.push_back(plain.observed[f][k]);
        }
        row_ptr.push_back(static_cast<std::uint32_t>(column.size()));
      }
      layout.row_ptr = row_ptr;
      layout.column = column.data();
      layout.real = real.data();
    }
    auto learner = std::make_unique<IntegerPerceptron>(layout);
    std::vector<std::int64_t> sentence{0}, begin{0};
    std::vector<std::int32_t> feature, gold;
    std::vector<std::vector<std::vector<std::int32_t>>> xs;
    std::vector<std::vector<std::int32_t>> ys;
    const std::size_t n = 3 + draw.below(6);
    for (std::size_t s = 0; s < n; ++s) {
      xs.emplace_back();
      ys.emplace_back();
      for (std::size_t t = 1 + draw.below(6); t > 0; --t) {
        xs.back().emplace_back();
        for (std::size_t j = draw.below(5); j > 0; --j) {
          xs.back().back().push_back(static_cast<std::int32_t>(draw.below(features)));
          feature.push_back(xs.back().back().back());
        }
        begin.push_back(static_cast<std::int64_t>(feature.size()));
        ys.back().push_back(static_cast<std::int32_t>(draw.below(K)));
        gold.push_back(ys.back().back());
      }
      sentence.push_back(static_cast<std::int64_t>(gold.size()));
    }
    IntegerPerceptron::Batch batch;
    learner->read({sentence, begin, feature, gold}, batch);
    if (trial % 3 == 1) {  // weights about as large as 16 bits hold, for one of them or for sums
      const std::size_t sums = draw.chance(0.3) ? 1 : std::max<std::size_t>(1, batch.most_full);
      const std::int32_t large = 32767 / static_cast<int>(sums) * (draw.chance(0.5) ? 1 : -1);
      std::vector<std::int32_t> v(learner->weights());
      std::size_t at = 0;
      for (std::size_t f = 0; f < features; ++f) {
        for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q, ++at) {
          if (!plain.observed[f][column[q]]) continue;
          v[at] = large;
          plain.at(plain.w, f, column[q]) = large;
        }
      }
      const std::vector<std::int64_t> behind(v.size(), 0);
      learner->load(v, behind, 0);
    }
    Interrupt interrupt;
    for (int epoch = 0; epoch < 4; ++epoch) {
      std::vector<std::int64_t> order;
      for (std::size_t s = 0; s < n; ++s) order.push_back(static_cast<std::int64_t>(draw.below(n)));
      if (epoch == 2) {  // another one goes on from what the first has left
        std::vector<std::int32_t> v(learner->weights());
        std::vector<std::int64_t> behind(learner->weights());
        learner->save(v, behind);
        auto other = std::make_unique<IntegerPerceptron>(layout);
        other->load(v, behind, learner->steps());
        learner = std::move(other);
      }
      const EpochReport report = learner->epoch(batch, order, interrupt);
      std::size_t updates = 0;
      double loss = 0.0;
      for (const std::int64_t number : order) {
        const auto s = static_cast<std::size_t>(number);
        const auto [wrong, lost] = plain.learn(xs[s], ys[s], boundaries);
        updates += wrong;
        loss += lost;
      }
      CHECK(report.complete && report.seen == n && report.updates == updates);
      CHECK(report.loss == loss);
    }
    IntegerPerceptron& fast = *learner;
    std::vector<double> last(fast.weights()), mean(fast.weights());
    fast.last(last);
    fast.mean(mean);
    std::size_t i = 0;
    const auto compare = [&](std::size_t row, std::size_t k) {
      CHECK(last[i] == plain.w[row * K + k]);
      CHECK(mean[i] == plain.sum[row * K + k] / plain.steps);
      ++i;
    };
    for (std::size_t f = 0; f < features; ++f) {
      for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) compare(f, column[q]);
    }
    for (std::size_t row = features + (boundaries ? 0 : 2); row < features + 2 + K; ++row) {
      for (std::size_t k = 0; k < K; ++k) compare(row, k);
    }
    CHECK(i == fast.weights());
    interrupt.request();
    const std::vector<std::int64_t> one{0};
    const EpochReport stopped = fast.epoch(batch, one, interrupt);
    CHECK(!stopped.complete && stopped.seen == 0);
  }
  std::vector<std::uint32_t> rows{0};
  CHECK_THROWS(std::invalid_argument,
               IntegerPerceptron({rows, nullptr, nullptr, 0, true, {}, {}, {}}));
}

}  // namespace test
