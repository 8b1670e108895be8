// Forward-backward for segmentations, and drawing from the distribution it describes.
//
// Everything that is kept from one position to the next is a logarithm (in the units of the
// scores), so that nothing is lost however far apart the scores are. The sum over lengths takes its
// own maximum a label. The sum over the labels before works with exponentials, one multiply-add a
// label pair; an entry of it that comes out below 1e-250 is done again with logarithms.
#include <algorithm>
#include <cmath>

#include "semimarkov_view.hpp"
#include "shared_table.hpp"
#include "softmax.hpp"
#include "structlearn/kernels.hpp"

namespace structlearn {
namespace {

constexpr double kTooSmall = 1e-250;

enum Slot { kEnded, kArrived, kWeight, kSum, kTerms, kRows, kAfter, kBack, kTable };

// eps log sum exp(x(i) / eps) over i < n.
template <class Term>
double log_sum(std::size_t n, double eps, Term&& x) {
  double top = kMinusInfinity;
  for (std::size_t i = 0; i < n; ++i) top = std::max(top, x(i));
  if (top == kMinusInfinity) return top;
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp((x(i) - top) / eps);
  return top + eps * std::log(sum);
}

// The exponentials of the transitions, position by position or the same for all.
class Tables {
 public:
  Tables(const SegmentView& v, double eps, Workspace& ws)
      : v_(v), eps_(eps), own_(ws.real(kTable, 2 * v.K * v.K)) {
    if (v.stride == 0) shared_ = shared_exponentials(v.transition, v.K * v.K, eps, ws);
  }
  Exponentials at(std::size_t i) const {
    return v_.stride == 0 ? shared_ : exponentials(v_.table(i), v_.K * v_.K, eps_, own_);
  }
  double* scratch() const { return own_ + v_.K * v_.K; }

 private:
  const SegmentView& v_;
  double eps_;
  double* own_;
  Exponentials shared_{};
};

// terms[d][k], n rows of K: out[k] = eps log sum over d of exp(terms / eps). What is left in terms
// is exp((terms - top[k]) / eps), and in sum[k] their sum, 0 where every term is -inf.
void sum_lengths(double* terms, std::size_t n, std::size_t K, double eps, double* top, double* sum,
                 double* out) {
  std::copy(terms, terms + K, top);
  for (std::size_t d = 1; d < n; ++d) {
    for (std::size_t k = 0; k < K; ++k) top[k] = std::max(top[k], terms[d * K + k]);
  }
  for (std::size_t k = 0; k < K; ++k) {
    out[k] = top[k];
    if (top[k] == kMinusInfinity) top[k] = 0.0;  // -inf - 0, not -inf + inf
  }
  for (std::size_t d = 0; d < n; ++d) {
    for (std::size_t k = 0; k < K; ++k) terms[d * K + k] -= top[k];
  }
  kernels().exp_shifted(terms, n * K, 0.0, 1.0 / eps, terms);
  std::fill(sum, sum + K, 0.0);
  for (std::size_t d = 0; d < n; ++d) {
    for (std::size_t k = 0; k < K; ++k) sum[k] += terms[d * K + k];
  }
  for (std::size_t k = 0; k < K; ++k) {
    if (out[k] > kMinusInfinity) out[k] += eps * std::log(sum[k]);
  }
}

struct Forward {
  double value;     // eps log sum exp(score / eps)
  double* ended;    // (L + 1, K): the same over segmentations of 0..j whose last label is k
  double* arrived;  // (L, K): over those of 0..i, with the transition (or start) to label k
  double* weight;   // (L, K): exp((ended[i] - its largest) / eps)
  double* sum;      // (L, K): sum_k1 weight[k1] E[k1,k]; 0 where it was too small to be used
};

Forward forward(const SegmentView& v, double eps, const Tables& tables, Workspace& ws) {
  const std::size_t L = v.L, K = v.K;
  Forward f{kMinusInfinity, ws.real(kEnded, (L + 1) * K), ws.real(kArrived, L * K),
            ws.real(kWeight, L * K), ws.real(kSum, L * K)};
  double* terms = ws.real(kTerms, v.D * K);
  double* top = ws.real(kRows, 4 * K);
  for (std::size_t k = 0; k < K; ++k) f.arrived[k] = v.start_of(k);
  for (std::size_t j = 1; j <= L; ++j) {
    double* ended = f.ended + j * K;
    const std::size_t n = v.longest_to(j);
    for (std::size_t d = 1; d <= n; ++d) {
      const double *from = f.arrived + (j - d) * K, *score = v.row(j - d, d);
      for (std::size_t k = 0; k < K; ++k) terms[(d - 1) * K + k] = from[k] + score[k];
    }
    sum_lengths(terms, n, K, eps, top, top + K, ended);
    if (j == L) break;
    double *weight = f.weight + j * K, *sum = f.sum + j * K, *arrived = f.arrived + j * K;
    const double most = kernels().largest(ended, K);
    if (most == kMinusInfinity) {
      std::fill(weight, weight + K, 0.0);
      std::fill(sum, sum + K, 0.0);
      std::fill(arrived, arrived + K, kMinusInfinity);
      continue;
    }
    const auto [E, shift] = tables.at(j);
    kernels().exp_shifted(ended, K, most, 1.0 / eps, weight);
    kernels().sum_step(weight, E, sum, K, 1, K);
    for (std::size_t k = 0; k < K; ++k) {
      if (sum[k] > kTooSmall) {
        arrived[k] = most + shift + eps * std::log(sum[k]);
      } else {
        sum[k] = 0.0;
        const double* T = v.table(j) + k;
        arrived[k] = log_sum(K, eps, [&](std::size_t k1) { return ended[k1] + T[k1 * K]; });
      }
    }
  }
  const double* last = f.ended + L * K;
  f.value = log_sum(K, eps, [&](std::size_t k) { return last[k] + v.end_of(k); });
  return f;
}

class Backward {
 public:
  Backward(const SegmentView& v, const Layout& layout, double eps, const Tables& tables,
           const Forward& f, const Marginals& out, Workspace& ws)
      : v_(v), eps_(eps), tables_(tables), f_(f), out_(out), ws_(ws) {
    const Block& table = layout.block[SemiMarkov::kTransition];
    transition_ = table.present ? out.block[SemiMarkov::kTransition] : nullptr;
    by_position_ = out.by_position || table.sites != 1;
    // What the counts of a shared table need of all positions until the end.
    back_ = ws.real(kBack, v.L * v.K);
    after_ = ws.real(kAfter, (v.L + 1) * v.K);
  }

  void run() {
    const std::size_t L = v_.L, K = v_.K;
    if (transition_ != nullptr) {
      std::fill(transition_, transition_ + (by_position_ ? L - 1 : 1) * K * K, 0.0);
    }
    double* end = out_.block[SemiMarkov::kEnd];
    for (std::size_t k = 0; k < K; ++k) {
      after_[L * K + k] = v_.end_of(k);
      if (end != nullptr) end[k] = share(f_.ended[L * K + k] + v_.end_of(k));
    }
    double* row = ws_.real(kRows, 4 * K);
    double *top = row, *sum = row + K, *begin = row + 2 * K, *p = row + 3 * K;
    for (std::size_t i = L; i-- > 0;) {
      segments(i, top, sum, begin, p);
      if (i == 0) break;
      const Exponentials table = tables_.at(i);
      transitions(i, p, table);
      step_back(i, begin, table, top, sum);
    }
    double* start = out_.block[SemiMarkov::kStart];
    if (start != nullptr) std::copy(p, p + K, start);
    if (transition_ != nullptr && !by_position_ && L > 1) add_shared();
  }

 private:
  double share(double x) const { return std::exp((x - f_.value) / eps_); }

  // begin[k]: all that can follow from a segment of label k at i on; p[k]: the probability that one
  // starts there, which its lengths divide.
  void segments(std::size_t i, double* top, double* sum, double* begin, double* p) {
    const std::size_t K = v_.K, n = v_.longest_from(i);
    double* terms = ws_.real(kTerms, v_.D * K);
    const double *score = v_.row(i, 1), *after = after_ + (i + 1) * K;
    for (std::size_t x = 0; x < n * K; ++x) terms[x] = score[x] + after[x];
    sum_lengths(terms, n, K, eps_, top, sum, begin);
    for (std::size_t k = 0; k < K; ++k) {
      p[k] = share(f_.arrived[i * K + k] + begin[k]);
      top[k] = p[k] > 0.0 ? p[k] / sum[k] : 0.0;
    }
    double* out = out_.block[SemiMarkov::kSegment] + i * v_.D * K;
    for (std::size_t d = 0; d < n; ++d) {
      for (std::size_t k = 0; k < K; ++k) out[d * K + k] = terms[d * K + k] * top[k];
    }
    std::fill(out + n * K, out + v_.D * K, 0.0);
  }

  // p divided among the labels before.
  void transitions(std::size_t i, const double* p, const Exponentials& table) {
    if (transition_ == nullptr) return;
    const std::size_t K = v_.K;
    const double *weight = f_.weight + i * K, *sum = f_.sum + i * K, *T = v_.table(i);
    double* back = back_ + i * K;
    double* out = transition_ + (by_position_ ? (i - 1) * K * K : 0);
    for (std::size_t k = 0; k < K; ++k) {
      back[k] = sum[k] > 0.0 ? p[k] / sum[k] : 0.0;
      if (sum[k] > 0.0 || p[k] == 0.0) continue;
      const double *before = f_.ended + i * K, all = f_.arrived[i * K + k];
      for (std::size_t k1 = 0; k1 < K; ++k1) {
        out[k1 * K + k] += p[k] * std::exp((before[k1] + T[k1 * K + k] - all) / eps_);
      }
    }
    for (std::size_t k1 = 0; k1 < K && by_position_; ++k1) {
      for (std::size_t k = 0; k < K; ++k) {
        out[k1 * K + k] += weight[k1] * table.E[k1 * K + k] * back[k];
      }
    }
  }

  // after[i][k1]: all that can follow a segment of label k1 that ends before i.
  void step_back(std::size_t i, const double* begin, const Exponentials& table, double* weight,
                 double* sum) {
    const std::size_t K = v_.K;
    double* after = after_ + i * K;
    const double most = kernels().largest(begin, K);
    if (most == kMinusInfinity) {
      std::fill(after, after + K, kMinusInfinity);
      return;
    }
    kernels().exp_shifted(begin, K, most, 1.0 / eps_, weight);
    kernels().sum_step_back(table.E, weight, sum, K, 1, K);
    for (std::size_t k1 = 0; k1 < K; ++k1) {
      if (sum[k1] > kTooSmall) {
        after[k1] = most + table.shift + eps_ * std::log(sum[k1]);
      } else {
        const double* T = v_.table(i) + k1 * K;
        after[k1] = log_sum(K, eps_, [&](std::size_t k) { return T[k] + begin[k]; });
      }
    }
  }

  // The counts of a shared table: one matrix product over all positions.
  void add_shared() {
    const std::size_t K = v_.K;
    double* count = tables_.scratch();
    kernels().outer_sum(f_.weight + K, back_ + K, v_.L - 1, K, count, K, 1, K);
    const double* E = tables_.at(1).E;
    for (std::size_t x = 0; x < K * K; ++x) transition_[x] += count[x] * E[x];
  }

  const SegmentView& v_;
  double eps_;
  const Tables& tables_;
  const Forward& f_;
  const Marginals& out_;
  Workspace& ws_;
  double *transition_, *back_, *after_;
  bool by_position_;
};

}  // namespace

double SemiMarkov::infer(const Layout& layout, const Scores& scores, double eps,
                         const Marginals& out, Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const Tables tables(v, eps, ws);
  const Forward f = forward(v, eps, tables, ws);
  if (f.value > kMinusInfinity && out.block[kSegment] != nullptr) {
    Backward(v, layout, eps, tables, f, out, ws).run();
  }
  return f.value;
}

std::vector<Output> SemiMarkov::sample(const Layout& layout, const Scores& scores, double eps,
                                       std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const SegmentView v(layout, scores, max_length_, ws);
  const std::size_t K = v.K;
  const Forward f = forward(v, eps, Tables(v, eps, ws), ws);
  if (f.value == kMinusInfinity) return {};
  double* w = ws.real(kTerms, std::max(v.D, K));
  // An index in proportion to exp(x(i) / eps).
  const auto choose = [&](std::size_t count, Random& random, auto&& x) {
    double top = kMinusInfinity;
    for (std::size_t i = 0; i < count; ++i) top = std::max(top, w[i] = x(i));
    for (std::size_t i = 0; i < count; ++i) w[i] = std::exp((w[i] - top) / eps);
    return draw(w, count, 1, random);
  };
  std::vector<Output> result(n, Output(v.L, -1));
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    std::size_t j = v.L;
    std::size_t k =
        choose(K, random, [&](std::size_t i) { return f.ended[j * K + i] + v.end_of(i); });
    while (true) {
      j -= 1 + choose(v.longest_to(j), random, [&](std::size_t i) {
             return f.arrived[(j - i - 1) * K + k] + v.row(j - i - 1, i + 1)[k];
           });
      result[s][j] = static_cast<std::int32_t>(k);
      if (j == 0) break;
      k = choose(K, random,
                 [&](std::size_t k1) { return f.ended[j * K + k1] + v.table(j)[k1 * K + k]; });
    }
  }
  return result;
}

}  // namespace structlearn
