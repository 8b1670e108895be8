// Sums over all trees: inside scores, and the marginals of all parts as posteriors that are handed
// down from wide spans to narrow ones (Baker 1979; the derivative of the log of the inside sum).
#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "tasks/constituents/span_trees.hpp"
#include "tasks/constituents/tree_chart.hpp"

namespace structlearn::text {
namespace {

// A posterior below this is not handed on: no sum of probabilities can tell.
constexpr double kNegligible = 1e-25;
// Sums of exponentials that are smaller have lost digits, and are worked out one by one.
constexpr double kTiny = 1e-250;

double log_add(double a, double b) {
  const double top = std::max(a, b);
  if (top == kMinusInfinity) return top;
  return top + elementary::log1p(elementary::exp(std::min(a, b) - top));
}

// exp(part - whole), 0 where there is no part.
double share(double part, double whole) {
  return part == kMinusInfinity ? 0.0 : elementary::exp(part - whole);
}

// The sums of one sentence, and what inside and outside have in common.
class Summation {
 public:
  Summation(const TreeView<const double>& view, const TreeSums& chart)
      : v_(view), c_(chart), n_(view.n), R_(view.R), pair_(view.shape.sizes.pairs()) {
    most_ = std::max(k_.largest(v_.block[kPair], pair_.size()), -1e300);
    k_.exp_shifted(v_.block[kPair], pair_.size(), most_, 1.0, pair_.data());
    ways_.resize(2 * n_ * R_);
    symbol_.resize(R_);
    sum_.resize(R_);
    weight_.resize(R_);
  }

  double inside() {
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = i + 1; j <= n_; ++j) inside(i, j);
    }
    double total = kMinusInfinity;
    for (std::size_t s = n_ == 1 ? 0 : 1; s < R_; ++s) total = log_add(total, as_root(s));
    return total;
  }

  void outside(const TreeView<double>& p, double* follow);

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return span_site(n_, i, j) * R_; }
  double as_root(std::size_t s) const {
    return c_.node[at(0, n_) + s] + v_.block[kRoot][v_.symbol(0, s)];
  }

  void inside(std::size_t i, std::size_t j) {
    const std::size_t here = at(i, j);
    const double* own = v_.row(kNode, i, j);
    if (j == i + 1) {
      std::copy(own, own + R_, c_.node + here);
      forbid(v_, i, j, c_.node + here);
    } else {
      ways(i, j);
      log_sum(0, j - i - 1, c_.inner + here);
      forbid(v_, i, j, c_.inner + here);
      for (std::size_t x = 0; x < R_; ++x) c_.node[here + x] = c_.inner[here + x] + own[x];
    }
    if (has_site(kFirst, n_, i, j)) as_child(0, i, j, c_.first + here);
    if (has_site(kMiddle, n_, i, j)) as_child(1, i, j, c_.middle + here);
    if (!has_site(kLast, n_, i, j)) return;
    as_child(2, i, j, c_.last + here);
    double* rest = c_.rest + here;
    std::fill(rest, rest + R_, kMinusInfinity);
    if (j > i + 1) {
      log_sum(1, j - i - 1, rest);
      k_.add_scaled(1.0, v_.row(kRest, i, j), rest, R_);
    }
    for (std::size_t x = 0; x < R_; ++x) c_.follow[here + x] = log_add(rest[x], c_.last[here + x]);
  }

  // The scores of the splits of i..j by label, those of a node first, then those of a rest.
  void ways(std::size_t i, std::size_t j) {
    const std::size_t splits = j - i - 1;
    const double* rows[TreeShape::kMostKinds + 2];
    for (std::size_t m = i + 1; m < j; ++m) {
      double *as_node = ways_.data() + (m - i - 1) * R_, *as_rest = as_node + splits * R_;
      rows[0] = c_.first + at(i, m);
      rows[1] = c_.follow + at(m, j);
      const std::size_t count = 2 + v_.split(i, m, j, rows + 2);
      std::fill(as_node, as_node + R_, 0.0);
      k_.add_rows(rows, count, nullptr, 0, R_, as_node);
      if (i == 0) continue;  // nothing stands before a rest
      rows[0] = c_.middle + at(i, m);
      std::fill(as_rest, as_rest + R_, 0.0);
      k_.add_rows(rows, count, nullptr, 0, R_, as_rest);
    }
  }

  // out[x] = log of the sum over the splits of exp(way); the ways become exp(way - largest).
  void log_sum(std::size_t which, std::size_t splits, double* out) {
    double* ways = ways_.data() + which * splits * R_;
    std::copy(ways, ways + R_, out);
    for (std::size_t m = 1; m < splits; ++m) {
      const double* const row[] = {ways + m * R_};
      k_.max_rows(row, 1, true, out, R_);
    }
    exponentials(which, splits, out);
    std::fill(sum_.begin(), sum_.end(), 0.0);
    for (std::size_t m = 0; m < splits; ++m) k_.add_scaled(1.0, ways + m * R_, sum_.data(), R_);
    for (std::size_t x = 0; x < R_; ++x) {
      out[x] = out[x] == kMinusInfinity ? out[x] : out[x] + elementary::log(sum_[x]);
    }
  }

  // The ways become exp(way - top); 0 where top is -inf.
  void exponentials(std::size_t which, std::size_t splits, const double* top) {
    double* ways = ways_.data() + which * splits * R_;
    for (std::size_t m = 0; m < splits; ++m) {
      double* row = ways + m * R_;
      for (std::size_t x = 0; x < R_; ++x) {
        // Not above 0, which rounding may make it.
        row[x] = row[x] == kMinusInfinity ? kMinusInfinity : std::min(row[x] - top[x], 0.0);
      }
    }
    k_.exp_shifted(ways, splits * R_, 0.0, 1.0, ways);
  }

  // sum[p] = sum over the labels s of a node over i..j of exp(node - top) exp(pair - most), with
  // the first factors in `symbol`; returns top.
  double symbols(std::size_t place, std::size_t i, std::size_t j) {
    const double* node = c_.node + at(i, j);
    const std::size_t least = j == i + 1 ? 0 : 1;
    const double top = k_.largest(node + least, R_ - least);
    std::fill(symbol_.begin(), symbol_.end(), 0.0);
    std::fill(sum_.begin(), sum_.end(), 0.0);
    if (top == kMinusInfinity) return top;
    k_.exp_shifted(node + least, R_ - least, top, 1.0, symbol_.data() + least);
    k_.sum_step(symbol_.data() + 1, exp_pair(place, 1), sum_.data(), R_ - 1, 1, R_);
    if (least == 0) k_.add_scaled(symbol_[0], exp_pair(place, v_.symbol(i, 0)), sum_.data(), R_);
    return top;
  }
  const double* exp_pair(std::size_t place, std::size_t symbol) const {
    return pair_.data() + v_.shape.sizes.pair(place, symbol, 0);
  }

  // log of the sum over the labels of a child of exp(node + pair) for one parent, one by one.
  double child_sum(std::size_t place, std::size_t i, std::size_t j, std::size_t parent) const {
    const double* node = c_.node + at(i, j);
    double sum = kMinusInfinity;
    for (std::size_t s = j == i + 1 ? 0 : 1; s < R_; ++s) {
      sum = log_add(sum, node[s] + v_.pair(place, v_.symbol(i, s))[parent]);
    }
    return sum;
  }

  void as_child(std::size_t place, std::size_t i, std::size_t j, double* out) {
    const double top = symbols(place, i, j);
    const double* own = v_.row(kFirst + place, i, j);
    for (std::size_t p = 0; p < R_; ++p) {
      out[p] = own[p] + (sum_[p] > kTiny ? top + most_ + elementary::log(sum_[p])
                                         : child_sum(place, i, j, p));
    }
  }

  void hand_down(std::size_t place, std::size_t i, std::size_t j, const TreeView<double>& p);

  const TreeView<const double>& v_;
  const TreeSums& c_;
  const Kernels& k_ = kernels();
  std::size_t n_, R_;
  double most_;               // of the pairs
  std::vector<double> pair_;  // exp(pair - most)
  std::vector<double> ways_, symbol_, sum_, weight_;
  std::vector<double> outer_;  // posteriors of pairs, divided by exp(pair - most)
};

// From children by their parents to the nodes that they are, and to pairs of labels.
void Summation::hand_down(std::size_t place, std::size_t i, std::size_t j,
                          const TreeView<double>& p) {
  const double* child = p.row(kFirst + place, i, j);
  if (k_.largest(child, R_) <= kNegligible) return;
  symbols(place, i, j);
  double* node = p.row(kNode, i, j);
  for (std::size_t x = 0; x < R_; ++x) {
    weight_[x] = sum_[x] > kTiny ? child[x] / sum_[x] : 0.0;
    if (sum_[x] > kTiny || child[x] == 0.0) continue;
    const double whole = child_sum(place, i, j, x);
    for (std::size_t s = j == i + 1 ? 0 : 1; s < R_; ++s) {
      const std::size_t symbol = v_.symbol(i, s);
      const double q = child[x] * share(c_.node[at(i, j) + s] + v_.pair(place, symbol)[x], whole);
      node[s] += q;
      p.pair(place, symbol)[x] += q;
    }
  }
  for (std::size_t s = j == i + 1 ? 0 : 1; s < R_; ++s) {
    if (symbol_[s] == 0.0) continue;
    const std::size_t symbol = v_.symbol(i, s);
    double sum = 0.0;
    k_.sum_step_back(exp_pair(place, symbol), weight_.data(), &sum, 1, 1, R_);
    node[s] += symbol_[s] * sum;
    if (symbol_[s] * sum <= kNegligible) continue;
    k_.add_scaled(symbol_[s], weight_.data(), outer_.data() + v_.shape.sizes.pair(place, symbol, 0),
                  R_);
  }
}

void Summation::outside(const TreeView<double>& p, double* follow) {
  outer_.assign(pair_.size(), 0.0);
  std::fill(follow, follow + spans_of(n_) * R_, 0.0);
  std::vector<double> both(R_);
  double* rows[TreeShape::kMostKinds];
  for (std::size_t s = n_ == 1 ? 0 : 1; s < R_; ++s) {
    const double q = share(as_root(s), c_.whole);
    p.row(kNode, 0, n_)[s] = p.block[kRoot][v_.symbol(0, s)] = q;
  }
  for (std::size_t length = n_; length > 0; --length) {
    for (std::size_t i = 0; i + length <= n_; ++i) {
      const std::size_t j = i + length, here = at(i, j);
      double *node = p.row(kNode, i, j), *rest = p.row(kRest, i, j), *last = p.row(kLast, i, j);
      for (std::size_t x = 0; x < R_ && i > 0; ++x) {
        const double q = follow[here + x];
        if (q == 0.0) continue;
        last[x] = q * share(c_.last[here + x], c_.follow[here + x]);
        rest[x] = q * share(c_.rest[here + x], c_.follow[here + x]);
      }
      for (std::size_t place = 0; place < kPlaces && length < n_; ++place) {
        hand_down(place, i, j, p);
      }
      const bool as_node = k_.largest(node, R_) > kNegligible;
      const bool as_rest = k_.largest(rest, R_) > kNegligible;
      if (length == 1 || !(as_node || as_rest)) continue;
      const std::size_t splits = length - 1;
      ways(i, j);
      exponentials(0, splits, c_.inner + here);
      if (as_rest) {
        // A rest without the score of its span, which is the same for every split.
        const double* own = v_.row(kRest, i, j);
        for (std::size_t x = 0; x < R_; ++x) both[x] = c_.rest[here + x] - own[x];
        exponentials(1, splits, both.data());
      }
      for (std::size_t m = i + 1; m < j; ++m) {
        const double *a = ways_.data() + (m - i - 1) * R_, *b = a + splits * R_;
        double *first = p.row(kFirst, i, m), *middle = p.row(kMiddle, i, m);
        for (std::size_t x = 0; x < R_; ++x) {
          both[x] = node[x] * a[x];
          first[x] += both[x];
        }
        for (std::size_t x = 0; x < R_ && as_rest; ++x) {
          const double q = rest[x] * b[x];
          middle[x] += q;
          both[x] += q;
        }
        k_.add_scaled(1.0, both.data(), follow + at(m, j), R_);
        const std::size_t count = p.split(i, m, j, rows);
        for (std::size_t r = 0; r < count; ++r) k_.add_scaled(1.0, both.data(), rows[r], R_);
      }
    }
  }
  double* pairs = p.block[kPair];
  for (std::size_t q = 0; q < pair_.size(); ++q) pairs[q] += outer_[q] * pair_[q];
}

TreeSums charts(const TreeView<const double>& v, Workspace& ws) {
  const std::size_t size = spans_of(v.n) * v.R;
  TreeSums c;
  double** const slots[] = {&c.node, &c.first, &c.middle, &c.follow, &c.inner, &c.rest, &c.last};
  for (std::size_t s = 0; s < std::size(slots); ++s) *slots[s] = ws.real(SpanTreeScratch(s), size);
  return c;
}

}  // namespace

Scores divided(const Layout& layout, const Scores& scores, double eps, double* out) {
  Scores result;
  for (std::size_t b = kNode; b <= kRoot; ++b) {
    result.block[b] = out;
    for (std::size_t q = 0; q < layout.block[b].size(); ++q) *out++ = scores.block[b][q] / eps;
  }
  return result;
}

TreeSums sum_chart(const TreeView<const double>& v, Workspace& ws) {
  TreeSums chart = charts(v, ws);
  chart.whole = Summation(v, chart).inside();
  return chart;
}

double SpanTrees::infer(const Layout& layout, const Scores& scores, double eps,
                        const Marginals& marginals, Workspace& ws) const {
  const TreeView<const double> v(
      layout, eps == 1.0
                  ? scores
                  : divided(layout, scores, eps, ws.real(SpanTreeScratch::kDivided, layout.parts)));
  TreeSums chart = charts(v, ws);
  Summation sums(v, chart);
  chart.whole = sums.inside();
  if (marginals.block[kNode] == nullptr) return eps * chart.whole;
  const TreeView<double> p(layout, marginals);
  for (std::size_t b = kNode; b <= kRoot; ++b) {
    std::fill(p.block[b], p.block[b] + layout.block[b].size(), 0.0);
  }
  if (chart.whole == kMinusInfinity) return chart.whole;
  sums.outside(p, ws.real(SpanTreeScratch::kMass, spans_of(v.n) * v.R));
  return eps * chart.whole;
}

}  // namespace structlearn::text
