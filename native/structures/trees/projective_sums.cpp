// Inside-outside on Eisner's chart (see eisner_chart.hpp for the tables), and samples.
//
// Every word's scores are shifted so that its best choice weighs e^-0.95: there are fewer than
// 6.75^n projective trees, so the sums stay below 2.62^n, and a good tree weighs 0.38^n. Doubles
// suffice unless the total is so small that something may have underflowed on the way. Then the
// words are shifted again, so that the sums over stretches of the sentence are about 1; a second
// sum, in which everything small is rounded up, shows whether anything was lost: the two must
// agree. If they do not, everything is redone with wide numbers. The backward pass is the
// derivative of the forward pass: products and sums of non-negative numbers.
#include "structures/trees/projective_sums.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/elementary.hpp"
#include "structures/trees/eisner_ways.hpp"
#include "structures/trees/widening_sums.hpp"

namespace structlearn {
namespace {

constexpr double kSpread = 0.95;
constexpr double kSmall = 1e-290;   // smaller numbers are rounded up to it
constexpr double kAgree = 1e-13;    // the largest difference of the two sums
constexpr double kSumError = 1e-9;  // the largest error of a word's sum over heads
constexpr int kShifts = 3;          // how often the words are shifted again

template <class T>
class SumChart {
 public:
  SumChart(const double* arc, const double* sibling, std::size_t n, bool single_root, double eps)
      : arc_(arc),
        sibling_(sibling),
        n_(n),
        N_(n + 1),
        single_root_(single_root),
        eps_(eps),
        spread_(N_, kSpread) {}

  // The scores of arcs and siblings as weights; false if a word has no arc.
  bool set_up() {
    shift_ = 0.0;
    weight_.resize(N_ * N_);
    if (sibling_ != nullptr) best_pair_.assign(N_ * N_, kMinusInfinity);
    for (std::size_t h = 0; h < N_ && sibling_ != nullptr; ++h) {
      // The one arc of a single root has no sibling.
      const std::size_t end = single_root_ && h == 0 ? 1 : N_;
      for (std::size_t s = 0; s < end; ++s) {
        const double* row = sibling_ + (h * N_ + s) * N_;
        double* best = best_pair_.data() + h * N_;
        if (s >= h) {
          for (std::size_t m = s + 1; m < N_; ++m) best[m] = std::max(best[m], row[m]);
        }
        if (s <= h) {
          for (std::size_t m = 1; m < s; ++m) best[m] = std::max(best[m], row[m]);
        }
      }
    }
    // With one root, its arcs are measured relative to each other, not to those of words.
    double root = single_root_ ? kMinusInfinity : 0.0;
    std::vector<double> top(N_, kMinusInfinity);
    for (std::size_t m = 1; m < N_; ++m) {
      for (std::size_t h = single_root_ ? 1 : 0; h < N_; ++h) {
        if (h != m) top[m] = std::max(top[m], choice(h, m));
      }
      if (top[m] == kMinusInfinity) top[m] = choice(0, m);
      if (top[m] == kMinusInfinity) return false;
      if (single_root_) root = std::max(root, choice(0, m) - top[m]);
      top[m] += spread_[m] * eps_;
      shift_ += top[m];
    }
    if (root == kMinusInfinity) return false;
    shift_ += root;
    for (std::size_t m = 1; m < N_; ++m) {
      weight_[m] = weight_of(choice(0, m) - top[m] - root);
      for (std::size_t h = 1; h < N_; ++h) {
        weight_[h * N_ + m] = h == m ? T{} : weight_of(choice(h, m) - top[m]);
      }
    }
    return true;
  }

  void inside() {
    tables_.assign(5 * N_ * N_, T{});
    T* table = tables_.data();
    for (T** t : {&right_, &left_, &arc_right_, &arc_left_, &between_}) {
      *t = table;
      table += N_ * N_;
    }
    for (std::size_t i = N_; i-- > (single_root_ ? 1 : 0);) inside_row(i);
    sum_ = single_root_ ? T{} : right_[n_];
    for (std::size_t m = 1; m < N_ && single_root_; ++m) sum_ += root_term(m);
  }

  double value() const { return is_zero(sum_) ? kMinusInfinity : shift_ + eps_ * log_of(sum_); }

  // Sets up and sums; false if T is too small. If there is no tree, the value is -inf.
  bool settle(double* result) {
    *result = kMinusInfinity;
    if (!set_up()) return true;
    inside();
    if constexpr (std::is_same_v<T, double>) {
      // Whatever underflowed weighs less than 1e-300 times its possible context.
      const double least = elementary::exp(kLogLeast + 0.96 * static_cast<double>(n_));
      certain_ = sum_ > least && std::isfinite(sum_);
      for (int i = 0; i < kShifts && !certain_; ++i) {
        if (!shift_words()) return false;
        floor_ = kSmall;
        set_up();
        inside();
        const double most = sum_;
        floor_ = 0.0;
        set_up();
        inside();
        if (sum_ > kSmall && std::isfinite(sum_) && most - sum_ <= kAgree * sum_) break;
        if (i + 1 == kShifts) return false;
      }
    }
    *result = value();
    return true;
  }

  // For open numbers: the entropy of the sum; -inf if there is no tree.
  double openness(const T* labels) {
    if (!set_up()) return kMinusInfinity;
    for (std::size_t a = 0; a < N_ * N_; ++a) weight_[a] = weight_[a] * labels[a];
    inside();
    return is_zero(sum_) ? kMinusInfinity : log_of(sum_);
  }

  // False if T is too small.
  bool marginals(double* p, double* pairs) {
    p_ = p;
    pairs_ = pairs;
    std::fill(p, p + N_ * N_, 0.0);
    if (pairs != nullptr) std::fill(pairs, pairs + N_ * N_ * N_, 0.0);
    if constexpr (kWide) {
      arcs_.assign(N_ * N_, T{});
      if (pairs != nullptr) triples_.assign(N_ * N_ * N_, T{});
    }
    adjoints_.assign(5 * N_ * N_, T{});
    T* table = adjoints_.data();
    for (T** t : {&d_right_, &d_left_, &d_arc_right_, &d_arc_left_, &d_between_}) {
      *t = table;
      table += N_ * N_;
    }
    if (!single_root_) d_right_[n_] = one<T>();
    for (std::size_t m = 1; m < N_ && single_root_; ++m) {
      const T w = root_weight(m);
      d_left_[at(1, m)] += w * right_[at(m, n_)];
      d_right_[at(m, n_)] += w * left_[at(1, m)];
      put_arc(0, m, root_term(m));
      put_pair(0, 0, m, root_term(m));
    }
    for (std::size_t i = single_root_ ? 1 : 0; i < N_; ++i) outside_row(i);
    if constexpr (kWide) share_out();
    return adds_up();
  }

  Output draw(Random& random) const {
    using enum EisnerKind;
    Output heads(n_, 0);
    std::vector<EisnerSpan> stack;
    stack.reserve(n_);
    if (single_root_) {
      const std::size_t m =
          1 + choose(n_, sum_, 0, random, [&](std::size_t x) { return root_term(1 + x); });
      stack.push_back({kLeft, 1, m});
      stack.push_back({kRight, m, n_});
    } else {
      stack.push_back({kRight, 0, n_});
    }
    while (!stack.empty()) {
      const EisnerSpan span = stack.back();
      stack.pop_back();
      if (span.is_arc()) heads[span.word() - 1] = static_cast<std::int32_t>(span.head());
      EisnerWay way = eisner_way(span, siblings(), 0);
      if (const std::size_t e = choose_way(span, way, random)) {
        way = eisner_way(span, siblings(), e);
      }
      way.push_tails(stack);
    }
    return heads;
  }

 private:
  static constexpr double kLogLeast = -654.0;  // log 1e-284
  static constexpr bool kWide = !std::is_same_v<T, double>;

  std::size_t at(std::size_t i, std::size_t j) const { return i * N_ + j; }
  bool siblings() const { return sibling_ != nullptr; }

  // The best score of word m with head h.
  double choice(std::size_t h, std::size_t m) const {
    return arc_[at(h, m)] + (sibling_ != nullptr ? best_pair_[at(h, m)] : 0.0);
  }
  T pair(std::size_t h, std::size_t s, std::size_t m) const {
    const double best = best_pair_[at(h, m)];
    if (best == kMinusInfinity) return T{};
    return weight_of(sibling_[(h * N_ + s) * N_ + m] - best);
  }
  T weight_of(double score) const {
    return score == kMinusInfinity ? T{} : rounded(exponential(score / eps_, T{}));
  }
  // At least the floor, if there is one.
  T rounded(T x) const {
    if constexpr (std::is_same_v<T, double>) {
      return x < floor_ ? floor_ : x;
    } else {
      return x;
    }
  }

  // New shifts from the sums over stretches of the sentence, the longest that doubles can hold: the
  // increase of the logarithm by a word. False if no length works.
  bool shift_words() {
    std::vector<double> rate(N_), times(N_);
    for (std::size_t length = n_; length >= 4; length /= 2) {
      std::fill(rate.begin(), rate.end(), 0.0);
      std::fill(times.begin(), times.end(), 0.0);
      std::size_t held = 0, all = 0;
      const std::size_t step = std::max<std::size_t>(length / 2, 1);
      for (std::size_t a = 1; a + length <= N_; a += step) {
        const std::size_t b = a + length - 1;
        double sum = 0.0;
        for (std::size_t m = a; m <= b; ++m) sum += as_double(left_[at(a, m)] * right_[at(m, b)]);
        ++all;
        if (!(sum > 1e-250 && sum < 1e250)) continue;
        ++held;
        for (std::size_t m = a; m <= b; ++m) {
          rate[m] += elementary::log(sum) / static_cast<double>(length);
          times[m] += 1.0;
        }
      }
      if (2 * held < all || held == 0) continue;
      double mean = 0.0, count = 0.0;
      for (std::size_t m = 1; m < N_; ++m) {
        mean += rate[m];
        count += times[m];
      }
      for (std::size_t m = 1; m < N_; ++m) {
        spread_[m] += times[m] > 0.0 ? rate[m] / times[m] : mean / count;
      }
      return true;
    }
    return false;
  }
  T root_weight(std::size_t m) const {
    return sibling_ != nullptr ? weight_[m] * pair(0, 0, m) : weight_[m];
  }
  // Weights may be above 1 once words are shifted: their factors are rounded up first, so that the
  // second sum detects what they lost.
  T root_term(std::size_t m) const {
    return rounded(rounded(root_weight(m)) * left_[at(1, m)]) * right_[at(m, n_)];
  }

  void inside_row(std::size_t i) {
    T *right = right_ + at(i, 0), *left = left_ + at(i, 0), *between = between_ + at(i, 0);
    T *arc_right = arc_right_ + at(i, 0), *arc_left = arc_left_ + at(i, 0);
    right[i] = left[i] = one<T>();
    if (i < n_) std::copy(left_ + at(i + 1, i + 1), left_ + at(i + 1, n_) + 1, between + i + 1);
    for (std::size_t j = i + 1; j < N_; ++j) {
      between[j] = rounded(between[j]);
      if (sibling_ == nullptr) {
        arc_right[j] = between[j] * weight_[at(i, j)];
      } else {
        const T before = rounded(arc_right[j] + left_[at(i + 1, j)] * pair(i, i, j));
        arc_right[j] = before * weight_[at(i, j)];
      }
      arc_right[j] = rounded(arc_right[j]);
      right[j] = rounded(right[j] + arc_right[j]);
      if (i > 0) {
        if (sibling_ == nullptr) {
          arc_left[j] = between[j] * weight_[at(j, i)];
        } else {
          const T before = rounded(arc_left[j] + right[j - 1] * pair(j, j, i));
          arc_left[j] = before * weight_[at(j, i)];
        }
        arc_left[j] = rounded(arc_left[j]);
        left[j] = rounded(left[j] + arc_left[j]);
      }
      const std::size_t rest = n_ - j;
      if (rest == 0) break;
      if (sibling_ != nullptr) {
        for (std::size_t k = j + 1; k < N_; ++k) {
          arc_right[k] += arc_right[j] * between_[at(j, k)] * pair(i, j, k);
          if (i > 0) arc_left[k] += between[j] * arc_left_[at(j, k)] * pair(k, j, i);
        }
      }
      add_times(arc_right[j], right_ + at(j, j + 1), right + j + 1, rest);
      add_times(right[j], left_ + at(j + 1, j + 1), between + j + 1, rest);
      if (i > 0) add_times(left[j], arc_left_ + at(j, j + 1), left + j + 1, rest);
    }
  }

  // out[k] += a * d[k], and returns <d, x>: the derivative of d's table at out += a * x.
  static T push_back(T a, const T* x, const T* d, T* out, std::size_t n) {
    add_times(a, d, out, n);
    return inner_product(d, x, n);
  }

  void outside_row(std::size_t i) {
    const T *right = right_ + at(i, 0), *left = left_ + at(i, 0);
    const T *arc_right = arc_right_ + at(i, 0), *arc_left = arc_left_ + at(i, 0);
    T *d_right = d_right_ + at(i, 0), *d_left = d_left_ + at(i, 0);
    T* d_between = d_between_ + at(i, 0);
    T *d_arc_right = d_arc_right_ + at(i, 0), *d_arc_left = d_arc_left_ + at(i, 0);
    for (std::size_t j = n_; j > i; --j) {
      const std::size_t rest = n_ - j;
      if (rest > 0) {
        d_arc_right[j] += push_back(arc_right[j], right_ + at(j, j + 1), d_right + j + 1,
                                    d_right_ + at(j, j + 1), rest);
        d_right[j] += push_back(right[j], left_ + at(j + 1, j + 1), d_between + j + 1,
                                d_left_ + at(j + 1, j + 1), rest);
        if (i > 0) {
          d_left[j] += push_back(left[j], arc_left_ + at(j, j + 1), d_left + j + 1,
                                 d_arc_left_ + at(j, j + 1), rest);
        }
        if (sibling_ != nullptr) outside_pairs(i, j);
      }
      d_arc_right[j] += d_right[j];
      put_arc(i, j, d_arc_right[j] * arc_right[j]);
      // From here on, for the sum before the arc's own weight.
      d_arc_right[j] = d_arc_right[j] * weight_[at(i, j)];
      if (i > 0) {
        d_arc_left[j] += d_left[j];
        put_arc(j, i, d_arc_left[j] * arc_left[j]);
        d_arc_left[j] = d_arc_left[j] * weight_[at(j, i)];
      }
      if (sibling_ == nullptr) {
        d_between[j] += d_arc_right[j];
        if (i > 0) d_between[j] += d_arc_left[j];
        continue;
      }
      const T first = d_arc_right[j] * pair(i, i, j);
      d_left_[at(i + 1, j)] += first;
      put_pair(i, i, j, first * left_[at(i + 1, j)]);
      if (i > 0) {
        const T last = d_arc_left[j] * pair(j, j, i);
        d_right[j - 1] += last;
        put_pair(j, j, i, last * right[j - 1]);
      }
    }
    for (std::size_t k = i + 1; k < N_; ++k) d_left_[at(i + 1, k)] += d_between[k];
  }

  void outside_pairs(std::size_t i, std::size_t j) {
    const T before = arc_right_[at(i, j)], beside = between_[at(i, j)];
    for (std::size_t k = j + 1; k < N_; ++k) {
      const T x = d_arc_right_[at(i, k)] * pair(i, j, k);
      const T both = x * between_[at(j, k)];
      d_arc_right_[at(i, j)] += both;
      d_between_[at(j, k)] += before * x;
      put_pair(i, j, k, before * both);
      if (i == 0) continue;
      const T y = d_arc_left_[at(i, k)] * pair(k, j, i);
      const T other = y * arc_left_[at(j, k)];
      d_between_[at(i, j)] += other;
      d_arc_left_[at(j, k)] += beside * y;
      put_pair(k, j, i, beside * other);
    }
  }

  // Whether the probabilities of the heads of each word add up to 1: the backward pass may
  // underflow too.
  bool adds_up() const {
    for (std::size_t m = 1; m < N_ && !certain_; ++m) {
      double total = 0.0;
      for (std::size_t h = 0; h < N_; ++h) total += p_[at(h, m)];
      if (!(std::abs(total - 1.0) <= kSumError)) return false;
    }
    return true;
  }

  // Weights are shares of the sum.
  void put_arc(std::size_t h, std::size_t m, T weight) {
    if constexpr (kWide) {
      arcs_[at(h, m)] = weight;
    } else {
      p_[at(h, m)] = weight / sum_;
    }
  }
  void put_pair(std::size_t h, std::size_t s, std::size_t m, T weight) {
    if (pairs_ == nullptr) return;
    if constexpr (kWide) {
      triples_[(h * N_ + s) * N_ + m] = weight;
    } else {
      pairs_[(h * N_ + s) * N_ + m] = weight / sum_;
    }
  }

  // Wide numbers of enormous scores are rounded: normalise a word's heads to 1, and the siblings
  // beside an arc to its probability.
  void share_out() {
    for (std::size_t m = 1; m < N_; ++m) {
      share_column(arcs_, m, 1.0, p_);
      for (std::size_t h = 0; h < N_ && pairs_ != nullptr; ++h) {
        share_column(triples_, h * N_ * N_ + m, p_[at(h, m)], pairs_);
      }
    }
  }
  // p = all * weight / the sum of the weights of the column that begins at `first`.
  void share_column(const std::vector<T>& weight, std::size_t first, double all, double* p) const {
    T total{};
    for (std::size_t x = 0; x < N_; ++x) total += weight[first + x * N_];
    for (std::size_t x = 0; x < N_ && !is_zero(total); ++x) {
      p[first + x * N_] = all * as_double(weight[first + x * N_] / total);
    }
  }

  // `first` is the first of them.
  std::size_t choose_way(const EisnerSpan& span, const EisnerWay& first, Random& random) const {
    if (span.i == span.j || (span.is_arc() && !siblings())) return 0;  // there is one
    T total = tables_[span.place(N_)];
    if (span.is_arc()) total = total / weight_[at(span.head(), span.word())];
    const std::size_t count = eisner_ways(span, siblings());
    const T *a = tables_.data() + first.tail[0].place(N_),
            *b = tables_.data() + first.tail[1].place(N_);
    const std::size_t N = N_;
    if (!span.is_arc()) {
      return choose(count, total, 0, random, [=](std::size_t e) { return a[e] * b[e * N]; });
    }
    const std::size_t h = span.head(), m = span.word();
    // By the place of the sibling, or the head if there is none.
    const std::size_t turn = h < m ? count - 1 : 0;
    return (turn + choose(count, total, 0, random,
                          [&](std::size_t x) {
                            const std::size_t e = (turn + x) % count;
                            if (e + 1 < count)
                              return a[e] * b[e * N] * pair(h, first.sibling + e, m);
                            return tables_[eisner_way(span, true, e).tail[0].place(N)] *
                                   pair(h, h, m);
                          })) %
           count;
  }

  const double *arc_, *sibling_;
  std::size_t n_, N_;
  bool single_root_;
  double eps_, shift_ = 0.0, floor_ = 0.0;
  bool certain_ = true;         // judged by the size of the sum alone
  std::vector<double> spread_;  // of each word, below its best choice
  T sum_{};
  std::vector<double> best_pair_;  // of an arc, over the siblings before it
  std::vector<T> weight_, tables_, adjoints_;
  T *right_, *left_, *arc_right_, *arc_left_, *between_;
  T *d_right_, *d_left_, *d_arc_right_, *d_arc_left_, *d_between_;
  double *p_ = nullptr, *pairs_ = nullptr;
  std::vector<T> arcs_, triples_;  // their factors, if T is wide
};

}  // namespace

double sum_projective(const double* arc, const double* sibling, std::size_t n, bool single_root,
                      double eps, double* p, double* pairs) {
  double value;
  const bool wanted = p != nullptr;
  if (!try_sum(SumChart<double>(arc, sibling, n, single_root, eps), &value, wanted, p, pairs)) {
    try_sum(SumChart<Wide>(arc, sibling, n, single_root, eps), &value, wanted, p, pairs);
  }
  return value;
}

double entropy_of_projective(const double* arc, const double* sibling, const Open* labels,
                             std::size_t n, bool single_root, double eps) {
  return SumChart<Open>(arc, sibling, n, single_root, eps).openness(labels);
}

std::vector<Output> draw_projective(const double* arc, const double* sibling, std::size_t n,
                                    bool single_root, double eps, std::size_t count,
                                    std::uint64_t seed) {
  std::vector<Output> drawn;
  if (!try_draw(SumChart<double>(arc, sibling, n, single_root, eps), count, seed, &drawn)) {
    try_draw(SumChart<Wide>(arc, sibling, n, single_root, eps), count, seed, &drawn);
  }
  return drawn;
}

}  // namespace structlearn
