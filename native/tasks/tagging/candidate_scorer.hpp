// Taggers with many labels: each token has a few candidates, and sentences are chains over these.
//
// Every token has the same number B of candidates, labels in ascending order. Outcome b of a token
// is its b-th candidate, so that a sentence is an ordinary chain of B labels whose tables are its
// own at each position: all that a Chain can do works here. Weights exist for the pairs of feature
// and label, and for the label windows, that are listed; what is not listed is zero for good.
// Memory is that of what is listed, and a token costs what its features list of its candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "numeric/probing.hpp"
#include "scoring/scorer.hpp"
#include "tasks/tagging/forbidden_labels.hpp"

namespace structlearn {

using Candidate = std::uint16_t;

// Writes the `width` labels with the largest of K scores in ascending order; ties go to the first
// label. Labels `kept` that are not negative are among them, the first of these if there are more
// than `width`.
void best_labels(const double* score, std::size_t K, std::size_t width,
                 std::initializer_list<std::int32_t> kept, Candidate* out);

// Which candidate of a token a label is; `width` for labels that are none.
class CandidateSlots {
 public:
  CandidateSlots(std::size_t labels, std::size_t width)
      : width_(width), slot_(labels, static_cast<std::uint8_t>(width)) {}
  // The candidates have to stay until the next call.
  const std::uint8_t* set(const Candidate* candidates) {
    if (last_ != nullptr) {
      for (std::size_t b = 0; b < width_; ++b) slot_[last_[b]] = static_cast<std::uint8_t>(width_);
    }
    for (std::size_t b = 0; b < width_; ++b) slot_[candidates[b]] = static_cast<std::uint8_t>(b);
    last_ = candidates;
    return slot_.data();
  }
  const Candidate* candidates() const { return last_; }
  std::size_t width() const { return width_; }
  std::size_t labels() const { return slot_.size(); }
  std::size_t operator[](std::size_t label) const { return slot_[label]; }

 private:
  std::size_t width_;
  std::vector<std::uint8_t> slot_;
  const Candidate* last_ = nullptr;
};

// The blocks of a sentence of L tokens with `width` candidates each, as a Chain reads them.
Layout candidate_layout(std::size_t L, std::size_t width, std::size_t order);

// Calls visit(history in base `labels`, its number among the candidates) for the label histories of
// length `order` before a token whose candidates begin at `here`.
template <class Visit>
inline void for_histories(const Candidate* here, std::size_t width, std::size_t labels,
                          std::size_t order, Visit&& visit) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < order; ++i) count *= width;
  for (std::size_t h = 0; h < count; ++h) {
    std::uint64_t code = 0;
    std::size_t rest = h, place = count;
    for (std::size_t i = order; i > 0; --i) {
      place /= width;
      code = code * labels + (here - i * width)[rest / place];
      rest %= place;
    }
    visit(code, h);
  }
}

// Calls visit(place, number among the pairs of candidates) for those of some label pairs, numbers
// in base K in ascending order, whose labels are candidates of two neighbours.
template <class Visit>
inline void for_pairs(std::span<const std::uint32_t> pairs, const CandidateSlots& before,
                      const CandidateSlots& here, Visit&& visit) {
  const std::size_t K = here.labels(), B = here.width();
  if (pairs.size() <= 4 * B * B) {
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      const std::size_t a = before[pairs[q] / K], b = here[pairs[q] % K];
      if (a < B && b < B) visit(q, a * B + b);
    }
    return;
  }
  auto at = pairs.begin();
  for (std::size_t a = 0; a < B; ++a) {
    for (std::size_t b = 0; b < B; ++b) {
      const std::size_t pair = before.candidates()[a] * K + here.candidates()[b];
      at = std::lower_bound(at, pairs.end(), static_cast<std::uint32_t>(pair));
      if (at == pairs.end()) return;
      if (*at == pair) visit(static_cast<std::size_t>(at - pairs.begin()), a * B + b);
    }
  }
}

// Tokens with features, sentence by sentence. Borrowed.
struct TokenFeatures {
  std::span<const std::int64_t> sentence;  // first token of each, and the end of the last
  std::span<const std::int64_t> begin;     // first feature of each token, and the end of the last
  const std::int32_t* feature = nullptr;
  const double* value = nullptr;  // null: all are 1
  std::size_t tokens() const { return begin.size() - 1; }
};

// Rows of labels, ascending; one a feature, or one a history of labels.
struct LabelRows {
  std::vector<std::uint32_t> row_ptr{0}, column;
};

// The labels that each feature has a weight for: those that it was seen with and, where these are
// at least `fill` (0: never), all candidates of the tokens that have it.
LabelRows candidate_pairs(const TokenFeatures&, std::span<const Candidate> candidates,
                          std::size_t width, std::span<const std::uint32_t> row_ptr,
                          std::span<const std::uint32_t> column, std::size_t labels,
                          std::size_t fill);

// Rows of weights by label that are asked about a few labels at a time.
class IndexedRows {
 public:
  // Borrowed. `offset`: of the first weight in the vector of all weights.
  IndexedRows(std::span<const std::uint32_t> row_ptr, const std::uint32_t* column,
              std::size_t offset, std::size_t labels, std::size_t width);

  // Calls visit(weight, slot[label]) at least for the candidates that the row has weights for; for
  // other labels, if at all, with the slot `width`.
  template <class Visit>
  void at(std::size_t row, const Candidate* candidates, const std::uint8_t* slot,
          Visit&& visit) const {
    if (const std::uint32_t m = map_of_[row]; m != kNone) {
      const std::uint32_t* place = place_.data() + m * labels_;
      for (std::size_t b = 0; b < width_; ++b) {
        if (const std::uint32_t q = place[candidates[b]]; q != kNone) visit(offset_ + q, b);
      }
      return;
    }
    for (std::uint32_t q = row_ptr_[row]; q < row_ptr_[row + 1]; ++q) {
      visit(offset_ + q, std::size_t{slot[column_[q]]});
    }
  }
  // Where the weight of a label is; kAbsent: there is none.
  std::size_t find(std::size_t row, std::size_t label) const;
  void prefetch(std::size_t row) const {
    if (map_of_[row] == kNone) __builtin_prefetch(column_ + row_ptr_[row]);
  }

  static constexpr std::size_t kAbsent = SIZE_MAX;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::span<const std::uint32_t> row_ptr_;
  const std::uint32_t* column_;
  std::size_t offset_, labels_, width_;
  // Long rows have a table with the place of each label.
  std::vector<std::uint32_t> map_of_, place_;
};

// Numbers of label histories, each written as a number in base K, oldest label first.
class HistoryIndex {
 public:
  explicit HistoryIndex(std::span<const std::uint64_t> histories);
  // SIZE_MAX: not there.
  std::size_t find(std::uint64_t history) const {
    const std::size_t at =
        probe(history * 0x9E3779B97F4A7C15ULL >> 32, slot_.size() - 1,
              [&](std::size_t n) { return slot_[n] == kFree || history_[slot_[n]] == history; });
    return slot_[at] == kFree ? SIZE_MAX : slot_[at];
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFFu;
  std::vector<std::uint64_t> history_;
  std::vector<std::uint32_t> slot_;
};

// Features of label pairs: those of each pair of neighbours, and the pairs of labels that each has
// weights for, as numbers in base K. Borrowed.
struct PairFeatures {
  TokenFeatures sites;
  std::span<const std::uint32_t> row_ptr;
  const std::uint32_t* column = nullptr;
  std::size_t offset = 0;  // of the first weight

  std::span<const std::uint32_t> row(std::size_t feature) const {
    return {column + row_ptr[feature], column + row_ptr[feature + 1]};
  }
};

class CandidateScorer final : public Scorer {
 public:
  struct Windows {
    HistoryIndex index;
    IndexedRows rows;
  };
  // Pointers are borrowed. `windows`: by order, 1 first. `start` and `end`: where the weights of
  // the first and the last label begin.
  CandidateScorer(TokenFeatures tokens, std::span<const Candidate> candidates, std::size_t width,
                  std::size_t labels, IndexedRows state, std::size_t start, std::size_t end,
                  std::vector<Windows> windows, std::optional<PairFeatures> pairs,
                  ForbiddenLabels forbidden, std::size_t weights);
  // Layouts tell which labels the candidates are, for structures under automata.
  void name_labels() { names_labels_ = true; }

  std::size_t examples() const override { return tokens_.sentence.size() - 1; }
  std::size_t weights() const override { return weights_; }
  std::span<const std::int64_t> sentences() const { return tokens_.sentence; }
  Layout layout(std::size_t example) const override;
  void score(std::size_t example, const Layout&, Weights w, double scale,
             double* theta) const override;
  void gather(std::size_t example, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;

 private:
  template <class Real>
  void score_with(std::size_t example, const Layout&, const Real* w, double scale,
                  double* theta) const;
  // Calls visit(weight, number of the pair of candidates) for the features of the label pairs that
  // end at token t of an example.
  template <class Visit>
  void for_pair_features(std::size_t example, std::size_t t, const CandidateSlots& before,
                         const CandidateSlots& here, Visit&& visit) const;
  const Candidate* of(std::size_t token) const { return candidates_.data() + token * width_; }

  TokenFeatures tokens_;
  std::span<const Candidate> candidates_;
  std::size_t width_, labels_;
  IndexedRows state_;
  std::size_t start_, end_;
  std::vector<Windows> windows_;
  std::optional<PairFeatures> pairs_;  // then there are windows of order 1 only
  ForbiddenLabels forbidden_;
  std::size_t weights_;
  bool names_labels_ = false;
};

}  // namespace structlearn
