// Forward-backward for chains, and samples from the distribution.
//
// The fast path works with exponentials, alpha normalised to sum one at each position (Rabiner
// 1989), so that a position costs K^(m+1) multiply-adds and K^m exponentials. A prefix whose weight
// falls below 1e-250 of its position's total may still matter later, when the rest is forbidden; if
// that happens, the whole example is redone with logarithms.
#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/chain_sink.hpp"
#include "structures/chains/chain_view.hpp"
#include "structures/chains/shared_table.hpp"

namespace structlearn {
namespace {

// A step that loses more than this is not trusted either: what underflowed inside it (below 1e-306)
// must stay far below the smallest weight kept.
constexpr double kSmallStep = 1e-40;

struct Forward {
  bool legal = true;   // some output has a finite score
  bool scaled = true;  // exponentials, not logarithms
  double log_z = 0.0;  // log sum exp(score / eps)
  double* alpha;       // (L, states): weights summing to one, or logarithms
  double* node;        // (L, states): exp of the node scores over eps, shifted; or plain over eps
  double* scale;       // (L): the sum that alpha was divided by
  const double* E;     // exp of the shared top table, shifted; null if it is not shared
};

enum class ChainMarginalScratch {
  kAlpha,
  kNode,
  kScale,
  kTable,
  kBeta,
  kBack,
  kBackBefore,
  kState,
  kReached,
  kReachedBefore
};

double largest(const double* x, std::size_t n) {
  return kernels().largest(x, n);
}

void node_scores(const ChainView& v, std::size_t t, double* out) {
  std::fill(out, out + v.states_at(t), 0.0);
  v.add_node(t, out);
}

// The exponentials of the top table for position t, and the shift taken out of it.
const double* exp_table(const ChainView& v, std::size_t t, double eps, const Forward& f,
                        double shared_shift, double* shift, Workspace& ws) {
  if (f.E != nullptr) {
    *shift = shared_shift;
    return f.E;
  }
  const std::size_t size = v.table[v.order].size;
  const auto [E, top] =
      exponentials(v.top(t), size, eps, ws.real(ChainMarginalScratch::kTable, size));
  *shift = top;
  return E;
}

// Marks the windows in which some legal prefix ends; exact, and cheap compared to the sums.
void advance_reachable(const ChainView& v, std::size_t t, const double* node_t,
                       std::uint8_t* before, std::uint8_t* now) {
  const std::size_t n = v.states_at(t);
  std::fill(now, now + n, std::uint8_t{0});
  if (t < v.order) {
    for (std::size_t s = 0; s < n / v.K; ++s) std::fill_n(now + s * v.K, v.K, before[s]);
  } else {
    const double* T = v.top(t);
    for (std::size_t from = 0; from < v.states; ++from) {
      if (!before[from]) continue;
      std::uint8_t* row = now + (from % v.stay) * v.K;
      for (std::size_t k = 0; k < v.K; ++k) row[k] |= T[from * v.K + k] > kMinusInfinity;
    }
  }
  for (std::size_t s = 0; s < n; ++s) now[s] &= node_t[s] > kMinusInfinity;
}

// False: a weight became too small for exponentials.
bool forward_scaled(const ChainView& v, double eps, Forward& f, double* shared_shift,
                    Workspace& ws) {
  const double inverse = 1.0 / eps;
  f.scaled = true;
  f.legal = true;
  f.log_z = 0.0;
  f.E = nullptr;
  *shared_shift = 0.0;
  const std::size_t table_size = v.table[v.order].size;
  if (v.table[v.order].stride == 0 && v.L > v.order) {
    const auto [E, top] = shared_exponentials(v.table[v.order].data, table_size, eps, ws);
    *shared_shift = top;
    if (top == kMinusInfinity) {
      f.legal = false;
      return true;
    }
    f.E = E;
  }
  std::uint8_t* before = ws.flag(ChainMarginalScratch::kReachedBefore, v.states);
  std::uint8_t* now = ws.flag(ChainMarginalScratch::kReached, v.states);
  bool all_reachable = true;  // every window with a legal label so far had weight
  for (std::size_t t = 0; t < v.L; ++t) {
    const std::size_t n = v.states_at(t);
    double* alpha = f.alpha + t * v.states;
    double* node = f.node + t * v.states;
    node_scores(v, t, node);
    const double top = largest(node, n);
    if (top == kMinusInfinity) {
      f.legal = false;
      return true;
    }
    kernels().exp_shifted(node, n, top, inverse, node);
    double shift = 0.0;
    if (t == 0) {
      std::fill(alpha, alpha + n, 1.0);
    } else {
      const double* previous = f.alpha + (t - 1) * v.states;
      if (t < v.order) {
        for (std::size_t s = 0; s < n / v.K; ++s) std::fill_n(alpha + s * v.K, v.K, previous[s]);
      } else {
        const double* E = exp_table(v, t, eps, f, *shared_shift, &shift, ws);
        if (shift == kMinusInfinity) {
          f.legal = false;
          return true;
        }
        kernels().sum_step(previous, E, alpha, v.K, v.stay, v.K);
      }
    }
    double least;
    const double sum = kernels().multiply_sum(alpha, node, n, &least);
    // Windows without weight: forbidden, or underflowed? As long as all have weight, none
    // underflowed.
    const bool small = !(least > kTooSmall * sum);
    if (small && all_reachable) {
      all_reachable = false;
      if (t > 0) {
        const double* previous = f.alpha + (t - 1) * v.states;
        for (std::size_t s = 0; s < v.states_at(t - 1); ++s) before[s] = previous[s] > 0.0;
      }
    }
    if (!all_reachable) {
      // The plain scores show what is forbidden; their exponentials may have underflowed.
      double* plain = ws.real(ChainMarginalScratch::kState, n);
      node_scores(v, t, plain);
      if (t == 0) {
        for (std::size_t s = 0; s < n; ++s) now[s] = plain[s] > kMinusInfinity;
      } else {
        advance_reachable(v, t, plain, before, now);
      }
      bool any = false;
      for (std::size_t s = 0; s < n; ++s) {
        any |= now[s] != 0;
        if (now[s] && !(alpha[s] > kTooSmall * sum)) return false;
      }
      if (!any) {
        f.legal = false;
        return true;
      }
      std::swap(before, now);
    }
    if (!(sum > kSmallStep)) return false;
    kernels().scale(1.0 / sum, alpha, n);
    f.scale[t] = sum;
    f.log_z += elementary::log(sum) + (top + shift) * inverse;
  }
  return true;
}

void forward_log(const ChainView& v, double eps, Forward& f) {
  const double inverse = 1.0 / eps;
  f.scaled = false;
  f.E = nullptr;
  for (std::size_t t = 0; t < v.L; ++t) {
    const std::size_t n = v.states_at(t);
    double* alpha = f.alpha + t * v.states;
    double* node = f.node + t * v.states;
    node_scores(v, t, node);
    for (std::size_t s = 0; s < n; ++s) node[s] *= inverse;
    if (t == 0) {
      std::copy(node, node + n, alpha);
      continue;
    }
    const double* previous = f.alpha + (t - 1) * v.states;
    if (t < v.order) {
      for (std::size_t s = 0; s < n; ++s) alpha[s] = previous[s / v.K] + node[s];
      continue;
    }
    for (std::size_t s = 0; s < n; ++s) {
      const double* T = v.top(t) + s % v.K;
      const double sum = log_sum(v.K, 1.0, [&](std::size_t k1) {
        const std::size_t from = k1 * v.stay + s / v.K;
        return previous[from] + T[from * v.K] * inverse;
      });
      alpha[s] = sum + node[s];
    }
  }
  const double* last = f.alpha + (v.L - 1) * v.states;
  f.log_z = log_sum(v.states_at(v.L - 1), 1.0, [&](std::size_t s) { return last[s]; });
  f.legal = f.log_z > kMinusInfinity;
}

Forward forward(const ChainView& v, double eps, double* shared_shift, Workspace& ws) {
  Forward f;
  f.alpha = ws.real(ChainMarginalScratch::kAlpha, v.L * v.states);
  f.node = ws.real(ChainMarginalScratch::kNode, v.L * v.states);
  f.scale = ws.real(ChainMarginalScratch::kScale, v.L);
  if (!forward_scaled(v, eps, f, shared_shift, ws)) forward_log(v, eps, f);
  return f;
}

void backward_scaled(const ChainView& v, double eps, const Forward& f, double shared_shift,
                     const ChainSink& sink, Workspace& ws) {
  double* beta = ws.real(ChainMarginalScratch::kBeta, v.states);
  double* p = ws.real(ChainMarginalScratch::kState, v.states);
  const std::size_t table_size = v.table[v.order].size;
  // The counts of a shared top table are one matrix product over the positions at the end; so
  // `back` is stored for all of them.
  const bool at_the_end = f.E != nullptr && !sink.top_anchored() && v.L > v.order;
  double* backs = ws.real(ChainMarginalScratch::kBack, at_the_end ? v.L * v.states : v.states);
  std::fill(beta, beta + v.states_at(v.L - 1), 1.0);
  for (std::size_t t = v.L; t-- > 0;) {
    const std::size_t n = v.states_at(t);
    const double* alpha = f.alpha + t * v.states;
    const double* node = f.node + t * v.states;
    // A window that no legal prefix reaches must not count, however good its future.
    double* back = at_the_end ? backs + t * v.states : backs;
    kernels().backward_row(alpha, node, beta, 1.0 / f.scale[t], n, p, back);
    sink.node(t, p);
    if (t == 0) break;
    const double* previous = f.alpha + (t - 1) * v.states;
    if (t < v.order) {
      for (std::size_t s = 0; s < n / v.K; ++s) {
        beta[s] = 0.0;
        for (std::size_t k = 0; k < v.K; ++k) beta[s] += back[s * v.K + k];
      }
    } else {
      double shift;
      const double* E = exp_table(v, t, eps, f, shared_shift, &shift, ws);
      if (!at_the_end) {
        double* out = sink.top(t);
        for (std::size_t from = 0; from < v.states; ++from) {
          const double* b = back + (from % v.stay) * v.K;
          for (std::size_t k = 0; k < v.K; ++k) {
            out[from * v.K + k] += previous[from] * E[from * v.K + k] * b[k];
          }
        }
      }
      kernels().sum_step_back(E, back, beta, v.K, v.stay, v.K);
    }
    for (std::size_t s = 0; s < v.states_at(t - 1); ++s) {
      if (previous[s] == 0.0) beta[s] = 0.0;
    }
  }
  if (at_the_end) {
    double* count = sink.top(v.order);
    kernels().outer_sum(f.alpha + (v.order - 1) * v.states, backs + v.order * v.states,
                        v.L - v.order, v.states, count, v.K, v.stay, v.K);
    for (std::size_t i = 0; i < table_size; ++i) count[i] *= f.E[i];
  }
}

// The probability of a window is divided among its predecessors, in proportion to the terms of its
// sum: a product of shares, which stays precise for large scores, where exp(alpha + beta - log_z)
// would be only rounding error.
void backward_log(const ChainView& v, double eps, const Forward& f, const ChainSink& sink,
                  Workspace& ws) {
  const double inverse = 1.0 / eps;
  double* p = ws.real(ChainMarginalScratch::kBeta, v.states);
  double* before = ws.real(ChainMarginalScratch::kBackBefore, v.states);
  softmax(f.alpha + (v.L - 1) * v.states, v.states_at(v.L - 1), 1.0, p);
  for (std::size_t t = v.L; t-- > 0;) {
    sink.node(t, p);
    if (t == 0) break;
    const double* previous = f.alpha + (t - 1) * v.states;
    std::fill(before, before + v.states_at(t - 1), 0.0);
    for (std::size_t s = 0; s < v.states_at(t); ++s) {
      if (p[s] == 0.0) continue;
      if (t < v.order) {
        before[s / v.K] += p[s];
        continue;
      }
      const std::size_t k = s % v.K;
      const auto from = [&](std::size_t k1) { return k1 * v.stay + s / v.K; };
      const auto term = [&](std::size_t k1) {
        return previous[from(k1)] + v.top(t)[from(k1) * v.K + k] * inverse;
      };
      for_shares(v.K, 1.0, term, [&](std::size_t k1, double share) {
        before[from(k1)] += p[s] * share;
        sink.top(t)[from(k1) * v.K + k] += p[s] * share;
      });
    }
    std::swap(p, before);
  }
}

double infer_independent(const ChainView& v, double eps, const ChainSink& sink, Workspace& ws) {
  double* row = ws.real(ChainMarginalScratch::kNode, v.K);
  double* p = ws.real(ChainMarginalScratch::kState, v.K);
  double value = 0.0;
  for (std::size_t t = 0; t < v.L; ++t) {
    node_scores(v, t, row);
    value += softmax(row, v.K, eps, p);
    sink.node(t, p);
  }
  return value;
}

}  // namespace

double Chain::infer(const Layout& layout, const Scores& scores, double eps, const Marginals& out,
                    Workspace& ws) const {
  const ChainView v(layout, scores);
  const ChainSink sink(v, layout, out);
  if (v.order == 0) return infer_independent(v, eps, sink, ws);
  double shared_shift;
  const Forward f = forward(v, eps, &shared_shift, ws);
  if (!f.legal) return kMinusInfinity;
  if (out.block[kLabel] != nullptr) {
    if (f.scaled) {
      backward_scaled(v, eps, f, shared_shift, sink, ws);
    } else {
      backward_log(v, eps, f, sink, ws);
    }
  }
  return eps * f.log_z;
}

std::vector<Output> Chain::sample(const Layout& layout, const Scores& scores, double eps,
                                  std::size_t n, std::uint64_t seed, Workspace& ws) const {
  ChainView v(layout, scores);
  std::vector<double> zeros;
  v.need_transitions(zeros);
  double shared_shift;
  const Forward f = forward(v, eps, &shared_shift, ws);
  if (!f.legal) return {};
  const double inverse = 1.0 / eps;
  // Weights of the candidates, from exponentials or from logarithms.
  const auto weigh = [&](std::size_t count, auto&& log_or_plain, double* w) {
    double top = kMinusInfinity;
    for (std::size_t i = 0; i < count; ++i) {
      w[i] = log_or_plain(i);
      top = w[i] > top ? w[i] : top;
    }
    for (std::size_t i = 0; i < count && !f.scaled; ++i) w[i] = elementary::exp(w[i] - top);
  };
  double* w = ws.real(ChainMarginalScratch::kBeta, std::max(v.states, v.K));
  const std::size_t last = v.L - 1;
  std::vector<Output> result(n);
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i);
    Output& y = result[i];
    y.resize(v.L);
    const double* alpha = f.alpha + last * v.states;
    const std::size_t count = v.states_at(last);
    weigh(count, [&](std::size_t s) { return alpha[s]; }, w);
    std::size_t s = draw(w, count, 1, random);
    std::size_t rest = s;
    for (std::size_t j = 0; j < std::min(v.L, v.order); ++j) {
      y[last - j] = static_cast<std::int32_t>(rest % v.K);
      rest /= v.K;
    }
    for (std::size_t t = last; t >= v.order && t > 0; --t) {
      const double* previous = f.alpha + (t - 1) * v.states;
      const double* T = v.top(t);
      const std::size_t r = s / v.K, k = s % v.K;
      double top = 0.0;  // of the column, so that no exponential overflows
      if (f.scaled && f.E == nullptr) {
        top = kMinusInfinity;
        for (std::size_t k1 = 0; k1 < v.K; ++k1) {
          top = std::max(top, T[(k1 * v.stay + r) * v.K + k] * inverse);
        }
      }
      weigh(
          v.K,
          [&](std::size_t k1) {
            const std::size_t from = k1 * v.stay + r;
            if (f.E != nullptr) return previous[from] * f.E[from * v.K + k];
            const double x = T[from * v.K + k] * inverse;
            return f.scaled ? previous[from] * elementary::exp(x - top) : previous[from] + x;
          },
          w);
      const std::size_t k1 = draw(w, v.K, 1, random);
      y[t - v.order] = static_cast<std::int32_t>(k1);
      s = k1 * v.stay + r;
    }
  }
  return result;
}

}  // namespace structlearn
