// The chart of a grammar: maxima, or logarithms of sums, of every symbol over every span.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "numeric/elementary.hpp"
#include "structures/trees/grammar_trees.hpp"

namespace structlearn {

// The arrays of a workspace for trees of a grammar: the chart, and the masses of sums.
enum class GrammarScratch { kBase, kTop, kMass };

class GrammarChart {
 public:
  std::size_t n, m, R, N;  // words, ends, symbols, names

  // eps = 0: maxima; above it eps log sum exp(score / eps). In a workspace's kBase and kTop.
  GrammarChart(const GrammarTrees& trees, const Layout& layout, const Scores& scores, double eps,
               Workspace& ws)
      : n(layout.block[GrammarTrees::kWord].sites),
        m(n + 1),
        R(trees.grammar().symbols),
        N(trees.grammar().names),
        trees_(trees),
        g_(trees.grammar()),
        word_(scores.block[GrammarTrees::kWord]),
        span_(read_spans(layout, scores)),
        binary_(scores.block[GrammarTrees::kBinary]),
        unary_(scores.block[GrammarTrees::kUnary]),
        root_(scores.block[GrammarTrees::kRoot]),
        eps_(eps),
        base_(ws.real(GrammarScratch::kBase, n * m * R)),
        top_(ws.real(GrammarScratch::kTop, n * m * R)),
        live_(n * m),
        largest_(R),
        sum_(R) {
    chain_score_.resize(g_.chain_ptr.size() - 1);
    for (std::size_t c = 0; c < chain_score_.size(); ++c) {
      for (std::size_t r = g_.chain_ptr[c]; r < g_.chain_ptr[c + 1]; ++r) {
        chain_score_[c] += unary_ ? unary_[g_.chain_rule[r]] : 0.0;
      }
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j <= n; ++j) fill(i, j);
    }
  }

  const double* base(std::size_t i, std::size_t j) const { return base_ + (i * m + j) * R; }
  const double* top(std::size_t i, std::size_t j) const { return top_ + (i * m + j) * R; }

  // Calls f(symbol, score) for every symbol that stands for the word itself.
  template <class F>
  void words(std::size_t i, F&& f) const {
    for (std::size_t a = 0; a < R; ++a) {
      const double x = word_[i * R + a] + at_span(i, i + 1, a);
      if (x > kMinusInfinity) f(a, x);
    }
  }

  // Calls f(split, rule, score) for every use of a binary rule over i..j, splits in order.
  template <class F>
  void rules(std::size_t i, std::size_t j, F&& f) const {
    const auto& begin = trees_.left_begin();
    const auto& order = trees_.by_left();
    for (std::size_t k = i + 1; k < j; ++k) {
      const double *left = top(i, k), *right = top(k, j);
      for (const std::uint32_t b : live_[i * m + k]) {
        for (std::size_t at = begin[b]; at < begin[b + 1]; ++at) {
          const std::uint32_t rule = order[at];
          const auto& [a, unused, c] = g_.binary[rule];
          if (right[c] == kMinusInfinity) continue;
          double x = left[b] + right[c] + (binary_ ? binary_[rule] : 0.0);
          if (span_ != nullptr) x += at_span(i, j, a);
          if (x > kMinusInfinity) f(k, rule, x);
        }
      }
    }
  }

  // Calls f(chain, score) for every chain over i..j whose bottom is there.
  template <class F>
  void chains(std::size_t i, std::size_t j, F&& f) const {
    const auto& begin = trees_.bottom_begin();
    const auto& order = trees_.by_bottom();
    const double* from = base(i, j);
    for (std::size_t b = 0; b < R; ++b) {
      if (from[b] == kMinusInfinity) continue;
      for (std::size_t at = begin[b]; at < begin[b + 1]; ++at) {
        const std::uint32_t c = order[at];
        double x = from[b] + chain_score_[c];
        if (span_) {
          for (const std::uint32_t name : trees_.added(c)) x += span_[(i * m + j) * N + name];
        }
        if (x > kMinusInfinity) f(c, x);
      }
    }
  }

  // Calls f(symbol, score) for every symbol over all the words.
  template <class F>
  void roots(F&& f) const {
    for (std::size_t a = 0; a < R; ++a) {
      const double x = top(0, n)[a] + (root_ ? root_[a] : 0.0);
      if (x > kMinusInfinity) f(a, x);
    }
  }

  double value() const {
    double best = kMinusInfinity, sum = 0.0;
    roots([&](std::size_t, double x) { best = std::max(best, x); });
    if (eps_ == 0.0 || best == kMinusInfinity) return best;
    roots([&](std::size_t, double x) { sum += elementary::exp((x - best) / eps_); });
    return best + eps_ * elementary::log(sum);
  }

  double weight(double x, double total) const { return elementary::exp((x - total) / eps_); }
  // Whether scores are so large that weights do not add up to 1.
  bool coarse() const { return size_ > 1e6 * eps_; }

 private:
  // The scores of spans; null if all are 0.
  static const double* read_spans(const Layout& layout, const Scores& scores) {
    const double* span = scores.block[GrammarTrees::kSpan];
    const std::size_t size = layout.block[GrammarTrees::kSpan].size();
    const auto counts = [](double x) { return x != 0.0; };
    return span != nullptr && std::any_of(span, span + size, counts) ? span : nullptr;
  }

  double at_span(std::size_t i, std::size_t j, std::size_t a) const {
    return span_ && g_.name[a] != Grammar::kNameless ? span_[(i * m + j) * N + g_.name[a]] : 0.0;
  }

  // out[a] = max, or log sum, over the pairs (a, score) from `each`.
  template <class Each>
  void gather(double* out, Each&& each) {
    std::fill(out, out + R, kMinusInfinity);
    each([&](std::size_t a, double x) { out[a] = std::max(out[a], x); });
    if (eps_ == 0.0) return;
    std::copy(out, out + R, largest_.begin());
    std::fill(sum_.begin(), sum_.end(), 0.0);
    each([&](std::size_t a, double x) { sum_[a] += elementary::exp((x - largest_[a]) / eps_); });
    for (std::size_t a = 0; a < R; ++a) {
      if (out[a] == kMinusInfinity) continue;
      out[a] += eps_ * elementary::log(sum_[a]);
      size_ = std::max(size_, std::abs(out[a]));
    }
  }

  void fill(std::size_t i, std::size_t j) {
    double* base = base_ + (i * m + j) * R;
    gather(base, [&](auto&& put) {
      if (j == i + 1) {
        words(i, put);
      } else {
        rules(i, j, [&](std::size_t, std::uint32_t rule, double x) { put(g_.binary[rule][0], x); });
      }
    });
    double* top = top_ + (i * m + j) * R;
    gather(top, [&](auto&& put) {
      for (std::size_t a = 0; a < R; ++a) {
        if (base[a] > kMinusInfinity) put(a, base[a]);
      }
      chains(i, j, [&](std::uint32_t c, double x) { put(trees_.top(c), x); });
    });
    auto& live = live_[i * m + j];
    for (std::uint32_t a = 0; a < R; ++a) {
      if (top[a] > kMinusInfinity) live.push_back(a);
    }
  }

  const GrammarTrees& trees_;
  const Grammar& g_;
  const double *word_, *span_, *binary_, *unary_, *root_;
  double eps_, size_ = 0.0;
  double *base_, *top_;
  std::vector<std::vector<std::uint32_t>> live_;  // symbols that a span can have
  std::vector<double> largest_, sum_, chain_score_;
};

}  // namespace structlearn
