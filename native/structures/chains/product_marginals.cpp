// Marginals and entropies of sums over a product: the backward pass.
#include <algorithm>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/product_sums.hpp"

namespace structlearn {
namespace {

enum class ProductMarginalScratch {
  kEnded,
  kArrived,
  kRatio,
  kWindows,
  kLabels,
  kCounts,
  kPassed,
  kPassedBefore
};

// Used by callers that read the arrivals from the workspace.
class NoSink final : public MarginalSink {
  void segment(std::size_t, std::size_t, const double*) override {}
  void first(const double*) override {}
  void last(const double*) override {}
  double* transition(std::size_t) override { return nullptr; }
  bool summed() const override { return true; }
};

}  // namespace

void ProductSums::marginals(MarginalSink& sink) {
  const std::size_t n = rows_.stride();
  double* ended = ws_.real(ProductMarginalScratch::kEnded, n);
  double* arrived = ws_.real(ProductMarginalScratch::kArrived, v_.L * n);
  std::fill_n(ended, n, 0.0);
  std::fill_n(arrived, v_.L * n, 0.0);
  choose_last();
  softmax(terms_.data(), terms_.size(), eps_, terms_.data());
  for (std::size_t c = 0; c < terms_.size(); ++c) ended[choices_[c]] = terms_[c];
  sink.last(by_label(v_.L - 1, ended));
  const bool steps = v_.order > 0 && v_.L > v_.order;
  const bool summed = steps && sink.summed() && sink.transition(v_.order) != nullptr;
  double* counts = ws_.real(ProductMarginalScratch::kCounts, steps ? v_.table_size() : 0);
  if (summed) std::fill_n(counts, v_.table_size(), 0.0);
  for (std::size_t j = v_.L; j > 0; --j) {
    if (j < v_.L && v_.grows(j)) divide_grown(j, at(arrived, j), ended);
    if (j < v_.L && !v_.grows(j)) divide_labels(j, at(arrived, j), ended, sink);
    divide_lengths(j, ended, arrived, sink);
  }
  sink.first(by_label(0, arrived));
  if (!summed) return;
  double* out = sink.transition(v_.order);
  const double* E = table(v_.order).E;
  for (std::size_t x = 0; x < v_.table_size(); ++x) out[x] += counts[x] * E[x];
}

// The probabilities of windows at position i, over all states; and of their newest labels.
const double* ProductSums::by_window(std::size_t i, const double* p) {
  double* windows = ws_.real(ProductMarginalScratch::kWindows, v_.windows);
  std::fill_n(windows, v_.windows_at(i), 0.0);
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i + 1, s)) continue;
    rows_.for_row(i, s, [&](std::size_t slot, std::size_t w) { windows[w] += p[slot]; });
  }
  return windows;
}

const double* ProductSums::by_label(std::size_t i, const double* p) {
  const double* windows = by_window(i, p);
  double* labels = ws_.real(ProductMarginalScratch::kLabels, v_.K);
  std::fill_n(labels, v_.K, 0.0);
  for (std::size_t w = 0; w < v_.windows_at(i); ++w) labels[w % v_.K] += windows[w];
  return labels;
}

// The probability of ending before j, divided among the segments that end there.
void ProductSums::divide_lengths(std::size_t j, const double* ended, double* arrived,
                                 MarginalSink& sink) {
  if (mass_ == nullptr) {
    double* out = at(arrived, j - 1);
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (!rows_.possible(j, s)) continue;
      std::copy_n(ended + rows_.first(s), rows_.used(j - 1, s), out + rows_.first(s));
    }
    sink.segment(j - 1, 1, by_window(j - 1, out));
    return;
  }
  double* windows = ws_.real(ProductMarginalScratch::kWindows, v_.windows);
  const double *top = at(top_, j), *mass = at(mass_, j);
  for (std::size_t d = 1; d <= v_.longest_to(j); ++d) {
    const double *from = at(arrived_, j - d), *score = v_.row(j - d, d);
    double* out = at(arrived, j - d);
    std::fill_n(windows, v_.windows, 0.0);
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (!rows_.possible(j, s) || !rows_.possible(j - d + 1, s)) continue;
      const std::size_t first = rows_.first(s);
      rows_.for_row(j - 1, s, [&](std::size_t slot, std::size_t w) {
        const double x = from[slot] + score[w];
        step_[slot - first] = x == kMinusInfinity ? x : x - top[slot];
      });
      kernels().exp_shifted(step_, rows_.width(s), 0.0, 1.0 / eps_, step_);
      rows_.for_row(j - 1, s, [&](std::size_t slot, std::size_t w) {
        if (ended[slot] == 0.0) return;
        const double p = ended[slot] / mass[slot] * step_[slot - first];
        out[slot] += p;
        windows[w] += p;
      });
    }
    sink.segment(j - d, d, windows);
  }
}

// Where windows are still growing, each has a single predecessor.
void ProductSums::divide_grown(std::size_t i, const double* arrived, double* ended) {
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i, s)) continue;
    double* out = ended + rows_.first(s);
    const double* top = at(top_, i) + rows_.first(s);
    const std::size_t n = v_.windows_at(i - 1);
    std::fill_n(out, n, 0.0);
    for (const Product::Step& step : p_.steps(i, s)) {
      if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
      for (const std::uint32_t k : p_.labels_of(p_.set(step.set))) {
        const double* longer = arrived + rows_.first(step.to) + k;
        for (std::size_t w = 0; w < n; ++w) {
          if (top[w] != kMinusInfinity) out[w] += longer[w * v_.K];
        }
      }
    }
  }
}

// The probability of arriving at i, divided among the predecessors.
void ProductSums::divide_labels(std::size_t i, const double* arrived, double* ended,
                                MarginalSink& sink) {
  double* ratio = ws_.real(ProductMarginalScratch::kRatio, rows_.stride());
  const double *total = at(total_, i), *most = most_ + i * rows_.states();
  double* out = v_.order > 0 ? sink.transition(i) : nullptr;
  double* counts =
      out != nullptr ? ws_.real(ProductMarginalScratch::kCounts, v_.table_size()) : nullptr;
  if (counts != nullptr && !sink.summed()) std::fill_n(counts, v_.table_size(), 0.0);
  const double* E = table(i).E;
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (rows_.possible(i, s)) std::fill_n(ended + rows_.first(s), rows_.used(i - 1, s), 0.0);
    if (!rows_.possible(i + 1, s)) continue;
    rows_.for_row(i, s, [&](std::size_t slot, std::size_t) {
      ratio[slot] = total[slot] > 0.0 ? arrived[slot] / total[slot] : 0.0;
    });
  }
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i, s) || most[s] == kMinusInfinity) continue;
    gather(i, s, ratio);
    step_back(i, s, E, ended, counts);
  }
  if (counts != nullptr && !sink.summed()) {
    for (std::size_t x = 0; x < v_.table_size(); ++x) out[x] += counts[x] * E[x];
  }
  for (std::size_t s = 0; s < rows_.states(); ++s) {  // the ones computed with logarithms
    if (!rows_.possible(i + 1, s)) continue;
    rows_.for_row(i, s, [&](std::size_t slot, std::size_t w) {
      if (total[slot] > 0.0 || arrived[slot] == 0.0) return;
      choose_before(i, slot);
      for_shares(
          terms_.size(), eps_, [&](std::size_t c) { return terms_[c]; },
          [&](std::size_t c, double share) {
            ended[choices_[c]] += arrived[slot] * share;
            if (out != nullptr) {
              out[rows_.window(choices_[c]) * v_.K + w % v_.K] += arrived[slot] * share;
            }
          });
    });
  }
}

// The backward values of the states that the labels lead to, for each window.
void ProductSums::gather(std::size_t i, std::size_t s, const double* ratio) {
  const double *most = most_ + i * rows_.states(), *peak = peak_ + i * rows_.states();
  std::fill_n(step_, v_.windows, 0.0);
  for (const Product::Step& step : p_.steps(i, s)) {
    if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
    const Product::LabelSet& set = p_.set(step.set);
    const double share = elementary::exp((most[s] - peak[step.to]) / eps_);
    const double* from = ratio + rows_.first(step.to);
    if (!rows_.wide(step.to)) {
      for (const std::uint32_t k : p_.labels_of(set)) {
        step_[k] += share * ratio[rows_.at(step.to, k)];
      }
    } else if (set.mask >= 0) {
      const double* mask = p_.factor(set);
      for (std::size_t w = 0; w < v_.windows; w += v_.K) {
        for (std::size_t k = 0; k < v_.K; ++k) step_[w + k] += share * mask[k] * from[w + k];
      }
    } else {
      for (const std::uint32_t k : p_.labels_of(set)) {
        for (std::size_t w = k; w < v_.windows; w += v_.K) step_[w] += share * from[w];
      }
    }
  }
}

void ProductSums::step_back(std::size_t i, std::size_t s, const double* E, double* ended,
                            double* counts) {
  const double* weight = at(weight_, i) + rows_.first(s);
  double* out = ended + rows_.first(s);
  const std::size_t n = rows_.width(s);
  if (v_.order == 0) {
    double sum = 0.0;
    for (std::size_t k = 0; k < v_.K; ++k) sum += step_[k];
    for (std::size_t w = 0; w < n; ++w) out[w] += weight[w] * sum;
    return;
  }
  if (rows_.wide(s)) {
    kernels().sum_step_back(E, step_, back_, v_.K, v_.stay, v_.K);
    for (std::size_t w = 0; w < n; ++w) out[w] += weight[w] * back_[w];
  } else {
    for (std::size_t w = 0; w < n; ++w) {
      const double* row = E + rows_.labels(s)[w] * v_.K;
      double sum = 0.0;
      for (std::size_t k = 0; k < v_.K; ++k) sum += row[k] * step_[k];
      out[w] += weight[w] * sum;
    }
  }
  if (counts == nullptr) return;
  for (std::size_t w = 0; w < n; ++w) {
    if (weight[w] == 0.0) continue;
    const std::size_t window = rows_.wide(s) ? w : rows_.labels(s)[w];
    kernels().add_scaled(weight[w], step_ + window % v_.stay * v_.K, counts + window * v_.K, v_.K);
  }
}

// P(y) is a backward walk from the last label: an arrival behind the stretch has its probability
// there, divided among the labels before, of which only those that pass are kept.
std::vector<double> ProductSums::stretches(std::span<const Stretch> stretches,
                                           const Neighbours& fits) {
  NoSink sink;
  marginals(sink);
  const std::size_t n = rows_.stride();
  std::vector<double> probability;
  double *passed = ws_.real(ProductMarginalScratch::kPassed, n),
         *before = ws_.real(ProductMarginalScratch::kPassedBefore, n);
  for (const Stretch& stretch : stretches) {
    std::size_t i = std::min(stretch.end, v_.L - 1);
    std::copy_n(at(ws_.real(ProductMarginalScratch::kArrived, v_.L * n), i), n, passed);
    for (; i > 0 && i >= stretch.begin; --i) {
      std::fill_n(before, n, 0.0);
      for (std::size_t slot = 0; slot < n; ++slot) {
        if (passed[slot] == 0.0) continue;
        const std::size_t k = rows_.window(slot) % v_.K;
        choose_before(i, slot);
        for_shares(
            terms_.size(), eps_, [&](std::size_t c) { return terms_[c]; },
            [&](std::size_t c, double share) {
              if (fits(stretch, i, rows_.window(choices_[c]) % v_.K, k)) {
                before[choices_[c]] += passed[slot] * share;
              }
            });
      }
      std::swap(passed, before);
    }
    double sum = 0.0;
    for (std::size_t slot = 0; slot < n; ++slot) {
      const std::size_t k = rows_.window(slot) % v_.K;
      if (stretch.begin > 0 || fits(stretch, 0, kNoOutcome, k)) sum += passed[slot];
    }
    probability.push_back(std::min(1.0, sum));
  }
  return probability;
}

double ProductSums::entropy() {
  const std::size_t n = rows_.stride();
  double* ended = ws_.real(ProductMarginalScratch::kEnded, n);
  double* arrived = ws_.real(ProductMarginalScratch::kArrived, v_.L * n);
  std::fill_n(arrived, v_.L * n, 0.0);
  double sum = 0.0;
  // Divides a probability among the choices, and adds the entropy of the choice.
  const auto divide = [&](double p, auto&& take) {
    double open = 0.0;
    softmax_with_entropy(terms_.data(), terms_.size(), eps_, &open);
    sum += p * open;
    for (std::size_t c = 0; c < terms_.size(); ++c) take(choices_[c], p * terms_[c]);
  };
  for (std::size_t j = v_.L; j > 0; --j) {
    std::fill_n(ended, n, 0.0);
    const auto take = [&](std::size_t slot, double p) { ended[slot] += p; };
    if (j == v_.L) {
      choose_last();
      divide(1.0, take);
    }
    for (std::size_t slot = 0; j < v_.L && slot < n; ++slot) {
      if (at(arrived, j)[slot] == 0.0) continue;
      choose_before(j, slot);
      divide(at(arrived, j)[slot], take);
    }
    for (std::size_t slot = 0; slot < n; ++slot) {
      if (ended[slot] == 0.0) continue;
      choose_length(j, slot);
      divide(ended[slot], [&](std::size_t d, double p) { at(arrived, j - d)[slot] += p; });
    }
  }
  return sum;
}

}  // namespace structlearn
