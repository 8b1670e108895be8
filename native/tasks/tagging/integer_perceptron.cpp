#include "tasks/tagging/integer_perceptron.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <type_traits>

namespace structlearn {
namespace {

constexpr std::uint32_t kMost = 0xFFFFFFFFu;
constexpr std::size_t kLanes = 8;
constexpr std::int32_t kShort = 32767;  // the largest number of 16 bits
constexpr std::size_t kReadAhead = 64;
constexpr std::size_t kStepAhead = 8;
constexpr std::size_t kManyLabels = 64;  // from here on most labels before one can be passed over
// A forbidden outcome: far below every score, and far from overflowing when scores are added to it.
constexpr std::int32_t kForbidden = -(1 << 28);

// How many rows are laid out where there are n.
constexpr std::size_t in_fours(std::size_t n) {
  return (n + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
}

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
      // Half a line of the cache, or whole lines.
      row_(layout.labels <= 16 ? 16 : (layout.labels + 31) / 32 * 32),
      boundaries_(layout.boundaries),
      boundary_(layout.row_ptr.back()),
      row_ptr_(layout.row_ptr),
      column_(layout.column),
      limit_(kShort) {
  if (K_ == 0 || K_ > kMaxLabels) throw std::invalid_argument("the number of labels");
  const std::size_t features = row_ptr_.size() - 1;
  place_.resize(features);
  // From about this many observed labels on, adding a whole row beats adding weights one by one;
  // with many labels listing the weights of such features at each token takes more memory.
  const std::size_t enough = std::clamp<std::size_t>(stride_ / 8, 3, 16);
  std::uint32_t rows = 1, listed = 0;
  for (std::size_t f = 0; f < features; ++f) {
    const std::uint32_t n = row_ptr_[f + 1] - row_ptr_[f];
    if (n >= enough || listed > Place::kMostFirst) {
      place_[f] = Place::of_row(rows++);
    } else {
      place_[f] = Place::of_list(listed, n);
      listed += n;
    }
  }
  short_store_.full.assign(rows * row_, 0);
  short_store_.listed.assign(listed + 1, 0);  // at least one, to be asked for ahead of time
  full_real_.assign(rows * K_, 0);
  full_behind_.assign(rows * K_, 0);
  listed_label_.reserve(listed);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::uint32_t q = row_ptr_[f]; q < row_ptr_[f + 1]; ++q) {
      if (place_[f].is_full()) {
        full_real_[place_[f].row() * K_ + column_[q]] = !layout.real || layout.real[q];
      } else {
        listed_label_.push_back(static_cast<std::uint16_t>(column_[q]));
      }
    }
  }
  listed_behind_.assign(listed, 0);
  transition_mask_ = integer_mask(layout.transition_mask, K_, K_, stride_);
  start_mask_ = integer_mask(layout.start_mask, 1, K_, stride_);
  end_mask_ = integer_mask(layout.end_mask, 1, K_, stride_);
  transposed_.assign(K_ * stride_, 0);
  transition_behind_.assign(K_ * stride_, 0);
  start_behind_.assign(stride_, 0);
  end_behind_.assign(stride_, 0);
  if (K_ >= kManyLabels) most_.assign(K_, 0);
  transition_ = transition_mask_;
  start_ = start_mask_;
  end_ = end_mask_;
  derive();
}

void IntegerPerceptron::derive() {
  for (std::size_t a = 0; a < K_; ++a) {
    const std::int32_t* const row = transition_.data() + a * stride_;
    for (std::size_t b = 0; b < K_; ++b) transposed_[b * stride_ + a] = row[b];
    if (!most_.empty()) most_[a] = *std::max_element(row, row + K_);
  }
}

void IntegerPerceptron::read(const Rows& rows, Batch& batch,
                             const std::function<void(std::size_t)>& done) const {
  const std::size_t tokens = rows.gold.size(), features = rows.feature.size();
  constexpr std::size_t kAhead = 24, kDone = std::size_t{1} << 14;
  std::uint64_t full = 0, listed = 0;
  for (std::size_t t = 0, j = 0; t < tokens; ++t) {
    std::uint64_t own = 0;
    for (; j < static_cast<std::size_t>(rows.begin[t + 1]); ++j) {
      if (j + kAhead < features) {
        __builtin_prefetch(&place_[static_cast<std::size_t>(rows.feature[j + kAhead])]);
      }
      const Place place = place_[static_cast<std::size_t>(rows.feature[j])];
      own += place.is_full();
      listed += place.listed();
    }
    full += in_fours(own);
  }
  if (std::max({full, std::uint64_t{tokens}, listed}) > kMost / 8) {
    throw std::invalid_argument("more tokens than a batch can hold");
  }
  batch.sentence.assign(rows.sentence.begin(), rows.sentence.end());
  batch.gold.assign(rows.gold.begin(), rows.gold.end());
  batch.full_end.resize(tokens);
  batch.entry_end.resize(tokens);
  // The kernel asks for memory ahead of what it reads, beyond the end at the end.
  batch.full = large_buffer<std::uint32_t>(full + kReadAhead);
  batch.entry = large_buffer<std::uint32_t>(listed + kReadAhead);
  batch.entry_place = large_buffer<std::uint32_t>(listed + 1);
  std::uint32_t* to_full = batch.full.get();
  std::uint32_t* to_entry = batch.entry.get();
  std::uint32_t* to_place = batch.entry_place.get();
  std::size_t sentence = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::uint32_t* const before = to_full;
    while (t >= batch.sentence[sentence + 1]) ++sentence;
    const auto row = static_cast<std::uint32_t>((t - batch.sentence[sentence]) * stride_);
    for (auto j = static_cast<std::size_t>(rows.begin[t]);
         j < static_cast<std::size_t>(rows.begin[t + 1]); ++j) {
      if (j + kAhead < features) {
        __builtin_prefetch(&place_[static_cast<std::size_t>(rows.feature[j + kAhead])]);
      }
      const Place place = place_[static_cast<std::size_t>(rows.feature[j])];
      if (place.is_full()) {
        *to_full++ = place.row();
        continue;
      }
      const std::uint32_t end = place.first() + place.listed();
      for (std::uint32_t i = place.first(); i < end; ++i) {
        *to_entry++ = i;
        *to_place++ = row + listed_label_[i];
      }
    }
    const auto own = static_cast<std::size_t>(to_full - before);
    batch.most_full = std::max(batch.most_full, own);
    to_full = std::fill_n(to_full, in_fours(own) - own, 0);
    if (done && t % kDone == 0) done(static_cast<std::size_t>(rows.begin[t]));
    batch.full_end[t] = static_cast<std::uint32_t>(to_full - batch.full.get());
    batch.entry_end[t] = static_cast<std::uint32_t>(to_entry - batch.entry.get());
  }
  std::fill_n(to_full, kReadAhead, 0);
  std::fill_n(to_entry, kReadAhead, 0);
}

void IntegerPerceptron::widen() {
  store_.full.assign(short_store_.full.begin(), short_store_.full.end());
  store_.listed.assign(short_store_.listed.begin(), short_store_.listed.end());
  short_store_ = {};
  short_ = false;
}

void IntegerPerceptron::make_room(std::size_t most_full) {
  limit_ = static_cast<std::int32_t>(std::min<std::size_t>(
      static_cast<std::size_t>(limit_),
      static_cast<std::size_t>(kShort) / std::max<std::size_t>(1, most_full)));
  if (short_ && largest_ > limit_) widen();
}

void IntegerPerceptron::viterbi(const Batch& batch, std::size_t begin, std::size_t end) {
  const std::size_t L = end - begin;
  if (scores_.size() < L * stride_) {
    scores_.resize(L * stride_);
    alpha_.resize(L * stride_);
    found_.resize(L);
  }
  const Kernels& kernel = kernels();
  const IntegerTokens tokens{batch.full_end.data(), batch.entry_end.data(), batch.full.get(),
                             batch.entry.get(), batch.entry_place.get()};
  if (short_) {
    kernel.short_scores(tokens, {short_store_.full.data(), short_store_.listed.data(), row_}, begin,
                        end, stride_, scores_.data());
  } else {
    kernel.integer_scores(tokens, {store_.full.data(), store_.listed.data(), row_}, begin, end,
                          stride_, scores_.data());
  }
  for (std::size_t k = 0; k < stride_; ++k) alpha_[k] = start_[k] + scores_[k];
  if (most_.empty()) {
    kernel.integer_viterbi(transition_.data(), scores_.data(), L, K_, stride_, 2 * kForbidden,
                           alpha_.data());
  } else {
    forward_pruned(L);
  }
  kernel.integer_path(alpha_.data(), end_.data(), transposed_.data(), L, K_, stride_,
                      batch.gold.data() + begin, found_.data());
}

void IntegerPerceptron::forward_pruned(std::size_t L) {
  for (std::size_t t = 1; t < L; ++t) {
    const std::int32_t* const before = alpha_.data() + (t - 1) * stride_;
    // What the best label gives is a lower bound of all columns: others must reach it in one.
    const auto top = static_cast<std::size_t>(std::max_element(before, before + K_) - before);
    const std::int32_t* const row = transition_.data() + top * stride_;
    const std::int32_t least = before[top] + *std::min_element(row, row + K_);
    std::size_t n = 0;
    rows_.clear();
    step_.assign(stride_, 0);
    for (std::size_t j = 0; j < K_; ++j) {
      if (j != top && before[j] + most_[j] <= least) continue;
      const std::int32_t* const from = transition_.data() + j * stride_;
      rows_.insert(rows_.end(), from, from + stride_);
      step_[n++] = before[j];
    }
    step_.resize(2 * stride_);
    kernels().integer_viterbi(rows_.data(), scores_.data() + (t - 1) * stride_, 2, n, stride_,
                              2 * kForbidden, step_.data());
    std::copy_n(step_.begin() + static_cast<std::ptrdiff_t>(stride_), stride_,
                alpha_.begin() + static_cast<std::ptrdiff_t>(t * stride_));
  }
}

void IntegerPerceptron::step_full(std::uint32_t row, std::size_t label, std::int32_t d) {
  const std::size_t q = row * K_ + label;
  if (!full_real_[q]) return;
  full_behind_[q] -= d * steps_;
  const std::size_t at = row * row_ + label;
  if (!short_) {
    store_.full[at] += d;
    return;
  }
  const std::int32_t w = short_store_.full[at] + d;
  short_store_.full[at] = static_cast<std::int16_t>(w);
  largest_ = std::max(largest_, std::abs(w));
  if (largest_ >= limit_) widen();
}

void IntegerPerceptron::step_listed(std::uint32_t entry, std::int32_t d) {
  listed_behind_[entry] -= d * steps_;
  if (!short_) {
    store_.listed[entry] += d;
    return;
  }
  const std::int32_t w = short_store_.listed[entry] + d;
  short_store_.listed[entry] = static_cast<std::int16_t>(w);
  largest_ = std::max(largest_, std::abs(w));
  if (largest_ >= limit_) widen();
}

void IntegerPerceptron::step_transition(std::size_t from, std::size_t to, std::int32_t d) {
  const std::int32_t now = transition_[from * stride_ + to] += d;
  if (!most_.empty()) most_[from] = std::max(most_[from], now);
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
      const std::int64_t* const later = full_behind_.data() + batch.full[j + kStepAhead] * K_;
      __builtin_prefetch(later + gold[i], 1);
      __builtin_prefetch(later + found_[i], 1);
      step_full(batch.full[j], gold[i], 1);
      step_full(batch.full[j], found_[i], -1);
    }
    for (std::uint32_t j = t == 0 ? 0 : batch.entry_end[t - 1]; j < batch.entry_end[t]; ++j) {
      const std::size_t label = batch.entry_place[j] - i * stride_;
      const std::int32_t d = (label == gold[i]) - (label == found_[i]);
      if (d != 0) step_listed(batch.entry[j], d);
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

namespace {

template <class T>
void prefetch_lines(const T* begin, const T* end) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (; begin < end; begin += kLine) __builtin_prefetch(begin);
}

}  // namespace

// Asks for what is known of a sentence: those of a pass lie anywhere.
void IntegerPerceptron::prefetch(const Batch& batch, std::size_t i) {
  const std::size_t begin = batch.sentence[i], end = batch.sentence[i + 1];
  const auto first = [&](const std::vector<std::uint32_t>& ends) {
    return begin == 0 ? 0 : ends[begin - 1];
  };
  const std::uint32_t full = first(batch.full_end), entry = first(batch.entry_end);
  const std::uint32_t full_end = batch.full_end[end - 1], entry_end = batch.entry_end[end - 1];
  prefetch_lines(batch.full.get() + full, batch.full.get() + full_end);
  prefetch_lines(batch.entry.get() + entry, batch.entry.get() + entry_end);
  prefetch_lines(batch.entry_place.get() + entry, batch.entry_place.get() + entry_end);
  prefetch_lines(batch.gold.data() + begin, batch.gold.data() + end);
}

EpochReport IntegerPerceptron::epoch(const Batch& batch, std::span<const std::int64_t> order,
                                     Interrupt& interrupt) {
  EpochReport report;
  make_room(batch.most_full);
  if (!most_.empty()) derive();  // steps have only raised the bounds
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (interrupt.requested()) {
      report.complete = false;
      break;
    }
    if (n + 1 < order.size()) prefetch(batch, static_cast<std::size_t>(order[n + 1]));
    const auto i = static_cast<std::size_t>(order[n]);
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
  const auto visit_features = [&](auto& full, auto& listed) {
    for (std::size_t f = 0; f < self.place_.size(); ++f) {
      const Place place = self.place_[f];
      for (std::uint32_t q = self.row_ptr_[f]; q < self.row_ptr_[f + 1]; ++q) {
        if (place.is_full()) {
          const std::size_t k = self.column_[q];
          visit(at++, full[place.row() * self.row_ + k],
                self.full_behind_[place.row() * self.K_ + k], 0);
        } else {
          const std::size_t entry = place.first() + (q - self.row_ptr_[f]);
          visit(at++, listed[entry], self.listed_behind_[entry], 0);
        }
      }
    }
  };
  if (self.short_) {
    visit_features(self.short_store_.full, self.short_store_.listed);
  } else {
    visit_features(self.store_.full, self.store_.listed);
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
  for (std::size_t q = 0; q < boundary_; ++q) largest_ = std::max(largest_, std::abs(v[q]));
  make_room(1);
  each(*this, [&](std::size_t q, auto& now, std::int64_t& lacks, std::int32_t mask) {
    now = static_cast<std::remove_reference_t<decltype(now)>>(v[q] + mask);
    lacks = behind[q];
  });
  derive();
  steps_ = steps;
}

}  // namespace structlearn
