#include "structures/chains/product_search.hpp"

#include <algorithm>

#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/lazy_kbest.hpp"

namespace structlearn {
namespace {

enum class ProductSearchScratch { kArrived, kEnded, kStep };

// ended(j)[slot]: the best score up to j in a state of the product; arrived(i)[slot]: the same for
// sequences that continue at i with the slot's label, without the segment starting there.
class BestChart {
 public:
  BestChart(const SequenceView& v, const Product& p, bool keep, Workspace& ws)
      : v_(v), p_(p), rows_(v, p) {
    keep_ = keep || v.D > 1;
    arrived_ = ws.real(ProductSearchScratch::kArrived, (keep_ ? v.L : 1) * rows_.stride());
    ended_ = ws.real(ProductSearchScratch::kEnded, (v.L + 1) * rows_.stride());
    step_ = ws.real(ProductSearchScratch::kStep, v.windows);
    for (std::size_t j = 1; j <= v.L; ++j) {
      arrive(j - 1);
      end(j);
    }
  }

  const ProductRows& rows() const { return rows_; }
  double* ended(std::size_t j) const { return ended_ + j * rows_.stride(); }
  double* arrived(std::size_t i) const { return arrived_ + (keep_ ? i : 0) * rows_.stride(); }

 private:
  void arrive(std::size_t i) {
    double* out = arrived(i);
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (!rows_.possible(i + 1, s)) continue;
      std::fill_n(out + rows_.first(s), rows_.used(i, s), kMinusInfinity);
    }
    if (i == 0) {
      const std::size_t from = p_.automaton().start;
      for (const Product::Step& step : p_.steps(0, from)) {
        if (step.to >= rows_.states() || !rows_.possible(1, step.to)) continue;
        for (const std::uint32_t k : p_.labels_of(p_.set(step.set))) {
          out[rows_.at(step.to, k)] = v_.start_of(k);
        }
      }
      return;
    }
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (!rows_.possible(i, s)) continue;
      const double* row = ended(i) + rows_.first(s);
      const std::size_t n = rows_.used(i - 1, s);
      const double most = kernels().largest(row, n);
      if (most == kMinusInfinity) continue;
      if (v_.grows(i)) {
        grow(i, s, row, n, out);
      } else {
        step(i, s, row, most);
        scatter(i, s, out);
      }
    }
  }

  // Windows get one label longer; nothing is added.
  void grow(std::size_t i, std::size_t s, const double* row, std::size_t n, double* out) const {
    for (const Product::Step& step : p_.steps(i, s)) {
      if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
      for (const std::uint32_t k : p_.labels_of(p_.set(step.set))) {
        double* to = out + rows_.first(step.to) + k;
        for (std::size_t w = 0; w < n; ++w) to[w * v_.K] = std::max(to[w * v_.K], row[w]);
      }
    }
  }

  // The best predecessor of each window at position i, from state s.
  void step(std::size_t i, std::size_t s, const double* row, double most) const {
    if (v_.order == 0) {
      std::fill_n(step_, v_.K, most);
      return;
    }
    const double* T = v_.table(i);
    if (rows_.wide(s)) {
      kernels().max_step(row, T, step_, v_.K, v_.stay, v_.K);
      return;
    }
    std::fill_n(step_, v_.K, kMinusInfinity);
    const std::uint32_t* labels = rows_.labels(s);
    for (std::size_t n = 0; n < rows_.width(s); ++n) {
      kernels().max_plus(row[n], T + labels[n] * v_.K, step_, v_.K);
    }
  }

  // From state s to the states that the labels lead to.
  void scatter(std::size_t i, std::size_t s, double* out) const {
    for (const Product::Step& step : p_.steps(i, s)) {
      if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
      const Product::LabelSet& set = p_.set(step.set);
      double* to = out + rows_.first(step.to);
      if (!rows_.wide(step.to)) {
        for (const std::uint32_t k : p_.labels_of(set)) {
          double& x = out[rows_.at(step.to, k)];
          x = std::max(x, step_[k]);
        }
      } else if (set.mask >= 0) {
        const double* mask = p_.added(set);
        for (std::size_t w = 0; w < v_.windows; w += v_.K) {
          for (std::size_t k = 0; k < v_.K; ++k) {
            const double x = step_[w + k] + mask[k];
            to[w + k] = x > to[w + k] ? x : to[w + k];
          }
        }
      } else {
        for (const std::uint32_t k : p_.labels_of(set)) {
          for (std::size_t w = k; w < v_.windows; w += v_.K) to[w] = std::max(to[w], step_[w]);
        }
      }
    }
  }

  void end(std::size_t j) const {
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (!rows_.possible(j, s)) continue;
      double* out = ended(j);
      for (std::size_t d = 1; d <= v_.longest_to(j); ++d) {
        // Deeper states are not reachable so early.
        if (d > 1 && !rows_.possible(j - d + 1, s)) break;
        const double *from = arrived(j - d), *score = v_.row(j - d, d);
        if (d == 1) {
          rows_.for_row(j - 1, s,
                        [&](std::size_t n, std::size_t w) { out[n] = from[n] + score[w]; });
        } else {
          rows_.for_row(j - 1, s, [&](std::size_t n, std::size_t w) {
            const double x = from[n] + score[w];
            out[n] = x > out[n] ? x : out[n];
          });
        }
      }
    }
  }

  const SequenceView& v_;
  const Product& p_;
  ProductRows rows_;
  bool keep_;
  double *arrived_, *ended_, *step_;
};

// The chart as a forest: nodes ended before j, nodes arrived at i, and the root.
struct AcceptedForest {
  const SequenceView& v;
  const Product& p;
  const BestChart& chart;
  std::size_t n;  // numbers per position

  AcceptedForest(const SequenceView& view, const Product& product, const BestChart& filled)
      : v(view), p(product), chart(filled), n(filled.rows().stride()) {}

  std::uint64_t ended(std::size_t j, std::size_t slot) const { return j * n + slot; }
  std::uint64_t arrived(std::size_t i, std::size_t slot) const { return (v.L + 1 + i) * n + slot; }
  std::uint64_t root() const { return arrived(v.L, 0); }
  bool has_ended(std::uint64_t at) const { return at < arrived(0, 0); }

  double best(std::uint64_t at) const {  // never called for the root
    const std::size_t place = at / n, slot = at % n;
    const std::size_t s = chart.rows().state(slot);
    if (has_ended(at)) {
      return chart.rows().possible(place, s) ? chart.ended(place)[slot] : kMinusInfinity;
    }
    const std::size_t i = place - (v.L + 1);
    return chart.rows().possible(i + 1, s) ? chart.arrived(i)[slot] : kMinusInfinity;
  }
  std::uint32_t ways(std::uint64_t at) const {
    if (at == root()) return static_cast<std::uint32_t>(n);
    const std::size_t place = at / n, slot = at % n;
    if (has_ended(at)) return static_cast<std::uint32_t>(v.longest_to(place));
    const std::size_t i = place - (v.L + 1);
    if (i == 0) return 1;
    const std::size_t window = chart.rows().window(slot);
    const std::size_t states = p.before(i, chart.rows().state(slot), window % v.K).size();
    return static_cast<std::uint32_t>(v.grows(i) ? states : states * v.K);
  }
  double way(std::uint64_t at, std::uint32_t e, std::vector<std::uint64_t>& tails) const {
    const ProductRows& rows = chart.rows();
    tails.clear();
    if (at == root()) {
      tails = {ended(v.L, e)};
      const bool last = rows.window(e) < v.windows_at(v.L - 1);
      return last && rows.accepted(rows.state(e)) ? v.end_of(rows.window(e)) : kMinusInfinity;
    }
    const std::size_t place = at / n, slot = at % n, window = rows.window(slot);
    if (has_ended(at)) {  // by a segment of length e + 1
      const std::size_t i = place - e - 1;
      tails = {arrived(i, slot)};
      return v.row(i, e + 1)[window];
    }
    const std::size_t i = place - (v.L + 1), k = window % v.K, rest = window / v.K;
    if (i == 0) return v.start_of(k);
    const auto states = p.before(i, rows.state(slot), k);
    const std::size_t from = states[v.grows(i) ? e : e / v.K];
    const std::size_t before = v.grows(i) ? rest : e % v.K * v.stay + rest;
    const std::size_t slot_before = from < rows.states() ? rows.at(from, before) : n;
    if (slot_before >= n) return kMinusInfinity;  // this label does not lead there
    tails = {ended(i, slot_before)};
    return v.grows(i) || v.order == 0 ? 0.0 : v.table(i)[before * v.K + k];
  }
};

}  // namespace

double best_accepted(const SequenceView& v, const Product& p, Output& y, Workspace& ws) {
  const BestChart chart(v, p, false, ws);
  const ProductRows& rows = chart.rows();
  y.assign(v.L, 0);
  double value = kMinusInfinity;
  std::size_t s = 0, w = 0;
  for (std::size_t state = 0; state < rows.states(); ++state) {
    if (!rows.accepted(state)) continue;
    const double* ended = chart.ended(v.L);
    rows.for_row(v.L - 1, state, [&](std::size_t slot, std::size_t window) {
      const double x = ended[slot] + v.end_of(window);
      if (x <= value) return;
      value = x;
      s = state;
      w = window;
    });
  }
  if (value == kMinusInfinity) return value;
  // Back-pointers are not stored: traceback finds each maximum again quickly.
  for (std::size_t j = v.L;;) {
    std::size_t i = j - 1;
    if (v.D > 1) {
      const std::size_t slot = rows.at(s, w);
      double most = kMinusInfinity;
      for (std::size_t d = 1; d <= v.longest_to(j); ++d) {
        if (!rows.possible(j - d + 1, s)) break;
        const double x = chart.arrived(j - d)[slot] + v.row(j - d, d)[w];
        if (x <= most) continue;
        most = x;
        i = j - d;
      }
    }
    y[i] = static_cast<std::int32_t>(w % v.K);
    std::fill(y.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              y.begin() + static_cast<std::ptrdiff_t>(j), -1);
    if (i == 0) return value;
    const double* ended = chart.ended(i);
    const double* T = v.grows(i) || v.order == 0 ? nullptr : v.table(i) + w % v.K;
    double most = kMinusInfinity;
    std::size_t state = 0, window = 0;
    rows.for_before(i, s, w, [&](std::size_t from, std::size_t before) {
      const double x = ended[rows.at(from, before)] + (T == nullptr ? 0.0 : T[before * v.K]);
      if (x <= most) return;
      most = x;
      state = from;
      window = before;
    });
    s = state;
    w = window;
    j = i;
  }
}

std::vector<std::pair<double, Output>> kbest_accepted(const SequenceView& v, const Product& p,
                                                      std::size_t n, Workspace& ws) {
  const BestChart chart(v, p, true, ws);
  const AcceptedForest forest(v, p, chart);
  const Output blank(v.L, -1);
  return kbest_outputs(forest, forest.root(), n, blank,
                       [&](std::uint64_t at, std::uint32_t e, Output& y) {
                         if (at == forest.root() || !forest.has_ended(at)) return;
                         const std::size_t window = chart.rows().window(at % forest.n);
                         y[at / forest.n - e - 1] = static_cast<std::int32_t>(window % v.K);
                       });
}

}  // namespace structlearn
