// Random scores for a structure, and every output with its score: the truth to compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/random.hpp"
#include "structures/chains/chain.hpp"
#include "structures/structure.hpp"

namespace test {

using namespace structlearn;

struct Draw {
  Random random;
  explicit Draw(std::uint64_t seed) : random(seed, 0) {}
  double between(double low, double high) { return low + (high - low) * random.uniform(); }
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random.uniform() * static_cast<double>(n));
  }
  bool chance(double p) { return random.uniform() < p; }
};

struct Example {
  Layout layout;
  std::vector<double> theta;
  std::vector<Output> outputs;
  std::vector<double> values;           // of the outputs
  std::vector<std::vector<double>> mu;  // counts of their parts

  Scores scores() const {
    Scores s;
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      if (layout.block[b].present) s.block[b] = theta.data() + layout.block[b].offset;
    }
    return s;
  }
  double best() const { return *std::max_element(values.begin(), values.end()); }
  std::size_t legal() const {
    return static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [](double x) { return x > kMinusInfinity; }));
  }
  // eps log sum exp(value / eps), and its gradient.
  double infer(double eps, std::vector<double>& p) const {
    const double top = best();
    p.assign(theta.size(), 0.0);
    if (top == kMinusInfinity) return top;
    double sum = 0.0;
    for (const double x : values) sum += std::exp((x - top) / eps);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double share = std::exp((values[i] - top) / eps) / sum;
      for (std::size_t j = 0; j < p.size(); ++j) p[j] += share * mu[i][j];
    }
    return top + eps * std::log(sum);
  }
  double value_of(const Output& y) const {
    const auto at = std::find(outputs.begin(), outputs.end(), y);
    return at == outputs.end() ? std::nan("")
                               : values[static_cast<std::size_t>(at - outputs.begin())];
  }
  double size() const {
    double most = 1.0;
    for (const double x : theta) {
      if (std::isfinite(x)) most = std::max(most, std::abs(x));
    }
    return most;
  }
  void add_up() {
    values.assign(outputs.size(), 0.0);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (std::size_t j = 0; j < theta.size(); ++j) {
        if (mu[i][j] != 0.0) values[i] += mu[i][j] * theta[j];
      }
    }
  }
};

// All K^L label sequences.
inline std::vector<Output> sequences(std::size_t L, std::size_t K) {
  std::vector<Output> result{Output{}};
  for (std::size_t t = 0; t < L; ++t) {
    std::vector<Output> longer;
    for (const Output& y : result) {
      for (std::size_t k = 0; k < K; ++k) {
        longer.push_back(y);
        longer.back().push_back(static_cast<std::int32_t>(k));
      }
    }
    result = std::move(longer);
  }
  return result;
}

inline void draw_theta(Example& e, Draw& draw, double scale, double forbidden) {
  e.theta.resize(e.layout.parts);
  for (double& x : e.theta) {
    x = draw.chance(forbidden) ? kMinusInfinity : scale * draw.between(-1.0, 1.0);
  }
}

struct ChainShape {
  std::size_t L, K, order;
  bool anchored, ends, lower;
};

// A chain with everything written out: the parts of each output are found from the labels here,
// not by the core's encode.
inline Example make_chain(const ChainShape& s, Draw& draw, double scale, double forbidden) {
  Example e;
  e.layout.add(Chain::kLabel, s.L, s.K, true);
  if (s.ends) {
    e.layout.add(Chain::kStart, 1, s.K, false);
    e.layout.add(Chain::kEnd, 1, s.K, false);
  }
  std::size_t size = s.K;
  for (std::size_t j = 1; j <= s.order; ++j) {
    size *= s.K;
    if (j < s.order && !s.lower) continue;
    const std::size_t positions = s.L > j ? s.L - j : 0;
    e.layout.add(Chain::transition(j), s.anchored ? positions : 1, size, s.anchored);
  }
  draw_theta(e, draw, scale, forbidden);
  e.outputs = sequences(s.L, s.K);
  for (const Output& y : e.outputs) {
    std::vector<double> mu(e.layout.parts, 0.0);
    const auto label = [&](std::size_t t) { return static_cast<std::size_t>(y[t]); };
    for (std::size_t t = 0; t < s.L; ++t) mu[t * s.K + label(t)] += 1.0;
    if (s.ends) {
      mu[e.layout.block[Chain::kStart].offset + label(0)] += 1.0;
      mu[e.layout.block[Chain::kEnd].offset + label(s.L - 1)] += 1.0;
    }
    for (std::size_t j = 1; j <= s.order; ++j) {
      const Block& b = e.layout.block[Chain::transition(j)];
      for (std::size_t t = j; b.present && t < s.L; ++t) {
        std::size_t at = 0;
        for (std::size_t i = t - j; i <= t; ++i) at = at * s.K + label(i);
        mu[b.offset + (s.anchored ? (t - j) * b.outcomes : 0) + at] += 1.0;
      }
    }
    e.mu.push_back(std::move(mu));
  }
  e.add_up();
  return e;
}

inline Example make_multiclass(std::size_t K, Draw& draw, double scale, double forbidden) {
  Example e;
  e.layout.add(0, 1, K, false);
  draw_theta(e, draw, scale, forbidden);
  e.outputs = sequences(1, K);
  for (std::size_t k = 0; k < K; ++k) {
    e.mu.emplace_back(K, 0.0);
    e.mu.back()[k] = 1.0;
  }
  e.add_up();
  return e;
}

}  // namespace test
