#include "tasks/tagging/integer_perceptron.hpp"

#include <algorithm>
#include <stdexcept>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kReadAhead = 64;
// A forbidden outcome: far below every score, and far from overflowing when scores are added to it.
constexpr std::int32_t kForbidden = -(1 << 28);

std::vector<std::int32_t> integer_mask(std::span<const double> mask, std::size_t rows,
                                       std::size_t K, std::size_t stride) {
  std::vector<std::int32_t> out(rows * stride, 0);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0.0) out[i / K * stride + i % K] = kForbidden;
  }
  return out;
}

}  // namespace

IntegerPerceptron::IntegerPerceptron(const Layout& layout)
    : K_(layout.labels),
      stride_((layout.labels + kLanes - 1) / kLanes * kLanes),
      boundaries_(layout.boundaries),
      boundary_(layout.row_ptr.back()),
      row_ptr_(layout.row_ptr),
      column_(layout.column) {
  if (K_ == 0 || K_ > kMaxLabels) throw std::invalid_argument("the number of labels");
  const std::size_t features = row_ptr_.size() - 1;
  full_row_.assign(features, kNone);
  // From about this many observed labels on, adding a whole row beats adding weights one by one;
  // with many labels listing the weights of such features at each token takes more memory.
  const std::size_t enough = std::clamp<std::size_t>(stride_ / 8, 3, 16);
  std::uint32_t rows = 0;
  for (std::size_t f = 0; f < features; ++f) {
    if (row_ptr_[f + 1] - row_ptr_[f] >= enough) full_row_[f] = rows++;
  }
  full_.assign(rows * stride_, 0);
  full_real_.assign(rows * stride_, 0);
  full_behind_.assign(rows * stride_, 0);
  for (std::size_t f = 0; f < features; ++f) {
    if (full_row_[f] == kNone) continue;
    for (std::uint32_t q = row_ptr_[f]; q < row_ptr_[f + 1]; ++q) {
      full_real_[full_row_[f] * stride_ + column_[q]] = !layout.real || layout.real[q];
    }
  }
  listed_.assign(boundary_, 0);
  listed_behind_.assign(boundary_, 0);
  transition_mask_ = integer_mask(layout.transition_mask, K_, K_, stride_);
  start_mask_ = integer_mask(layout.start_mask, 1, K_, stride_);
  end_mask_ = integer_mask(layout.end_mask, 1, K_, stride_);
  transposed_.assign(K_ * stride_, 0);
  transition_behind_.assign(K_ * stride_, 0);
  start_behind_.assign(stride_, 0);
  end_behind_.assign(stride_, 0);
  transition_ = transition_mask_;
  start_ = start_mask_;
  end_ = end_mask_;
  transpose();
}

void IntegerPerceptron::transpose() {
  for (std::size_t a = 0; a < K_; ++a) {
    for (std::size_t b = 0; b < K_; ++b)
      transposed_[b * stride_ + a] = transition_[a * stride_ + b];
  }
}

void IntegerPerceptron::read(const Rows& rows, Batch& batch) const {
  if (rows.feature.size() > kNone / 8 || rows.gold.size() > kNone / 8) {
    throw std::invalid_argument("more tokens than a batch can hold");
  }
  std::size_t full = 0, listed = 0;
  for (const std::int32_t f : rows.feature) {
    const auto at = static_cast<std::size_t>(f);
    const bool is_full = full_row_[at] != kNone;
    full += is_full;
    listed += is_full ? 0 : row_ptr_[at + 1] - row_ptr_[at];
  }
  const std::size_t tokens = rows.gold.size();
  batch.sentence.assign(rows.sentence.begin(), rows.sentence.end());
  batch.gold.assign(rows.gold.begin(), rows.gold.end());
  batch.full_end.resize(tokens);
  batch.entry_end.resize(tokens);
  // The kernel asks for memory ahead of what it reads, beyond the end at the end.
  batch.full.assign(full + kReadAhead, 0);
  batch.entry.assign(listed + kReadAhead, 0);
  batch.entry_label.resize(listed);
  std::uint32_t* to_full = batch.full.data();
  std::uint32_t* to_entry = batch.entry.data();
  std::uint16_t* to_label = batch.entry_label.data();
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::int64_t j = rows.begin[t]; j < rows.begin[t + 1]; ++j) {
      const auto f = static_cast<std::size_t>(rows.feature[static_cast<std::size_t>(j)]);
      if (full_row_[f] != kNone) {
        *to_full++ = full_row_[f];
        continue;
      }
      for (std::uint32_t q = row_ptr_[f]; q < row_ptr_[f + 1]; ++q) {
        *to_entry++ = q;
        *to_label++ = static_cast<std::uint16_t>(column_[q]);
      }
    }
    batch.full_end[t] = static_cast<std::uint32_t>(to_full - batch.full.data());
    batch.entry_end[t] = static_cast<std::uint32_t>(to_entry - batch.entry.data());
  }
}

void IntegerPerceptron::viterbi(const Batch& batch, std::size_t begin, std::size_t end) {
  const std::size_t L = end - begin;
  if (scores_.size() < L * stride_) {
    scores_.resize(L * stride_);
    alpha_.resize(L * stride_);
    found_.resize(L);
  }
  const Kernels& kernel = kernels();
  kernel.integer_scores(
      {batch.full_end.data(), batch.entry_end.data(), batch.full.data(), batch.entry.data(),
       batch.entry_label.data(), full_.data(), listed_.data()},
      begin, end, stride_, scores_.data());
  for (std::size_t k = 0; k < stride_; ++k) alpha_[k] = start_[k] + scores_[k];
  kernel.integer_viterbi(transition_.data(), scores_.data(), L, K_, stride_, 2 * kForbidden,
                         alpha_.data());
  // Backwards: the first label that explains the value, as everywhere.
  const std::int32_t* a = alpha_.data() + (L - 1) * stride_;
  std::size_t best = 0;
  for (std::size_t k = 1; k < K_; ++k) {
    if (a[k] + end_[k] > a[best] + end_[best]) best = k;
  }
  found_[L - 1] = static_cast<std::uint16_t>(best);
  for (std::size_t t = L - 1; t > 0; --t) {
    const std::int32_t* into = transposed_.data() + best * stride_;
    const std::int32_t* from = alpha_.data() + (t - 1) * stride_;
    std::size_t arg = 0;
    std::int32_t value = from[0] + into[0];
    for (std::size_t k = 1; k < K_; ++k) {
      const std::int32_t x = from[k] + into[k];
      arg = x > value ? k : arg;
      value = x > value ? x : value;
    }
    best = arg;
    found_[t - 1] = static_cast<std::uint16_t>(best);
  }
}

void IntegerPerceptron::step_full(std::uint32_t row, std::size_t label, std::int32_t d) {
  const std::size_t q = row * stride_ + label;
  if (!full_real_[q]) return;
  full_[q] += d;
  full_behind_[q] -= d * steps_;
}

void IntegerPerceptron::step_transition(std::size_t from, std::size_t to, std::int32_t d) {
  transition_[from * stride_ + to] += d;
  transposed_[to * stride_ + from] += d;
  transition_behind_[from * stride_ + to] -= d * steps_;
}

void IntegerPerceptron::update(const Batch& batch, std::size_t begin, std::size_t end) {
  const std::uint16_t* gold = batch.gold.data() + begin;
  const std::size_t L = end - begin;
  for (std::size_t i = 0; i < L; ++i) {
    const std::size_t t = begin + i;
    if (i > 0 && (gold[i] != found_[i] || gold[i - 1] != found_[i - 1])) {
      step_transition(gold[i - 1], gold[i], 1);
      step_transition(found_[i - 1], found_[i], -1);
    }
    if (gold[i] == found_[i]) continue;
    for (std::uint32_t j = t == 0 ? 0 : batch.full_end[t - 1]; j < batch.full_end[t]; ++j) {
      step_full(batch.full[j], gold[i], 1);
      step_full(batch.full[j], found_[i], -1);
    }
    for (std::uint32_t j = t == 0 ? 0 : batch.entry_end[t - 1]; j < batch.entry_end[t]; ++j) {
      const std::uint16_t label = batch.entry_label[j];
      const std::int32_t d = (label == gold[i]) - (label == found_[i]);
      if (d == 0) continue;
      listed_[batch.entry[j]] += d;
      listed_behind_[batch.entry[j]] -= d * steps_;
    }
  }
  if (!boundaries_) return;
  const auto boundary = [&](std::vector<std::int32_t>& w, std::vector<std::int64_t>& behind,
                            std::size_t i) {
    if (gold[i] == found_[i]) return;
    w[gold[i]] += 1;
    behind[gold[i]] -= steps_;
    w[found_[i]] -= 1;
    behind[found_[i]] += steps_;
  };
  boundary(start_, start_behind_, 0);
  boundary(end_, end_behind_, L - 1);
}

EpochReport IntegerPerceptron::epoch(const Batch& batch, std::span<const std::int64_t> order,
                                     Interrupt& interrupt) {
  EpochReport report;
  for (const std::int64_t at : order) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    const auto i = static_cast<std::size_t>(at);
    const std::size_t begin = batch.sentence[i], end = batch.sentence[i + 1];
    viterbi(batch, begin, end);
    ++report.seen;
    const std::uint16_t* gold = batch.gold.data() + begin;
    if (!std::equal(gold, gold + (end - begin), found_.begin())) {
      ++report.updates;
      report.loss += static_cast<double>(loss(gold, end - begin));
      update(batch, begin, end);
    }
    ++steps_;
  }
  return report;
}

std::int64_t IntegerPerceptron::loss(const std::uint16_t* gold, std::size_t L) const {
  const auto difference = [](const auto& w, const auto& mask, std::size_t ours, std::size_t other) {
    return std::int64_t{w[ours]} - mask[ours] - w[other] + mask[other];
  };
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < L; ++i) {
    sum += scores_[i * stride_ + found_[i]] - scores_[i * stride_ + gold[i]];
    if (i == 0) continue;
    sum += difference(transition_, transition_mask_, found_[i - 1] * stride_ + found_[i],
                      gold[i - 1] * stride_ + gold[i]);
  }
  if (!boundaries_) return sum;
  return sum + difference(start_, start_mask_, found_[0], gold[0]) +
         difference(end_, end_mask_, found_[L - 1], gold[L - 1]);
}

template <class Self, class Visit>
void IntegerPerceptron::each(Self& self, Visit&& visit) {
  std::size_t at = 0;
  for (std::size_t f = 0; f + 1 < self.row_ptr_.size(); ++f) {
    for (std::uint32_t q = self.row_ptr_[f]; q < self.row_ptr_[f + 1]; ++q) {
      if (self.full_row_[f] == kNone) {
        visit(at++, self.listed_[q], self.listed_behind_[q], 0);
      } else {
        const std::size_t place = self.full_row_[f] * self.stride_ + self.column_[q];
        visit(at++, self.full_[place], self.full_behind_[place], 0);
      }
    }
  }
  for (std::size_t k = 0; self.boundaries_ && k < self.K_; ++k) {
    visit(at++, self.start_[k], self.start_behind_[k], self.start_mask_[k]);
  }
  for (std::size_t k = 0; self.boundaries_ && k < self.K_; ++k) {
    visit(at++, self.end_[k], self.end_behind_[k], self.end_mask_[k]);
  }
  for (std::size_t a = 0; a < self.K_; ++a) {
    for (std::size_t b = 0; b < self.K_; ++b) {
      const std::size_t q = a * self.stride_ + b;
      visit(at++, self.transition_[q], self.transition_behind_[q], self.transition_mask_[q]);
    }
  }
}

void IntegerPerceptron::write(std::span<double> w, bool average) const {
  const double steps = static_cast<double>(steps_);
  const bool mean = average && steps_ > 0;
  each(*this, [&](std::size_t q, std::int32_t v, std::int64_t behind, std::int32_t mask) {
    const double now = static_cast<double>(v - mask);
    w[q] = mean ? (steps * now + static_cast<double>(behind)) / steps : now;
  });
}

void IntegerPerceptron::save(std::span<std::int32_t> v, std::span<std::int64_t> behind) const {
  each(*this, [&](std::size_t q, std::int32_t now, std::int64_t lacks, std::int32_t mask) {
    v[q] = now - mask;
    behind[q] = lacks;
  });
}

void IntegerPerceptron::load(std::span<const std::int32_t> v, std::span<const std::int64_t> behind,
                             std::int64_t steps) {
  if (v.size() != weights() || behind.size() != weights()) {
    throw std::invalid_argument("the state of other weights");
  }
  each(*this, [&](std::size_t q, std::int32_t& now, std::int64_t& lacks, std::int32_t mask) {
    now = v[q] + mask;
    lacks = behind[q];
  });
  transpose();
  steps_ = steps;
}

}  // namespace structlearn
