// Inside-outside for constituent trees (Baker 1979), and drawing from the distribution.
//
// What is kept for a span is a logarithm (in the units of the scores), so that nothing is lost
// however far apart the scores are; the outside pass hands out probabilities, which cannot
// overflow.
#include <algorithm>
#include <cmath>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/trees/constituency.hpp"
#include "structures/trees/constituency_view.hpp"

namespace structlearn {
namespace {

enum class SpanMarginalScratch {
  kFollow,
  kChild,
  kBody,
  kLabelled,
  kAny,
  kMassF,
  kMassC,
  kWeights
};

// eps log sum exp(x / eps) of n numbers; their weights, relative to the largest, into w.
double log_sum_of(const double* x, std::size_t n, double eps, double* w) {
  const double top = kernels().largest(x, n);
  if (top == kMinusInfinity) return top;
  kernels().exp_shifted(x, n, top, 1.0 / eps, w);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += w[i];
  return top + eps * elementary::log(sum);
}

// exp(x / eps) among exp(x / eps) + exp(y / eps), 0 where x is -inf.
double share(double x, double y, double eps) {
  return x == kMinusInfinity ? 0.0 : 1.0 / (1.0 + elementary::exp((y - x) / eps));
}

// w[i] = exp((x[i] - total) / eps), total their logarithm; returns what they add up to, which is 1
// but for the rounding of large scores.
double weigh(const double* x, std::size_t n, double total, double eps, double* w) {
  kernels().exp_shifted(x, n, total, 1.0 / eps, w);
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += w[i];
  return sum;
}

struct Chart {
  std::size_t n, m, R;
  double eps;
  double *follow, *child, *body;  // follow by column: follow[j * m + i], the others by row
  double *labelled, *any, *w;

  Chart(const SpanView& v, double temperature, Workspace& ws)
      : n(v.n),
        m(v.n + 1),
        R(v.R),
        eps(temperature),
        follow(ws.real(SpanMarginalScratch::kFollow, m * m)),
        child(ws.real(SpanMarginalScratch::kChild, m * m)),
        body(ws.real(SpanMarginalScratch::kBody, m * m)),
        labelled(ws.real(SpanMarginalScratch::kLabelled, m * m)),
        any(ws.real(SpanMarginalScratch::kAny, m * m)),
        w(ws.real(SpanMarginalScratch::kWeights, 2 * std::max(m, v.R))) {
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j <= n; ++j) {
        const double* s = v.row(i, j);
        const std::size_t at = i * m + j;
        labelled[at] = log_sum_of(s + 1, R - 1, eps, w);
        any[at] = log_add(s[0], labelled[at], eps);
        body[at] = j == i + 1 ? 0.0 : log_sum_of(splits(i, j), j - i - 1, eps, w);
        child[at] = body[at] + (j == i + 1 ? any[at] : labelled[at]);
        follow[j * m + i] = body[at] + any[at];
      }
    }
  }

  // Scores of the splits i + 1 .. j - 1: rows of both factors are contiguous.
  const double* splits(std::size_t i, std::size_t j) {
    double* sum = w + std::max(m, R);
    const double *left = child + i * m, *right = follow + j * m;
    for (std::size_t k = i + 1; k < j; ++k) sum[k - i - 1] = left[k] + right[k];
    return sum;
  }
  double value() const { return follow[n * m]; }
};

}  // namespace

double Constituency::infer(const Layout& layout, const Scores& scores, double eps,
                           const Marginals& out, Workspace& ws) const {
  const SpanView v(layout, scores);
  Chart c(v, eps, ws);
  const double value = c.value();
  double* p = out.block[kSpan];
  if (p == nullptr) return value;
  const std::size_t n = v.n, m = n + 1, R = v.R;
  std::fill(p, p + n * m * R, 0.0);
  if (value == kMinusInfinity) return value;
  // Probability that a span is in the binary tree, as the rest of a row of children and as a child.
  double* mass_follow = ws.real(SpanMarginalScratch::kMassF, m * m);  // by column, as follow
  double* mass_child = ws.real(SpanMarginalScratch::kMassC, m * m);
  std::fill(mass_follow, mass_follow + m * m, 0.0);
  std::fill(mass_child, mass_child + m * m, 0.0);
  mass_follow[n * m] = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = n; j > i; --j) {
      const std::size_t at = i * m + j;
      double as_child = mass_child[at], as_follow = mass_follow[j * m + i];
      const double total = as_child + as_follow;
      if (total == 0.0) continue;
      if (j == i + 1) {  // a word may go without a label in either place
        as_follow = total;
        as_child = 0.0;
      }
      const double* s = v.row(i, j);
      double* q = p + v.site(i, j) * R;
      q[0] = as_follow * share(s[0], c.labelled[at], eps);
      const double labelled = as_child + as_follow * share(c.labelled[at], s[0], eps);
      if (labelled > 0.0) {
        const double sum = weigh(s + 1, R - 1, c.labelled[at], eps, q + 1);
        kernels().scale(labelled / sum, q + 1, R - 1);
      }
      if (j == i + 1) continue;
      const double each = total / weigh(c.splits(i, j), j - i - 1, c.body[at], eps, c.w);
      kernels().add_scaled(each, c.w, mass_child + i * m + i + 1, j - i - 1);
      kernels().add_scaled(each, c.w, mass_follow + j * m + i + 1, j - i - 1);
    }
  }
  return value;
}

std::vector<Output> Constituency::sample(const Layout& layout, const Scores& scores, double eps,
                                         std::size_t n, std::uint64_t seed, Workspace& ws) const {
  const SpanView v(layout, scores);
  Chart c(v, eps, ws);
  if (c.value() == kMinusInfinity) return {};
  std::vector<Output> result(n);
  std::vector<OpenSpan> open;
  const auto choose = [&](const double* x, std::size_t count, Random& random) {
    const double top = max_value(x, count);
    kernels().exp_shifted(x, count, top, 1.0 / eps, c.w);
    return draw(c.w, count, 1, random);
  };
  for (std::size_t s = 0; s < n; ++s) {
    Random random(seed, s);
    write_tree(v.n, result[s], open,
               [&](const OpenSpan& at) -> std::pair<std::size_t, std::size_t> {
                 const std::size_t width = at.j - at.i, first = at.child && width > 1 ? 1 : 0;
                 const double* row = v.row(at.i, at.j);
                 const std::size_t label = first + choose(row + first, v.R - first, random);
                 if (width == 1) return {label, 0};
                 return {label, at.i + 1 + choose(c.splits(at.i, at.j), width - 1, random)};
               });
  }
  return result;
}

}  // namespace structlearn
