// SegmentForward-backward for segmentations, and drawing from the distribution it describes.
//
// What is kept from one position to the next is a logarithm (in the units of the scores), so that
// nothing is lost however far apart the scores are. The sum over lengths takes its own maximum a
// label. The sum over the labels before works with exponentials, one multiply-add a label pair; an
// entry of it that comes out below 1e-250 is done again with logarithms.
//
// The backward pass is the derivative of the forward pass: the probability of a label that ends, or
// arrives, is divided among the terms of its sum. No logarithm or exponential is computed again.
#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/semimarkov_view.hpp"
#include "structures/chains/shared_table.hpp"

namespace structlearn {
namespace {

enum class SegmentMarginalScratch {
  kArrived,
  kTop,
  kMass,
  kTerms,
  kWeight,
  kSum,
  kRows,
  kProbability,
  kBack
};

// The exponentials of the transitions.
TableExponentials tables_of(const SegmentView& v, double eps, Workspace& ws) {
  double* own = ws.real(SegmentScratch::kTables, 3 * v.K * v.K) + v.K * v.K;
  return {v.transition, v.stride, v.K, eps, own, ws};
}

struct SegmentForward {
  double value;     // eps log sum exp(score / eps)
  double* arrived;  // (L, K): the same over segmentations of 0..i, with the step to label k
  // Over segmentations of 0..j whose last label is k: top + eps log mass. The terms of the mass are
  // (D, K) per position; the row of length d comes first for d = 1.
  double *top, *mass, *terms;
  std::size_t stride;  // of the terms from a position to the next; 0 if not stored
  double* weight;      // (L, K): exp(ended / eps), shifted
  double* sum;         // (L, K): sum_k1 weight[k1] E[k1,k]; 0 if too small to use
  double eps;
  std::size_t K;

  double ended(std::size_t j, std::size_t k) const {
    return top[j * K + k] + eps * elementary::log(mass[j * K + k]);
  }
};

// The sum over the lengths of the segments that end before j.
void sum_lengths(const SegmentView& v, std::size_t j, const SegmentForward& f, double* shift) {
  const std::size_t K = v.K, n = v.longest_to(j);
  double *top = f.top + j * K, *mass = f.mass + j * K, *terms = f.terms + j * f.stride;
  std::fill(top, top + K, kMinusInfinity);
  for (std::size_t d = 1; d <= n; ++d) {
    const double *from = f.arrived + (j - d) * K, *score = v.row(j - d, d);
    double* row = terms + (d - 1) * K;
    for (std::size_t k = 0; k < K; ++k) {
      row[k] = from[k] + score[k];
      top[k] = row[k] > top[k] ? row[k] : top[k];
    }
  }
  // -inf - 0, not -inf + inf
  for (std::size_t k = 0; k < K; ++k) shift[k] = top[k] == kMinusInfinity ? 0.0 : top[k];
  for (std::size_t d = 0; d < n; ++d) {
    for (std::size_t k = 0; k < K; ++k) terms[d * K + k] -= shift[k];
  }
  kernels().exp_shifted(terms, n * K, 0.0, 1.0 / f.eps, terms);
  std::copy(terms, terms + K, mass);
  for (std::size_t d = 1; d < n; ++d) {
    for (std::size_t k = 0; k < K; ++k) mass[k] += terms[d * K + k];
  }
}

// The sum over the labels before a segment that starts at j.
void sum_labels(const SegmentView& v, std::size_t j, const SegmentForward& f,
                const TableExponentials& tables) {
  const std::size_t K = v.K;
  const double *top = f.top + j * K, *mass = f.mass + j * K;
  double *weight = f.weight + j * K, *sum = f.sum + j * K, *arrived = f.arrived + j * K;
  const double most = kernels().largest(top, K);
  if (most == kMinusInfinity) {
    std::fill(weight, weight + K, 0.0);
    std::fill(sum, sum + K, 0.0);
    std::fill(arrived, arrived + K, kMinusInfinity);
    return;
  }
  const auto [E, shift] = tables.of(v.table(j));
  kernels().exp_shifted(top, K, most, 1.0 / f.eps, weight);
  for (std::size_t k = 0; k < K; ++k) weight[k] *= mass[k];
  kernels().sum_step(weight, E, sum, K, 1, K);
  for (std::size_t k = 0; k < K; ++k) {
    if (sum[k] > kTooSmall) {
      arrived[k] = most + shift + f.eps * elementary::log(sum[k]);
    } else {
      sum[k] = 0.0;
      const double* T = v.table(j) + k;
      arrived[k] = log_sum(K, f.eps, [&](std::size_t k1) { return f.ended(j, k1) + T[k1 * K]; });
    }
  }
}

SegmentForward forward(const SegmentView& v, double eps, const TableExponentials& tables,
                       bool keep_terms, Workspace& ws) {
  const std::size_t L = v.L, K = v.K;
  SegmentForward f;
  f.eps = eps;
  f.K = K;
  f.stride = keep_terms ? v.D * K : 0;
  f.arrived = ws.real(SegmentMarginalScratch::kArrived, L * K);
  f.top = ws.real(SegmentMarginalScratch::kTop, (L + 1) * K);
  f.mass = ws.real(SegmentMarginalScratch::kMass, (L + 1) * K);
  f.terms = ws.real(SegmentMarginalScratch::kTerms, (keep_terms ? L + 1 : 1) * v.D * K);
  f.weight = ws.real(SegmentMarginalScratch::kWeight, L * K);
  f.sum = ws.real(SegmentMarginalScratch::kSum, L * K);
  double* shift = ws.real(SegmentMarginalScratch::kRows, 2 * K);
  for (std::size_t k = 0; k < K; ++k) f.arrived[k] = v.start_of(k);
  for (std::size_t j = 1; j <= L; ++j) {
    sum_lengths(v, j, f, shift);
    if (j < L) sum_labels(v, j, f, tables);
  }
  f.value = log_sum(K, eps, [&](std::size_t k) { return f.ended(L, k) + v.end_of(k); });
  return f;
}

class Backward {
 public:
  Backward(const SegmentView& v, const Layout& layout, const TableExponentials& tables,
           const SegmentForward& f, const Marginals& out, Workspace& ws)
      : v_(v), tables_(tables), f_(f), out_(out) {
    const Block& table = layout.block[SemiMarkov::kTransition];
    transition_ = table.present ? out.block[SemiMarkov::kTransition] : nullptr;
    by_position_ = out.by_position || table.sites != 1;
    arrived_ = ws.real(SegmentMarginalScratch::kProbability, v.L * v.K);
    back_ = ws.real(SegmentMarginalScratch::kBack,
                    v.L * v.K);  // kept for all positions: see add_shared
    ended_ = ws.real(SegmentMarginalScratch::kRows, 2 * v.K);
  }

  void run() {
    const std::size_t L = v_.L, K = v_.K;
    double* segment = out_.block[SemiMarkov::kSegment];
    std::fill(segment, segment + L * v_.D * K, 0.0);
    std::fill(arrived_, arrived_ + L * K, 0.0);
    if (transition_ != nullptr) {
      std::fill(transition_, transition_ + (by_position_ ? L - 1 : 1) * K * K, 0.0);
    }
    for (std::size_t k = 0; k < K; ++k) ended_[k] = f_.ended(L, k) + v_.end_of(k);
    softmax(ended_, K, f_.eps, ended_);
    if (double* end = out_.block[SemiMarkov::kEnd]) std::copy(ended_, ended_ + K, end);
    for (std::size_t j = L; j > 0; --j) {
      if (j < L) labels(j);
      lengths(j, segment);
    }
    if (double* start = out_.block[SemiMarkov::kStart]) std::copy(arrived_, arrived_ + K, start);
    if (transition_ != nullptr && !by_position_ && L > 1) add_shared();
  }

 private:
  // The probability that a segment of label k ends before j, divided among its lengths.
  void lengths(std::size_t j, double* segment) {
    const std::size_t K = v_.K;
    const double *mass = f_.mass + j * K, *terms = f_.terms + j * f_.stride;
    double* share = ended_ + K;
    for (std::size_t k = 0; k < K; ++k) share[k] = mass[k] > 0.0 ? ended_[k] / mass[k] : 0.0;
    for (std::size_t d = 1; d <= v_.longest_to(j); ++d, terms += K) {
      double* out = segment + ((j - d) * v_.D + d - 1) * K;
      double* arrived = arrived_ + (j - d) * K;
      for (std::size_t k = 0; k < K; ++k) {
        out[k] = terms[k] * share[k];
        arrived[k] += out[k];
      }
    }
  }

  // The probability that a segment of label k starts at j, divided among the labels before.
  void labels(std::size_t j) {
    const std::size_t K = v_.K;
    const double *p = arrived_ + j * K, *weight = f_.weight + j * K, *sum = f_.sum + j * K;
    const double* E = tables_.of(v_.table(j)).E;
    double* back = back_ + j * K;
    for (std::size_t k = 0; k < K; ++k) back[k] = sum[k] > 0.0 ? p[k] / sum[k] : 0.0;
    kernels().sum_step_back(E, back, ended_, K, 1, K);
    for (std::size_t k1 = 0; k1 < K; ++k1) ended_[k1] *= weight[k1];
    double* out = transition_ ? transition_ + (by_position_ ? (j - 1) * K * K : 0) : nullptr;
    if (out != nullptr && by_position_) {
      for (std::size_t k1 = 0; k1 < K; ++k1) {
        for (std::size_t k = 0; k < K; ++k) {
          out[k1 * K + k] = weight[k1] * E[k1 * K + k] * back[k];
        }
      }
    }
    for (std::size_t k = 0; k < K; ++k) {  // the ones computed with logarithms
      if (sum[k] > 0.0 || p[k] == 0.0) continue;
      const double* T = v_.table(j) + k;
      const auto term = [&](std::size_t k1) { return f_.ended(j, k1) + T[k1 * K]; };
      for_shares(K, f_.eps, term, [&](std::size_t k1, double share) {
        ended_[k1] += p[k] * share;
        if (out != nullptr) out[k1 * K + k] += p[k] * share;
      });
    }
  }

  // The counts of a shared table: one matrix product over all positions.
  void add_shared() {
    const std::size_t K = v_.K;
    double* count = tables_.scratch();
    kernels().outer_sum(f_.weight + K, back_ + K, v_.L - 1, K, count, K, 1, K);
    const double* E = tables_.shared();
    for (std::size_t x = 0; x < K * K; ++x) transition_[x] += count[x] * E[x];
  }

  const SegmentView& v_;
  const TableExponentials& tables_;
  const SegmentForward& f_;
  const Marginals& out_;
  double *transition_, *arrived_, *back_, *ended_;
  bool by_position_;
};

}  // namespace

double SemiMarkov::infer(const Layout& layout, const Scores& scores, double eps,
                         const Marginals& out, Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const TableExponentials tables = tables_of(v, eps, ws);
  const bool marginals = out.block[kSegment] != nullptr;
  const SegmentForward f = forward(v, eps, tables, marginals, ws);
  if (f.value > kMinusInfinity && marginals) Backward(v, layout, tables, f, out, ws).run();
  return f.value;
}

std::vector<Output> SemiMarkov::sample(const Layout& layout, const Scores& scores, double eps,
                                       std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const std::size_t K = v.K;
  const SegmentForward f = forward(v, eps, tables_of(v, eps, ws), false, ws);
  if (f.value == kMinusInfinity) return {};
  double* w = ws.real(SegmentMarginalScratch::kBack, std::max(v.D, K));
  const auto choose = [&](std::size_t count, Random& random, auto&& x) {
    return draw_softmax(count, eps, w, random, x);
  };
  std::vector<Output> result(n, Output(v.L, -1));
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    std::size_t j = v.L;
    std::size_t k = choose(K, random, [&](std::size_t i) { return f.ended(j, i) + v.end_of(i); });
    while (true) {
      j -= 1 + choose(v.longest_to(j), random, [&](std::size_t i) {
             return f.arrived[(j - i - 1) * K + k] + v.row(j - i - 1, i + 1)[k];
           });
      result[s][j] = static_cast<std::int32_t>(k);
      if (j == 0) break;
      k = choose(K, random,
                 [&](std::size_t k1) { return f.ended(j, k1) + v.table(j)[k1 * K + k]; });
    }
  }
  return result;
}

}  // namespace structlearn
