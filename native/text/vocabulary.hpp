// The features and labels of a training corpus, and its tokens in terms of their numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "numeric/large_pages.hpp"
#include "numeric/probing.hpp"
#include "text/features.hpp"

namespace structlearn::text {

// Sentences as numbers of features and labels: compressed rows, one a token.
struct TokenRows {
  std::vector<std::int64_t> sentence{0};  // first token of each
  std::vector<std::int64_t> begin{0};     // features of token t: [begin[t], begin[t+1])
  LargeArray<std::int32_t> feature;
  std::vector<double> value;        // one a feature, or empty: all 1
  std::vector<std::int32_t> label;  // -1: unknown
  // Unknown ones that are one of several: tokens, and their labels [set_begin[i], set_begin[i+1]).
  std::vector<std::int64_t> set_token, set_begin{0};
  std::vector<std::int32_t> set_label;
  // The same for the label pairs, one a token but the first of each sentence.
  std::vector<std::int64_t> pair_sentence{0}, pair_begin{0};
  std::vector<std::int32_t> pair_feature;

  void add_set(std::size_t token, std::span<const std::int32_t> labels) {
    set_token.push_back(static_cast<std::int64_t>(token));
    set_label.insert(set_label.end(), labels.begin(), labels.end());
    set_begin.push_back(static_cast<std::int64_t>(set_label.size()));
  }
};

// Where a feature was first seen and by which template: enough to say its name.
struct Sighting {
  std::uint32_t sentence = FeatureIndex::kAbsent, position = 0;
  std::uint16_t origin = 0, length = 1;  // of the segment, in tokens
};

// A feature and a label that it was seen with.
struct SeenPair {
  std::uint32_t feature = FeatureIndex::kAbsent, label = 0;
  bool used() const { return feature != FeatureIndex::kAbsent; }
  std::size_t home() const {
    return ((std::uint64_t{label} << 32 | feature) * 0x9E3779B97F4A7C15ULL) >> 32;
  }
};

class Vocabulary {
 public:
  // `width` 0: features have numbers of their own; otherwise their keys are folded to so many
  // numbers, a power of two, and nothing is stored of them. `unknown`: a cell of the target column
  // that stands for no label.
  Vocabulary(std::shared_ptr<const FeatureSet> features, std::size_t target, std::size_t width,
             std::string unknown);

  // Takes in the sentences [from, to) of a corpus; their rows go to `rows` where that is given.
  void add(Extractor&, const Corpus&, std::size_t from, std::size_t to, TokenRows* rows);

  // A segment that a sentence may have or not: tokens of the corpus, and a label.
  struct OpenSegment {
    std::size_t begin, end;
    std::int32_t label;
  };
  // Marks of tokens: inside a segment; of a sentence that is not cut into segments.
  static constexpr std::int32_t kGoesOn = -1, kOpen = -2;
  // Takes in the segments of a corpus: `marks` has the label, as a number, of one that begins at a
  // token. Then, sentence by sentence, those that may be there. The labels were added before.
  void add_segments(Extractor&, const Corpus&, std::size_t max_length,
                    std::span<const std::int32_t> marks, std::span<const OpenSegment> open = {});

  // Ends the counting: features seen less often than `min_count` go, labels are sorted. A feature
  // seen with at least `fill` labels gets weights for all of them (0: never). Rows made so far are
  // put into the new numbers.
  void freeze(std::size_t min_count, std::size_t fill, TokenRows* rows);

  // Rows in terms of a frozen vocabulary; features that it does not know are left out. A label
  // that it does not know throws std::invalid_argument.
  void rows(Extractor&, const Corpus&, std::size_t from, std::size_t to, TokenRows&) const;

  // The same for all possible segments, `max_length` rows a token, start by start, without labels.
  void segment_rows(Extractor&, const Corpus&, std::size_t max_length, TokenRows&) const;

  const FeatureSet& features() const { return *features_; }
  std::shared_ptr<const FeatureSet> shared_features() const { return features_; }
  std::size_t target() const { return target_; }
  std::size_t width() const { return width_; }
  std::size_t size() const { return width_ ? width_ : index_.size(); }
  std::size_t pair_size() const { return pair_index_.size(); }
  const std::vector<std::string>& labels() const { return labels_; }
  const FeatureIndex& index() const { return index_; }
  const FeatureIndex& pair_index() const { return pair_index_; }
  const std::vector<Sighting>& sightings() const { return sighting_; }
  const std::vector<Sighting>& pair_sightings() const { return pair_sighting_; }

  // The labels that each feature was seen with: rows of columns in ascending order.
  const std::vector<std::uint32_t>& row_ptr() const { return row_ptr_; }
  const std::vector<std::uint32_t>& column() const { return column_; }

  // A label that training did not meet; only before freezing.
  std::uint32_t add_label(std::string_view label);
  // A feature with the labels it goes with, from an earlier model, which stays however rarely it
  // is seen now; only before freezing.
  void add_feature(std::uint64_t key, const std::vector<std::uint32_t>& labels);
  std::uint32_t find(std::uint64_t key) const;

  // What a vocabulary has counted, to be added to that of another part of the same corpus.
  struct Counts {
    std::vector<std::uint64_t> key;  // in the order of first occurrence; of hashed ones the number
    std::vector<std::uint32_t> times;
    std::vector<std::uint32_t> row_ptr, column;  // the labels that each was seen with
    std::vector<std::string> label;
    std::vector<std::uint64_t> pair_key;
    std::vector<std::uint32_t> pair_times;
  };
  // Only before freezing.
  Counts counts() const;
  // Parts in their order give the numbers that the whole corpus would have given. Nothing is known
  // of where features were seen. Throws std::invalid_argument.
  void add_counts(const Counts&);

 private:
  std::uint32_t number(std::uint64_t key, std::uint32_t times = 1);
  void observe(std::uint32_t feature, std::uint32_t label);
  std::int32_t read_label(const Corpus&, std::size_t token) const;
  std::int32_t find_label(const Corpus&, std::size_t token, std::string_view label) const;

  static constexpr std::size_t kAhead = 12;  // keys between asking for a slot and reading it

  std::shared_ptr<const FeatureSet> features_;
  std::size_t target_, width_;
  std::string unknown_;
  FeatureIndex index_, pair_index_;
  std::vector<Sighting> sighting_, pair_sighting_;
  StringTable label_;
  std::vector<std::string> labels_;
  std::vector<std::int32_t> label_order_;  // first-seen number to sorted number
  // The labels that each feature was seen with: bits of the first 64 labels, which are the frequent
  // ones, and the pairs with later ones in a table.
  std::vector<std::uint64_t> seen_;
  OpenTable<SeenPair> later_;
  std::vector<std::uint32_t> row_ptr_, column_;
  bool frozen_ = false;
  Keys keys_;
  std::vector<std::uint32_t> number_;  // of the keys
  std::vector<std::uint32_t> label_of_cell_;
  std::size_t sentences_ = 0;
};

}  // namespace structlearn::text
