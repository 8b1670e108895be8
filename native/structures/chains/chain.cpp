#include "structures/chains/chain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/chain_view.hpp"
#include "structures/lazy_kbest.hpp"

namespace structlearn {

void Chain::check(const Layout& layout) const {
  const Block& label = layout.block[kLabel];
  const std::size_t L = label.sites, K = label.outcomes;
  if (!label.present || L == 0 || K == 0) {
    throw std::invalid_argument(
        "label must have shape (L, K) with at least one position and one label");
  }
  for (std::size_t b : {kStart, kEnd}) {
    if (layout.block[b].present && layout.block[b].outcomes != K) {
      throw std::invalid_argument(std::string(b == kStart ? "start" : "end") +
                                  " must have shape (K,) = (" + std::to_string(K) +
                                  ",) to go with label");
    }
  }
  std::size_t size = K;
  for (std::size_t j = 1; j <= kMaxOrder; ++j) {
    const Block& b = layout.block[transition(j)];
    if (size > (std::size_t{1} << 40) / K && b.present) {
      throw std::invalid_argument("a transition of order " + std::to_string(j) + " over " +
                                  std::to_string(K) + " labels is too large");
    }
    size *= K;
    if (!b.present) continue;
    const std::size_t positions = L > j ? L - j : 0;
    if (b.outcomes != size || b.sites != (b.anchored ? positions : 1)) {
      throw std::invalid_argument(
          "a transition of order " + std::to_string(j) + " must have shape (K,)*" +
          std::to_string(j + 1) + ", or that with " + std::to_string(positions) +
          " positions in front; label has L = " + std::to_string(L) + ", K = " + std::to_string(K));
    }
  }
}

namespace {

enum class ChainScratch { kAlpha, kArrived, kRow, kNode };

// Labels of the window s at position t into y[..t].
void unpack(std::size_t s, std::size_t t, std::size_t count, std::size_t K, Output& y) {
  for (std::size_t i = 0; i < count; ++i) {
    y[t - i] = static_cast<std::int32_t>(s % K);
    s /= K;
  }
}

// Rows for all positions: alpha[t][s] the best score of a prefix that ends in the window s, and
// arrived[t][s] the same before adding the scores of position t itself.
struct Trellis {
  double *alpha, *arrived;
};

Trellis viterbi(const ChainView& v, Workspace& ws) {
  double* alpha = ws.real(ChainScratch::kAlpha, v.L * v.states);
  double* arrived = ws.real(ChainScratch::kArrived, v.L * v.states);
  std::fill(alpha, alpha + v.states, 0.0);
  v.add_node(0, alpha);
  const Kernels& kernel = kernels();
  for (std::size_t t = 1; t < v.L; ++t) {
    const double* before = alpha + (t - 1) * v.states;
    double* now = alpha + t * v.states;
    if (t < v.order) {  // the window is still growing
      const std::size_t n = v.states_at(t - 1);
      for (std::size_t s = 0; s < n; ++s) std::fill_n(now + s * v.K, v.K, before[s]);
    } else {
      double* best = arrived + t * v.states;
      kernel.max_step(before, v.top(t), best, v.K, v.stay, v.K);
      std::copy(best, best + v.states, now);
    }
    v.add_node(t, now);
  }
  return {alpha, arrived};
}

double argmax_independent(const ChainView& v, Output& y, Workspace& ws) {
  double* row = ws.real(ChainScratch::kRow, v.K);
  double value = 0.0;
  for (std::size_t t = 0; t < v.L; ++t) {
    std::fill(row, row + v.K, 0.0);
    v.add_node(t, row);
    const std::size_t k = first_max(row, v.K);
    y[t] = static_cast<std::int32_t>(k);
    value += row[k];
  }
  return value;
}

}  // namespace

double Chain::argmax(const Layout& layout, const Scores& scores, Output& y, Workspace& ws) const {
  const ChainView v(layout, scores);
  y.resize(v.L);
  if (v.order == 0) return argmax_independent(v, y, ws);
  const auto [alpha, arrived] = viterbi(v, ws);
  std::size_t t = v.L - 1;
  const double* last = alpha + t * v.states;
  std::size_t s = first_max(last, v.states_at(t));
  const double value = last[s];
  if (value == kMinusInfinity) return value;
  unpack(s, t, std::min(v.L, v.order), v.K, y);
  // Back-pointers are not stored: traceback finds the first label that gives the stored maximum,
  // which costs K per position, while storing would cost K^2.
  for (; t >= v.order && t > 0; --t) {
    const std::size_t r = s / v.K;
    const double* before = alpha + (t - 1) * v.states + r;
    const double* T = v.top(t) + r * v.K + s % v.K;
    const double best = arrived[t * v.states + s];
    std::size_t k1 = 0;
    while (k1 + 1 < v.K && before[k1 * v.stay] + T[k1 * v.states] != best) ++k1;
    y[t - v.order] = static_cast<std::int32_t>(k1);
    s = k1 * v.stay + r;
  }
  return value;
}

void Chain::encode(const Layout& layout, std::span<const std::int32_t> y,
                   std::vector<std::uint32_t>& parts) const {
  encode_prefix(layout, y, parts);
}

namespace {

// The trellis as a forest. Node t * states + s is the window s at position t; the last node is the
// root.
struct WindowForest {
  const ChainView& v;
  const double *alpha, *node;

  std::uint64_t root() const { return v.L * v.states; }
  double best(std::uint64_t at) const { return alpha[at]; }  // never called for the root
  std::uint32_t ways(std::uint64_t at) const {
    if (at == root()) return static_cast<std::uint32_t>(v.states_at(v.L - 1));
    const std::size_t t = at / v.states;
    return static_cast<std::uint32_t>(t > 0 && t >= v.order ? v.K : 1);
  }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const std::size_t t = at / v.states, s = at % v.states, r = s / v.K;
    tails.clear();
    if (at == root()) {
      tails = {(v.L - 1) * v.states + e};
      return 0.0;
    }
    if (t == 0) return node[at];
    const std::size_t from = t < v.order ? r : e * v.stay + r;
    tails = {(t - 1) * v.states + from};
    return t < v.order ? node[at] : v.top(t)[from * v.K + s % v.K] + node[at];
  }
};

}  // namespace

std::vector<std::pair<double, Output>> Chain::kbest(const Layout& layout, const Scores& scores,
                                                    std::size_t n, Workspace& ws) const {
  ChainView v(layout, scores);
  std::vector<double> zeros;
  v.need_transitions(zeros);  // windows must meet somewhere
  double* node = ws.real(ChainScratch::kNode, v.L * v.states);
  std::fill(node, node + v.L * v.states, 0.0);
  for (std::size_t t = 0; t < v.L; ++t) v.add_node(t, node + t * v.states);
  const WindowForest forest{v, viterbi(v, ws).alpha, node};
  return kbest_outputs(forest, forest.root(), n, Output(v.L),
                       [&](std::uint64_t at, std::uint32_t, Output& y) {
                         if (at == forest.root()) return;
                         y[at / v.states] = static_cast<std::int32_t>(at % v.states % v.K);
                       });
}

}  // namespace structlearn
