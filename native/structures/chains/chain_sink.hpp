// The receivers of the marginals of a chain's windows, block by block.
#pragma once

#include <algorithm>
#include <array>

#include "structures/chains/chain_view.hpp"

namespace structlearn {

class ChainSink {
 public:
  ChainSink(const ChainView& v, const Layout& layout, const Marginals& out) : v_(v), out_(out) {
    zero(Chain::kLabel, v.L * v.K);
    zero(Chain::kStart, v.K);
    zero(Chain::kEnd, v.K);
    for (std::size_t j = 1; j <= v.order; ++j) {
      const Block& b = layout.block[Chain::transition(j)];
      if (!b.present) continue;
      anchored_[j] = out.by_position || b.sites != 1;
      const std::size_t positions = v.L > j ? v.L - j : 0;
      zero(Chain::transition(j), (anchored_[j] ? positions : 1) * v.table[j].size);
    }
  }

  // p: the probability of each window at position t.
  void node(std::size_t t, const double* p) const {
    const std::size_t n = v_.states_at(t);
    fold(Chain::kLabel, t * v_.K, p, n, v_.K);
    if (t == 0) fold(Chain::kStart, 0, p, n, v_.K);
    if (t == v_.L - 1) fold(Chain::kEnd, 0, p, n, v_.K);
    for (std::size_t j = 1; j < v_.order && j <= t; ++j) {
      if (v_.table[j].data == nullptr) continue;
      fold(Chain::transition(j), anchored_[j] ? (t - j) * v_.table[j].size : 0, p, n,
           v_.table[j].size);
    }
  }

  // The target of the top order's marginals for position t.
  double* top(std::size_t t) const {
    double* out = out_.block[Chain::transition(v_.order)];
    return anchored_[v_.order] ? out + (t - v_.order) * v_.table[v_.order].size : out;
  }
  bool top_anchored() const { return anchored_[v_.order]; }

 private:
  void zero(std::size_t b, std::size_t n) const {
    if (out_.block[b] != nullptr) std::fill(out_.block[b], out_.block[b] + n, 0.0);
  }
  void fold(std::size_t b, std::size_t offset, const double* p, std::size_t n,
            std::size_t period) const {
    double* out = out_.block[b];
    if (out == nullptr) return;
    for (std::size_t base = 0; base < n; base += period) {
      for (std::size_t i = 0; i < period; ++i) out[offset + i] += p[base + i];
    }
  }

  const ChainView& v_;
  const Marginals& out_;
  std::array<bool, Chain::kMaxOrder + 1> anchored_{};
};

}  // namespace structlearn
