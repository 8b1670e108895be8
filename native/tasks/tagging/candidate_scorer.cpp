#include "tasks/tagging/candidate_scorer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "structures/chains/chain.hpp"
#include "structures/chains/constrained_sequence.hpp"

namespace structlearn {
namespace {

constexpr std::size_t kAhead = 8;  // features between asking for a row and reading it

}  // namespace

void best_labels(const double* score, std::size_t K, std::size_t width,
                 std::initializer_list<std::int32_t> kept, Candidate* out) {
  std::size_t n = 0;
  for (const std::int32_t k : kept) {
    const auto label = static_cast<Candidate>(k);
    if (k >= 0 && n < width && std::find(out, out + n, label) == out + n) out[n++] = label;
  }
  // Behind those that are kept: in descending order of scores, as far as labels were looked at.
  const std::size_t begin = n;
  for (std::size_t k = 0; k < K && begin < width; ++k) {
    if (n == width && !(score[k] > score[out[n - 1]])) continue;
    if (std::find(out, out + begin, static_cast<Candidate>(k)) != out + begin) continue;
    std::size_t at = n < width ? n++ : n - 1;
    for (; at > begin && score[k] > score[out[at - 1]]; --at) out[at] = out[at - 1];
    out[at] = static_cast<Candidate>(k);
  }
  std::sort(out, out + n);
}

LabelRows candidate_pairs(const TokenFeatures& tokens, std::span<const Candidate> candidates,
                          std::size_t width, std::span<const std::uint32_t> row_ptr,
                          std::span<const std::uint32_t> column, std::size_t labels,
                          std::size_t fill) {
  LabelRows out;
  const std::size_t features = row_ptr.size() - 1, T = tokens.tokens();
  if (fill == 0) {
    out.row_ptr.assign(row_ptr.begin(), row_ptr.end());
    out.column.assign(column.begin(), column.end());
    return out;
  }
  const auto grows = [&](std::size_t f) { return row_ptr[f + 1] - row_ptr[f] >= fill; };
  // The tokens that have each of the features that grow.
  std::vector<std::size_t> first(features + 1, 0);
  const auto for_features = [&](auto&& visit) {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::int64_t j = tokens.begin[t]; j < tokens.begin[t + 1]; ++j) {
        const auto f = static_cast<std::size_t>(tokens.feature[j]);
        if (grows(f)) visit(f, t);
      }
    }
  };
  for_features([&](std::size_t f, std::size_t) { ++first[f + 1]; });
  for (std::size_t f = 0; f < features; ++f) first[f + 1] += first[f];
  std::vector<std::uint32_t> having(first.back());
  {
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for_features(
        [&](std::size_t f, std::size_t t) { having[next[f]++] = static_cast<std::uint32_t>(t); });
  }
  std::vector<std::uint32_t> row_of(labels, 0xFFFFFFFFu);  // the last row that has the label
  out.row_ptr.reserve(features + 1);
  for (std::size_t f = 0; f < features; ++f) {
    const std::size_t begin = out.column.size();
    const auto add = [&](std::uint32_t label) {
      if (row_of[label] == f) return;
      row_of[label] = static_cast<std::uint32_t>(f);
      out.column.push_back(label);
    };
    for (std::uint32_t q = row_ptr[f]; q < row_ptr[f + 1]; ++q) add(column[q]);
    for (std::size_t i = first[f]; i < first[f + 1]; ++i) {
      if (out.column.size() - begin == labels) break;
      for (std::size_t b = 0; b < width; ++b) add(candidates[having[i] * width + b]);
    }
    std::sort(out.column.begin() + static_cast<std::ptrdiff_t>(begin), out.column.end());
    if (out.column.size() >= 0xFFFFFFFFu) throw std::length_error("more than 2^32 weights");
    out.row_ptr.push_back(static_cast<std::uint32_t>(out.column.size()));
  }
  return out;
}

IndexedRows::IndexedRows(std::span<const std::uint32_t> row_ptr, const std::uint32_t* column,
                         std::size_t offset, std::size_t labels, std::size_t width)
    : row_ptr_(row_ptr),
      column_(column),
      offset_(offset),
      labels_(labels),
      width_(width),
      map_of_(row_ptr.size() - 1, kNone) {
  // From here on a table is faster than going through the row, and not much larger than it.
  const std::size_t long_row = std::max<std::size_t>(2 * width, labels / 16);
  for (std::size_t row = 0; row + 1 < row_ptr.size(); ++row) {
    if (row_ptr[row + 1] - row_ptr[row] < long_row) continue;
    map_of_[row] = static_cast<std::uint32_t>(place_.size() / labels);
    place_.resize(place_.size() + labels, kNone);
    std::uint32_t* place = place_.data() + place_.size() - labels;
    for (std::uint32_t q = row_ptr[row]; q < row_ptr[row + 1]; ++q) place[column[q]] = q;
  }
}

std::size_t IndexedRows::find(std::size_t row, std::size_t label) const {
  if (const std::uint32_t m = map_of_[row]; m != kNone) {
    const std::uint32_t q = place_[m * labels_ + label];
    return q == kNone ? kAbsent : offset_ + q;
  }
  const std::uint32_t* begin = column_ + row_ptr_[row];
  const std::uint32_t* end = column_ + row_ptr_[row + 1];
  const std::uint32_t* at = std::lower_bound(begin, end, static_cast<std::uint32_t>(label));
  if (at == end || *at != label) return kAbsent;
  return offset_ + static_cast<std::size_t>(at - column_);
}

HistoryIndex::HistoryIndex(std::span<const std::uint64_t> histories)
    : history_(histories.begin(), histories.end()),
      slot_(std::bit_ceil(2 * histories.size() + 2), kFree) {
  for (std::size_t row = 0; row < history_.size(); ++row) {
    const std::size_t at = probe(history_[row] * 0x9E3779B97F4A7C15ULL >> 32, slot_.size() - 1,
                                 [&](std::size_t n) { return slot_[n] == kFree; });
    slot_[at] = static_cast<std::uint32_t>(row);
  }
}

CandidateScorer::CandidateScorer(TokenFeatures tokens, std::span<const Candidate> candidates,
                                 std::size_t width, std::size_t labels, IndexedRows state,
                                 std::size_t start, std::size_t end, std::vector<Windows> windows,
                                 std::optional<PairFeatures> pairs, ForbiddenLabels forbidden,
                                 std::size_t weights)
    : tokens_(tokens),
      candidates_(candidates),
      width_(width),
      labels_(labels),
      state_(std::move(state)),
      start_(start),
      end_(end),
      windows_(std::move(windows)),
      pairs_(pairs),
      forbidden_(forbidden),
      weights_(weights) {}

Layout candidate_layout(std::size_t L, std::size_t width, std::size_t order) {
  Layout layout;
  layout.add(Chain::kLabel, L, width, true);
  layout.add(Chain::kStart, 1, width, false);
  layout.add(Chain::kEnd, 1, width, false);
  std::size_t size = width;
  for (std::size_t j = 1; j <= order; ++j) {
    size *= width;
    layout.add(Chain::transition(j), L > j ? L - j : 0, size, true);
  }
  return layout;
}

Layout CandidateScorer::layout(std::size_t example) const {
  const auto begin = static_cast<std::size_t>(tokens_.sentence[example]);
  const std::size_t L = static_cast<std::size_t>(tokens_.sentence[example + 1]) - begin;
  Layout layout = candidate_layout(L, width_, windows_.size());
  if (names_labels_) {
    auto labels = std::make_shared<SymbolMap>();
    labels->symbol.assign(of(begin), of(begin + L));
    layout.shape = std::move(labels);
  }
  return layout;
}

template <class Visit>
void CandidateScorer::for_pair_features(std::size_t example, std::size_t t,
                                        const CandidateSlots& before, const CandidateSlots& here,
                                        Visit&& visit) const {
  const TokenFeatures& sites = pairs_->sites;
  const auto site = static_cast<std::size_t>(sites.sentence[example]) + t - 1;
  for (std::int64_t j = sites.begin[site]; j < sites.begin[site + 1]; ++j) {
    const auto f = static_cast<std::size_t>(sites.feature[j]);
    const std::size_t first = pairs_->offset + pairs_->row_ptr[f];
    for_pairs(pairs_->row(f), before, here,
              [&](std::size_t q, std::size_t pair) { visit(first + q, pair); });
  }
}

template <class Real>
void CandidateScorer::score_with(std::size_t example, const Layout& layout, const Real* w,
                                 double scale, double* theta) const {
  const auto first = static_cast<std::size_t>(tokens_.sentence[example]);
  const std::size_t L = layout.block[Chain::kLabel].sites, B = width_;
  CandidateSlots slots[2] = {{labels_, B}, {labels_, B}};  // of even tokens, of odd ones
  std::vector<double> sum(B + 1);
  const auto add = [&](const IndexedRows& rows, std::size_t row, double x, const Candidate* c,
                       const std::uint8_t* slot) {
    rows.at(row, c, slot,
            [&](std::size_t q, std::size_t b) { sum[b] += x * static_cast<double>(w[q]); });
  };
  const auto write = [&](double* out) {
    for (std::size_t b = 0; b < B; ++b) out[b] = scale * sum[b];
  };
  for (std::size_t t = 0; t < L; ++t) {
    const Candidate* c = of(first + t);
    const std::uint8_t* slot = slots[t % 2].set(c);
    std::fill(sum.begin(), sum.end(), 0.0);
    const std::int64_t begin = tokens_.begin[first + t], end = tokens_.begin[first + t + 1];
    for (std::int64_t j = begin; j < end; ++j) {
      if (j + static_cast<std::int64_t>(kAhead) < end) {
        state_.prefetch(static_cast<std::size_t>(tokens_.feature[j + kAhead]));
      }
      add(state_, static_cast<std::size_t>(tokens_.feature[j]),
          tokens_.value ? tokens_.value[j] : 1.0, c, slot);
    }
    write(theta + layout.block[Chain::kLabel].offset + t * B);
    for (std::size_t b = 0; b < B; ++b) {
      if (t == 0) {
        theta[layout.block[Chain::kStart].offset + b] =
            forbidden_.first(c[b]) ? kMinusInfinity : scale * static_cast<double>(w[start_ + c[b]]);
      }
      if (t + 1 == L) {
        theta[layout.block[Chain::kEnd].offset + b] =
            forbidden_.last(c[b]) ? kMinusInfinity : scale * static_cast<double>(w[end_ + c[b]]);
      }
    }
    for (std::size_t order = 1; order <= std::min(windows_.size(), t); ++order) {
      const Block& at = layout.block[Chain::transition(order)];
      double* out = theta + at.offset + (t - order) * at.outcomes;
      for_histories(c, B, labels_, order, [&](std::uint64_t history, std::size_t h) {
        const std::size_t row = windows_[order - 1].index.find(history);
        std::fill(sum.begin(), sum.end(), 0.0);
        if (row != SIZE_MAX) add(windows_[order - 1].rows, row, 1.0, c, slot);
        write(out + h * B);
      });
    }
    if (t == 0 || windows_.empty()) continue;
    const Block& pair = layout.block[Chain::transition(1)];
    double* out = theta + pair.offset + (t - 1) * pair.outcomes;
    if (pairs_) {
      for_pair_features(
          example, t, slots[(t - 1) % 2], slots[t % 2],
          [&](std::size_t q, std::size_t p) { out[p] += scale * static_cast<double>(w[q]); });
    }
    for (std::size_t p = 0; p < B * B && !forbidden_.empty(); ++p) {
      if (forbidden_.after((c - B)[p / B], c[p % B])) out[p] = kMinusInfinity;
    }
  }
}

void CandidateScorer::score(std::size_t example, const Layout& layout, Weights w, double scale,
                            double* theta) const {
  if (w.wide != nullptr) {
    score_with(example, layout, w.wide, scale, theta);
  } else {
    score_with(example, layout, w.narrow, scale, theta);
  }
}

void CandidateScorer::gather(std::size_t example, const Layout& layout, const PartVector& v,
                             WeightEntries& out, double least) const {
  const auto first = static_cast<std::size_t>(tokens_.sentence[example]);
  const std::size_t L = layout.block[Chain::kLabel].sites, B = width_;
  const Block& label = layout.block[Chain::kLabel];
  const auto value = [&](std::int64_t j) { return tokens_.value ? tokens_.value[j] : 1.0; };
  if (!v.dense) {
    const auto put = [&](std::size_t q, double x) {
      if (q != IndexedRows::kAbsent) out.emplace_back(q, x);
    };
    for (std::size_t n = 0; n < v.index.size(); ++n) {
      const std::size_t part = v.index[n];
      const double x = v.value[n];
      if (part < label.size()) {
        const std::size_t token = first + part / B, k = of(token)[part % B];
        for (std::int64_t j = tokens_.begin[token]; j < tokens_.begin[token + 1]; ++j) {
          put(state_.find(static_cast<std::size_t>(tokens_.feature[j]), k), x * value(j));
        }
        continue;
      }
      if (part < layout.block[Chain::kEnd].offset) {
        put(start_ + of(first)[part - layout.block[Chain::kStart].offset], x);
        continue;
      }
      std::size_t order = 0;
      while (order < windows_.size() && part >= layout.block[Chain::transition(order + 1)].offset) {
        ++order;
      }
      if (order == 0) {
        put(end_ + of(first + L - 1)[part - layout.block[Chain::kEnd].offset], x);
        continue;
      }
      const Block& at = layout.block[Chain::transition(order)];
      const std::size_t site = (part - at.offset) / at.outcomes;
      std::size_t window = (part - at.offset) % at.outcomes, place = at.outcomes;
      std::uint64_t history = 0;
      for (std::size_t i = 0; i < order; ++i) {
        place /= B;
        history = history * labels_ + of(first + site + i)[window / place];
        window %= place;
      }
      const std::size_t label = of(first + site + order)[window];
      if (const std::size_t row = windows_[order - 1].index.find(history); row != SIZE_MAX) {
        put(windows_[order - 1].rows.find(row, label), x);
      }
      if (!pairs_) continue;
      const TokenFeatures& sites = pairs_->sites;
      const std::size_t at_pair = static_cast<std::size_t>(sites.sentence[example]) + site;
      for (std::int64_t j = sites.begin[at_pair]; j < sites.begin[at_pair + 1]; ++j) {
        const auto f = static_cast<std::size_t>(sites.feature[j]);
        const auto row = pairs_->row(f);
        const auto found = std::lower_bound(row.begin(), row.end(), history * labels_ + label);
        if (found == row.end() || *found != history * labels_ + label) continue;
        put(pairs_->offset + pairs_->row_ptr[f] + static_cast<std::size_t>(found - row.begin()), x);
      }
    }
    return;
  }
  CandidateSlots slots[2] = {{labels_, B}, {labels_, B}};
  std::vector<double> here(B + 1, 0.0);  // the last for labels that are no candidates
  const auto read = [&](const double* from) {
    bool any = false;
    for (std::size_t b = 0; b < B; ++b) {
      here[b] = std::abs(from[b]) > least ? from[b] : 0.0;
      any |= here[b] != 0.0;
    }
    return any;
  };
  const auto put = [&](const IndexedRows& rows, std::size_t row, double x, const Candidate* c,
                       const std::uint8_t* slot) {
    rows.at(row, c, slot, [&](std::size_t q, std::size_t b) {
      if (here[b] != 0.0) out.emplace_back(q, x * here[b]);
    });
  };
  for (std::size_t t = 0; t < L; ++t) {
    const Candidate* c = of(first + t);
    const std::uint8_t* slot = slots[t % 2].set(c);
    if (read(v.value.data() + label.offset + t * B)) {
      for (std::int64_t j = tokens_.begin[first + t]; j < tokens_.begin[first + t + 1]; ++j) {
        put(state_, static_cast<std::size_t>(tokens_.feature[j]), value(j), c, slot);
      }
    }
    const auto boundary = [&](std::size_t block, std::size_t offset) {
      read(v.value.data() + layout.block[block].offset);
      for (std::size_t b = 0; b < B; ++b) {
        if (here[b] != 0.0) out.emplace_back(offset + c[b], here[b]);
      }
    };
    if (t == 0) boundary(Chain::kStart, start_);
    if (t + 1 == L) boundary(Chain::kEnd, end_);
    for (std::size_t order = 1; order <= std::min(windows_.size(), t); ++order) {
      const Block& at = layout.block[Chain::transition(order)];
      const double* from = v.value.data() + at.offset + (t - order) * at.outcomes;
      for_histories(c, B, labels_, order, [&](std::uint64_t history, std::size_t h) {
        if (!read(from + h * B)) return;
        const std::size_t row = windows_[order - 1].index.find(history);
        if (row != SIZE_MAX) {
          put(windows_[order - 1].rows, row, 1.0, c, slot);
        }
      });
    }
    if (!pairs_ || t == 0) continue;
    const Block& pair = layout.block[Chain::transition(1)];
    const double* from = v.value.data() + pair.offset + (t - 1) * pair.outcomes;
    for_pair_features(example, t, slots[(t - 1) % 2], slots[t % 2],
                      [&](std::size_t q, std::size_t p) {
                        if (std::abs(from[p]) > least) out.emplace_back(q, from[p]);
                      });
  }
}

}  // namespace structlearn
