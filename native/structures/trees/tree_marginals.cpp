// Sums over the labellings of a tree. Up: the sum of a node's subtree by its label, as a logarithm;
// the sums over a node's labels use exponentials, shifted so that the largest is 1, and logarithms
// if they are too small to be trusted. Down: the probability of a parent's label is divided among
// the terms of the child's sum.
#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/shared_table.hpp"
#include "structures/trees/tree_view.hpp"

namespace structlearn {
namespace {

enum class TreeMarginalScratch { kBelow, kSent, kWeight, kSum, kProbability, kBack, kRow };

// The exponentials of the edges.
TableExponentials tables_of(const TreeView& v, double eps, Workspace& ws) {
  double* own = ws.real(TreeScratch::kTables, 3 * v.K * v.K) + v.K * v.K;
  return {v.edge, v.stride, v.K, eps, own, ws};
}

struct Upward {
  double eps;
  double* below;   // (N, K): eps log sum exp over the tree below a node with this label
  double* sent;    // (N, K): the same over a child's labels, by that of its parent
  double* weight;  // (N, K), by edge: exp(below / eps), shifted
  double* sum;     // (N, K), by edge: sum_b E[a,b] weight[b]; 0 if too small to use
};

Upward upward(const TreeView& v, double eps, const TableExponentials& tables, Workspace& ws) {
  const std::size_t K = v.K;
  const Upward up{eps, ws.real(TreeMarginalScratch::kBelow, v.N * K),
                  ws.real(TreeMarginalScratch::kSent, v.N * K),
                  ws.real(TreeMarginalScratch::kWeight, v.N * K),
                  ws.real(TreeMarginalScratch::kSum, v.N * K)};
  std::copy(v.label, v.label + v.N * K, up.below);
  for (std::size_t i = v.N; i-- > 1;) {
    const std::size_t u = v.order[i], e = v.edge_of(u);
    double *below = up.below + u * K, *sent = up.sent + u * K, *above = up.below + v.parent(u) * K;
    double *weight = up.weight + e * K, *sum = up.sum + e * K;
    const double top = kernels().largest(below, K);
    if (top == kMinusInfinity) {
      std::fill(weight, weight + K, 0.0);
      std::fill(sum, sum + K, 0.0);
      std::fill(sent, sent + K, kMinusInfinity);
      std::fill(above, above + K, kMinusInfinity);
      continue;
    }
    const auto [E, shift] = tables.of(v.table(u));
    kernels().exp_shifted(below, K, top, 1.0 / eps, weight);
    kernels().sum_step_back(E, weight, sum, K, 1, K);
    for (std::size_t a = 0; a < K; ++a) {
      if (sum[a] > kTooSmall) {
        sent[a] = top + shift + eps * elementary::log(sum[a]);
      } else {
        sum[a] = 0.0;
        const double* T = v.table(u) + a * K;
        sent[a] = log_sum(K, eps, [&](std::size_t b) { return T[b] + below[b]; });
      }
      above[a] += sent[a];
    }
  }
  return up;
}

class Downward {
 public:
  Downward(const TreeView& v, const TableExponentials& tables, const Upward& up,
           const Marginals& out, Workspace& ws)
      : v_(v),
        tables_(tables),
        up_(up),
        edge_(out.block[Tree::kEdge]),
        by_edge_(out.by_position || v.stride != 0),
        p_(out.block[Tree::kLabel]),
        back_(ws.real(TreeMarginalScratch::kBack, v.N * v.K)) {}

  void run() {
    const std::size_t K = v_.K;
    softmax(up_.below + v_.root() * K, K, up_.eps, p_ + v_.root() * K);
    if (edge_ != nullptr) {
      std::fill(edge_, edge_ + (by_edge_ ? v_.N - 1 : 1) * K * K, 0.0);
    }
    for (std::size_t i = 1; i < v_.N; ++i) divide(v_.order[i]);
    if (edge_ == nullptr || by_edge_ || v_.N == 1) return;
    // The counts of a shared table: one matrix product over all edges.
    double* count = tables_.scratch();
    kernels().outer_sum(back_, up_.weight, v_.N - 1, K, count, K, 1, K);
    const double* E = tables_.shared();
    for (std::size_t x = 0; x < K * K; ++x) edge_[x] += count[x] * E[x];
  }

 private:
  // The probabilities of the labels of u's parent, divided among those of u.
  void divide(std::size_t u) {
    const std::size_t K = v_.K, e = v_.edge_of(u);
    const double *above = p_ + v_.parent(u) * K, *weight = up_.weight + e * K;
    const double *sum = up_.sum + e * K, *E = tables_.of(v_.table(u)).E;
    double *p = p_ + u * K, *back = back_ + e * K;
    for (std::size_t a = 0; a < K; ++a) back[a] = sum[a] > 0.0 ? above[a] / sum[a] : 0.0;
    kernels().sum_step(back, E, p, K, 1, K);
    for (std::size_t b = 0; b < K; ++b) p[b] *= weight[b];
    double* out = edge_ ? edge_ + (by_edge_ ? e * K * K : 0) : nullptr;
    if (out != nullptr && by_edge_) {
      for (std::size_t a = 0; a < K; ++a) {
        for (std::size_t b = 0; b < K; ++b) out[a * K + b] = back[a] * E[a * K + b] * weight[b];
      }
    }
    for (std::size_t a = 0; a < K; ++a) {  // the ones computed with logarithms
      if (sum[a] > 0.0 || above[a] == 0.0) continue;
      const double *T = v_.table(u) + a * K, *below = up_.below + u * K;
      const auto term = [&](std::size_t b) { return T[b] + below[b]; };
      for_shares(K, up_.eps, term, [&](std::size_t b, double share) {
        p[b] += above[a] * share;
        if (out != nullptr) out[a * K + b] += above[a] * share;
      });
    }
  }

  const TreeView& v_;
  const TableExponentials& tables_;
  const Upward& up_;
  double* edge_;
  bool by_edge_;
  double *p_, *back_;
};

}  // namespace

double Tree::infer(const Layout& layout, const Scores& scores, double eps, const Marginals& out,
                   Workspace& ws) const {
  const TreeView v(layout, scores, ws);
  const TableExponentials tables = tables_of(v, eps, ws);
  const Upward up = upward(v, eps, tables, ws);
  double* row = ws.real(TreeMarginalScratch::kRow, v.K);
  const double value = softmax(up.below + v.root() * v.K, v.K, eps, row);
  if (value > kMinusInfinity && out.block[kLabel] != nullptr) {
    Downward(v, tables, up, out, ws).run();
  }
  return value;
}

std::vector<Output> Tree::sample(const Layout& layout, const Scores& scores, double eps,
                                 std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const TreeView v(layout, scores, ws);
  const std::size_t K = v.K;
  const Upward up = upward(v, eps, tables_of(v, eps, ws), ws);
  double* w = ws.real(TreeMarginalScratch::kRow, K);
  if (softmax(up.below + v.root() * K, K, eps, w) == kMinusInfinity) return {};
  std::vector<Output> result(n, Output(v.N));
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    for (std::size_t i = 0; i < v.N; ++i) {
      const std::size_t u = v.order[i];
      const double* below = up.below + u * K;
      const double* T =
          i == 0 ? nullptr : v.table(u) + static_cast<std::size_t>(result[s][v.parent(u)]) * K;
      const auto score = [&](std::size_t b) { return below[b] + (T ? T[b] : 0.0); };
      result[s][u] = static_cast<std::int32_t>(draw_softmax(K, eps, w, random, score));
    }
  }
  return result;
}

}  // namespace structlearn
