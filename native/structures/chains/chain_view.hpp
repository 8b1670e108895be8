// One example of a chain, with computed strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "structures/chains/chain.hpp"

namespace structlearn {

struct ChainView {
  std::size_t L, K;
  std::size_t order = 0;   // the highest order with a table
  std::size_t states = 1;  // K^order
  std::size_t stay = 1;    // K^(order-1): the windows that stay when the oldest label leaves
  const double *label, *start, *end;
  struct Table {
    const double* data = nullptr;
    std::size_t stride = 0;  // from a position to the next; 0 if shared
    std::size_t size = 0;    // K^(j+1)
  };
  std::array<Table, Chain::kMaxOrder + 1> table;

  ChainView(const Layout& layout, const Scores& scores)
      : L(layout.block[Chain::kLabel].sites),
        K(layout.block[Chain::kLabel].outcomes),
        label(scores.block[Chain::kLabel]),
        start(scores.block[Chain::kStart]),
        end(scores.block[Chain::kEnd]) {
    std::size_t size = K;
    for (std::size_t j = 1; j <= Chain::kMaxOrder; ++j) {
      const Block& b = layout.block[Chain::transition(j)];
      if (!b.present) continue;
      order = j;
    }
    for (std::size_t j = 1; j <= order; ++j) {
      stay = size / K;
      states = size;
      size *= K;
      const Block& b = layout.block[Chain::transition(j)];
      if (b.present) {
        table[j] = {scores.block[Chain::transition(j)], b.sites == 1 ? 0 : size, size};
      }
    }
    if (order == 0) states = K;
  }

  // Turns a chain without transitions into one of the first order, with a table of `zeros`.
  void need_transitions(std::vector<double>& zeros) {
    if (order > 0) return;
    zeros.assign(K * K, 0.0);
    order = 1;
    table[1] = {zeros.data(), 0, K * K};
  }

  // The order of the windows at position t, at least 1 label long.
  std::size_t states_at(std::size_t t) const {
    std::size_t n = K;
    for (std::size_t j = 1; j < std::min(t + 1, order); ++j) n *= K;
    return n;
  }
  // The table of order j for the window that ends at position t >= j.
  const double* at(std::size_t j, std::size_t t) const {
    return table[j].data + (t - j) * table[j].stride;
  }
  const double* top(std::size_t t) const { return at(order, t); }

  // out[s] += all scores of window s at position t except the top order.
  void add_node(std::size_t t, double* out) const {
    const std::size_t n = states_at(t);
    add_cyclic(label + t * K, K, out, n);
    if (t == 0 && start != nullptr) add_cyclic(start, K, out, n);
    if (t == L - 1 && end != nullptr) add_cyclic(end, K, out, n);
    for (std::size_t j = 1; j < order && j <= t; ++j) {
      if (table[j].data != nullptr) add_cyclic(at(j, t), table[j].size, out, n);
    }
  }

 private:
  // The newest labels vary fastest, so a table over the last labels repeats along the states.
  static void add_cyclic(const double* x, std::size_t period, double* out, std::size_t n) {
    for (std::size_t base = 0; base < n; base += period) {
      for (std::size_t i = 0; i < period; ++i) out[base + i] += x[i];
    }
  }
};

// The parts of the first labels of an output: all parts if y is a whole output.
inline void encode_prefix(const Layout& layout, std::span<const std::int32_t> y,
                          std::vector<std::uint32_t>& parts) {
  const std::size_t L = layout.block[Chain::kLabel].sites, n = y.size();
  const std::size_t K = layout.block[Chain::kLabel].outcomes;
  const auto push = [&parts](std::size_t i) { parts.push_back(static_cast<std::uint32_t>(i)); };
  for (std::size_t t = 0; t < n; ++t) {
    push(layout.block[Chain::kLabel].offset + t * K + static_cast<std::size_t>(y[t]));
  }
  if (layout.block[Chain::kStart].present) {
    push(layout.block[Chain::kStart].offset + static_cast<std::size_t>(y[0]));
  }
  if (layout.block[Chain::kEnd].present && n == L) {
    push(layout.block[Chain::kEnd].offset + static_cast<std::size_t>(y[L - 1]));
  }
  for (std::size_t j = 1; j <= Chain::kMaxOrder; ++j) {
    const Block& b = layout.block[Chain::transition(j)];
    if (!b.present) continue;
    for (std::size_t t = j; t < n; ++t) {
      std::size_t window = 0;
      for (std::size_t i = t - j; i <= t; ++i) window = window * K + static_cast<std::size_t>(y[i]);
      push(b.offset + (b.sites == 1 ? 0 : (t - j) * b.outcomes) + window);
    }
  }
}

}  // namespace structlearn
