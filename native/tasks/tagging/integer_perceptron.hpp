// The averaged perceptron on first-order chains with named features, in whole numbers.
//
// Its steps are +1 and -1, so every weight is a whole number, and integers compute what
// online_epoch computes with unit steps, to the last bit, in a fraction of the time: a quarter of
// the memory is read, many labels go through a vector instruction, and the features of a token are
// laid out for the one way they are used. Two kinds of features: those seen with many labels have
// a row with a weight a label and are added as vectors; the weights of the others are listed token
// by token, next to each other, so that no row has to be looked up. Weights have 16 bits until one
// is so large that the sum of a token's might not fit, and 32 bits from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "learners/online.hpp"
#include "numeric/kernels.hpp"
#include "numeric/large_pages.hpp"
#include "numeric/parallel.hpp"

namespace structlearn {

class IntegerPerceptron {
 public:
  // The weights: rows of observed labels, one a feature (row_ptr, column), then start, end and
  // transition, the order of a Chain's layout. Masks may be empty; where one is -inf the outcome is
  // forbidden. `boundaries`: weights for the first and last label exist. Pointers are borrowed.
  struct Layout {
    std::span<const std::uint32_t> row_ptr;
    const std::uint32_t* column = nullptr;
    // 0 where an entry only fills up its row (see WeightRows) and stays zero; null: none does.
    const std::uint8_t* real = nullptr;
    std::size_t labels = 0;
    bool boundaries = true;
    std::span<const double> start_mask, end_mask, transition_mask;
  };

  // Sentences in the form that an epoch reads.
  struct Batch {
    std::vector<std::uint32_t> sentence{0};          // first token of each
    std::vector<std::uint32_t> full_end, entry_end;  // of each token
    // As many as the ends say, and some more to read ahead of them. Rows come in fours, with row 0,
    // which is zero, for those that are missing: the adding has fewer turns, and they are easier to
    // foresee.
    LargeBuffer<std::uint32_t> full, entry, entry_place;
    std::vector<std::uint16_t> gold;
    std::size_t most_full = 0;  // rows of a token
  };

  static constexpr std::size_t kMaxLabels = 4096;

  explicit IntegerPerceptron(const Layout&);

  // Sentences as compressed rows: tokens of each, features of each token, gold labels.
  struct Rows {
    std::span<const std::int64_t> sentence, begin;
    std::span<const std::int32_t> feature, gold;
  };
  // Calls done(n) now and then, where that is given: the first n features are not read again.
  void read(const Rows&, Batch&, const std::function<void(std::size_t)>& done = {}) const;

  EpochReport epoch(const Batch&, std::span<const std::int64_t> order, Interrupt&);
  // Sentences that are known to be right are passed over: they count in the average.
  void skip(std::int64_t sentences) { steps_ += sentences; }

  std::size_t features() const { return place_.size(); }
  std::size_t weights() const { return boundary_ + 2 * (boundaries_ ? K_ : 0) + K_ * K_; }
  // The averaged weights, or the last ones.
  void mean(std::span<double> w) const { write(w, true); }
  void last(std::span<double> w) const { write(w, false); }

  // All that later epochs depend on, in the order of the layout; steps() belongs to it.
  void save(std::span<std::int32_t> v, std::span<std::int64_t> behind) const;
  void load(std::span<const std::int32_t> v, std::span<const std::int64_t> behind,
            std::int64_t steps);
  std::int64_t steps() const { return steps_; }

 private:
  // Where the weights of a feature are: its row, or the first of those that are listed and how many
  // these are. In four bytes: each feature of a corpus is looked up, mostly far from the last one.
  class Place {
   public:
    static constexpr std::uint32_t kMostListed = 15, kMostFirst = (1u << 27) - 1;
    static Place of_row(std::uint32_t row) { return Place(kFull | row); }
    static Place of_list(std::uint32_t first, std::uint32_t n) { return Place(first << 4 | n); }
    Place() = default;
    bool is_full() const { return (code_ & kFull) != 0; }
    std::uint32_t row() const { return code_ & ~kFull; }
    std::uint32_t first() const { return code_ >> 4; }
    std::uint32_t listed() const { return is_full() ? 0 : code_ & kMostListed; }

   private:
    static constexpr std::uint32_t kFull = 1u << 31;
    explicit Place(std::uint32_t code) : code_(code) {}
    std::uint32_t code_ = 0;
  };
  // The weights, in as few bits as their size asks for.
  template <class Whole>
  struct Store {
    LargeArray<Whole> full;  // rows of row_
    LargeArray<Whole> listed;
  };

  // Calls visit(place in the layout, weight with its mask, what the average lacks, mask).
  template <class Self, class Visit>
  static void each(Self& self, Visit&& visit);
  void write(std::span<double> w, bool average) const;
  static void prefetch(const Batch&, std::size_t sentence);
  void widen();
  // Widens before sums of so many weights might not fit.
  void make_room(std::size_t most_full);
  void viterbi(const Batch&, std::size_t begin, std::size_t end);
  // The best scores up to each token, from the labels before it that can be best before any label.
  void forward_pruned(std::size_t L);
  void update(const Batch&, std::size_t begin, std::size_t end);
  // By how much the labels that were found score more than the gold ones.
  std::int64_t loss(const std::uint16_t* gold, std::size_t L) const;
  // Makes what follows from the transitions.
  void derive();
  void step_full(std::uint32_t row, std::size_t label, std::int32_t d);
  void step_listed(std::uint32_t entry, std::int32_t d);
  void step_transition(std::size_t from, std::size_t to, std::int32_t d);

  std::size_t K_, stride_;  // labels; rounded up to whole vectors
  std::size_t row_;         // from one row of weights to the next
  bool boundaries_;
  std::size_t boundary_ = 0;  // weights of features, before start and end
  std::span<const std::uint32_t> row_ptr_;
  const std::uint32_t* column_;
  LargeArray<Place> place_;  // of a feature
  std::vector<std::uint16_t> listed_label_;
  bool short_ = true;  // which of the stores is in use
  Store<std::int16_t> short_store_;
  Store<std::int32_t> store_;
  std::int32_t largest_ = 0;             // no weight of a feature was ever larger
  std::int32_t limit_ = 0;               // what largest_ may be in 16 bits
  std::vector<std::uint8_t> full_real_;  // rows of K_; 0: the pair was not observed
  LargeArray<std::int64_t> full_behind_, listed_behind_;
  // Transitions with the masks in them, both ways round; start and end in rows of stride_.
  std::vector<std::int32_t> transition_, transposed_, start_, end_;
  std::vector<std::int32_t> transition_mask_, start_mask_, end_mask_;
  // No transition from a label is larger; empty where labels are so few that it saves nothing.
  std::vector<std::int32_t> most_;
  std::vector<std::int64_t> transition_behind_, start_behind_, end_behind_;
  std::int64_t steps_ = 0;
  std::vector<std::int32_t> scores_, alpha_;  // of the sentence at hand
  std::vector<std::int32_t> rows_, step_;     // transitions from some labels; two rows of alpha
  std::vector<std::uint16_t> found_;
};

}  // namespace structlearn
