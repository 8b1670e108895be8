#include "structures/chains/product_sums.hpp"

#include <algorithm>

#include "numeric/elementary.hpp"
#include "numeric/kernels.hpp"
#include "numeric/softmax.hpp"
#include "structures/chains/shared_table.hpp"

namespace structlearn {
namespace {

enum class ProductSumScratch {
  kArrived,
  kTop,
  kMass,
  kWeight,
  kTotal,
  kMost,
  kPeak,
  kStep,
  kBack,
  kTable,
  kTerms,
  kChoices
};

}  // namespace

ProductSums::ProductSums(const SequenceView& v, const Product& p, double eps, Workspace& ws)
    : v_(v),
      p_(p),
      rows_(v, p),
      eps_(eps),
      ws_(ws),
      arrived_(ws.real(ProductSumScratch::kArrived, v.L * rows_.stride())),
      top_(ws.real(ProductSumScratch::kTop, (v.L + 1) * rows_.stride())),
      mass_(v.D > 1 ? ws.real(ProductSumScratch::kMass, (v.L + 1) * rows_.stride()) : nullptr),
      weight_(ws.real(ProductSumScratch::kWeight, v.L * rows_.stride())),
      total_(ws.real(ProductSumScratch::kTotal, v.L * rows_.stride())),
      most_(ws.real(ProductSumScratch::kMost, v.L * rows_.states())),
      peak_(ws.real(ProductSumScratch::kPeak, v.L * rows_.states())),
      step_(ws.real(ProductSumScratch::kStep, v.windows)),
      back_(ws.real(ProductSumScratch::kBack, v.windows)),
      terms_(ws.real[ProductSumScratch::kTerms]),
      choices_(ws.index[ProductSumScratch::kChoices]) {
  for (std::size_t j = 1; j <= v.L; ++j) {
    arrive(j - 1);
    end(j);
  }
  choose_last();
  value_ = log_sum(terms_.size(), eps, [&](std::size_t n) { return terms_[n]; });
}

ProductSums::Table ProductSums::table(std::size_t i) {
  if (v_.order == 0) return {};
  const auto [E, shift] = v_.stride == 0
                              ? shared_exponentials(v_.transition, v_.table_size(), eps_, ws_)
                              : exponentials(v_.table(i), v_.table_size(), eps_,
                                             ws_.real(ProductSumScratch::kTable, v_.table_size()));
  return {E, shift};
}

void ProductSums::arrive(std::size_t i) {
  const auto clear = [&](double* x, double value) {
    for (std::size_t s = 0; s < rows_.states(); ++s) {
      if (rows_.possible(i + 1, s)) std::fill_n(x + rows_.first(s), rows_.used(i, s), value);
    }
  };
  if (i == 0 || v_.grows(i)) {
    clear(at(arrived_, i), kMinusInfinity);
    grow(i);
    return;
  }
  clear(at(total_, i), 0.0);
  weigh(i);
  const auto [E, shift] = table(i);
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i, s) || most_[i * rows_.states() + s] == kMinusInfinity) continue;
    step(i, s, E);
    scatter(i, s);
  }
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (rows_.possible(i + 1, s)) settle(i, s, shift);
  }
}

// Windows get one label longer. The predecessor determines the state: there is one term.
void ProductSums::grow(std::size_t i) {
  double* out = at(arrived_, i);
  const auto from = [&](std::size_t s, auto&& body) {
    for (const Product::Step& step : p_.steps(i, s)) {
      if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
      for (const std::uint32_t k : p_.labels_of(p_.set(step.set))) body(step.to, k);
    }
  };
  if (i == 0) {
    from(p_.automaton().start,
         [&](std::size_t to, std::uint32_t k) { out[rows_.at(to, k)] = v_.start_of(k); });
    return;
  }
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i, s)) continue;
    const double* row = at(top_, i) + rows_.first(s);
    from(s, [&](std::size_t to, std::uint32_t k) {
      double* longer = out + rows_.first(to) + k;
      for (std::size_t w = 0; w < v_.windows_at(i - 1); ++w) {
        longer[w * v_.K] = std::max(longer[w * v_.K], row[w]);
      }
    });
  }
}

// Exponentials of the sums up to i.
void ProductSums::weigh(std::size_t i) {
  double *most = most_ + i * rows_.states(), *peak = peak_ + i * rows_.states();
  std::fill_n(peak, rows_.states(), kMinusInfinity);
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(i, s)) continue;
    const double* top = at(top_, i) + rows_.first(s);
    double* weight = at(weight_, i) + rows_.first(s);
    const std::size_t n = rows_.width(s);
    most[s] = kernels().largest(top, n);
    if (most[s] == kMinusInfinity) continue;
    kernels().exp_shifted(top, n, most[s], 1.0 / eps_, weight);
    if (mass_ != nullptr) {
      const double* mass = at(mass_, i) + rows_.first(s);
      for (std::size_t w = 0; w < n; ++w) weight[w] *= mass[w];
    }
    for (const Product::Step& step : p_.steps(i, s)) {
      if (step.to < rows_.states()) peak[step.to] = std::max(peak[step.to], most[s]);
    }
  }
}

// The sums over the previous labels, from one state, for each window.
void ProductSums::step(std::size_t i, std::size_t s, const double* E) {
  const double* weight = at(weight_, i) + rows_.first(s);
  const std::size_t n = rows_.width(s);
  if (v_.order == 0) {
    double sum = 0.0;
    for (std::size_t w = 0; w < n; ++w) sum += weight[w];
    std::fill_n(step_, v_.K, sum);
  } else if (rows_.wide(s)) {
    kernels().sum_step(weight, E, step_, v_.K, v_.stay, v_.K);
  } else {
    std::fill_n(step_, v_.K, 0.0);
    const std::uint32_t* labels = rows_.labels(s);
    for (std::size_t w = 0; w < n; ++w) {
      kernels().add_scaled(weight[w], E + labels[w] * v_.K, step_, v_.K);
    }
  }
}

// Adds them to the states that the labels lead to.
void ProductSums::scatter(std::size_t i, std::size_t s) {
  const double *most = most_ + i * rows_.states(), *peak = peak_ + i * rows_.states();
  double* total = at(total_, i);
  for (const Product::Step& step : p_.steps(i, s)) {
    if (step.to >= rows_.states() || !rows_.possible(i + 1, step.to)) continue;
    const Product::LabelSet& set = p_.set(step.set);
    const double share = elementary::exp((most[s] - peak[step.to]) / eps_);
    double* to = total + rows_.first(step.to);
    if (!rows_.wide(step.to)) {
      for (const std::uint32_t k : p_.labels_of(set)) {
        total[rows_.at(step.to, k)] += share * step_[k];
      }
    } else if (set.mask >= 0) {
      const double* mask = p_.factor(set);
      for (std::size_t w = 0; w < v_.windows; w += v_.K) {
        for (std::size_t k = 0; k < v_.K; ++k) to[w + k] += share * mask[k] * step_[w + k];
      }
    } else {
      for (const std::uint32_t k : p_.labels_of(set)) {
        for (std::size_t w = k; w < v_.windows; w += v_.K) to[w] += share * step_[w];
      }
    }
  }
}

// From sums of exponentials to logarithms, for the row of one state.
void ProductSums::settle(std::size_t i, std::size_t s, double shift) {
  const double base = peak_[i * rows_.states() + s] + shift;
  double *total = at(total_, i), *arrived = at(arrived_, i);
  rows_.for_row(i, s, [&](std::size_t slot, std::size_t) {
    if (total[slot] > kTooSmall) {
      arrived[slot] = base + eps_ * elementary::log(total[slot]);
      return;
    }
    total[slot] = 0.0;
    choose_before(i, slot);
    arrived[slot] = log_sum(terms_.size(), eps_, [&](std::size_t n) { return terms_[n]; });
  });
}

void ProductSums::end(std::size_t j) {
  double* top = at(top_, j);
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.possible(j, s)) continue;
    // The longest segment that ends in this state: deeper states are not reachable so early.
    std::size_t longest = 1;
    while (longest < v_.longest_to(j) && rows_.possible(j - longest, s)) ++longest;
    for (std::size_t d = 1; d <= longest; ++d) {
      const double *from = at(arrived_, j - d), *score = v_.row(j - d, d);
      rows_.for_row(j - 1, s, [&](std::size_t slot, std::size_t w) {
        const double x = from[slot] + score[w];
        top[slot] = d == 1 || x > top[slot] ? x : top[slot];
      });
    }
    if (mass_ == nullptr) continue;
    const std::size_t first = rows_.first(s), n = rows_.width(s);
    double* mass = at(mass_, j) + first;
    std::fill_n(mass, n, 0.0);
    for (std::size_t d = 1; d <= longest; ++d) {
      const double *from = at(arrived_, j - d), *score = v_.row(j - d, d);
      rows_.for_row(j - 1, s, [&](std::size_t slot, std::size_t w) {
        const double x = from[slot] + score[w];
        step_[slot - first] = x == kMinusInfinity ? x : x - top[slot];  // not -inf + inf
      });
      kernels().exp_shifted(step_, n, 0.0, 1.0 / eps_, step_);
      for (std::size_t w = 0; w < n; ++w) mass[w] += step_[w];
    }
  }
}

// -- choices and draws --------------------------------------------------------------------------

void ProductSums::choose_last() {
  choices_.clear();
  terms_.clear();
  for (std::size_t s = 0; s < rows_.states(); ++s) {
    if (!rows_.accepted(s)) continue;
    rows_.for_row(v_.L - 1, s, [&](std::size_t slot, std::size_t w) {
      add_choice(slot, ended(v_.L, slot) + v_.end_of(w));
    });
  }
}

void ProductSums::choose_before(std::size_t i, std::size_t slot) {
  choices_.clear();
  terms_.clear();
  const std::size_t window = rows_.window(slot), k = window % v_.K;
  const double* T = v_.grows(i) || v_.order == 0 ? nullptr : v_.table(i) + k;
  rows_.for_before(i, rows_.state(slot), window, [&](std::size_t s, std::size_t w) {
    const std::size_t before = rows_.at(s, w);
    add_choice(before, ended(i, before) + (T == nullptr ? 0.0 : T[w * v_.K]));
  });
}

void ProductSums::choose_length(std::size_t j, std::size_t slot) {
  choices_.clear();
  terms_.clear();
  const std::size_t s = rows_.state(slot), w = rows_.window(slot);
  for (std::size_t d = 1; d <= v_.longest_to(j) && rows_.possible(j - d + 1, s); ++d) {
    add_choice(d, at(arrived_, j - d)[slot] + v_.row(j - d, d)[w]);
  }
}

void ProductSums::draw(Random& random, Output& y) {
  const auto chosen = [&] {
    const double top = max_value(terms_.data(), terms_.size());
    for (double& x : terms_) x = elementary::exp((x - top) / eps_);
    return choices_[structlearn::draw(terms_.data(), terms_.size(), 1, random)];
  };
  y.assign(v_.L, -1);
  choose_last();
  std::size_t slot = chosen();
  for (std::size_t j = v_.L;;) {
    choose_length(j, slot);
    j -= chosen();
    y[j] = static_cast<std::int32_t>(rows_.window(slot) % v_.K);
    if (j == 0) return;
    choose_before(j, slot);
    slot = chosen();
  }
}

}  // namespace structlearn
