// P(word | label) of a hidden Markov model, from counts of words with their labels.
//
// What a word says of its label is smoothed from the general to the special:
//
//     P(k | step) = (c(step, k) + α P(k | step before)) / (c(step) + α)
//
// The steps are all words, the rare ones, the suffixes of rare words (a tree: a suffix leans on the
// one that is a letter shorter), the word in lower case, and the word itself. Bayes' rule then
// turns P(label | word) round. Strings are the caller's business: suffixes and words in lower case
// are numbers here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace structlearn::text {

struct WordCounts {
  std::size_t labels = 0;
  std::span<const double> table;             // (words, labels); every word has a count
  std::span<const std::uint32_t> parent;     // of suffixes; suffix 0 is the empty one, its own
  std::span<const std::uint32_t> rare;       // the rare words
  std::span<const std::uint32_t> rare_leaf;  // the longest suffix of each of them
  std::span<const std::uint32_t> suffix;     // of each word the longest suffix that there is
  std::span<const std::uint32_t> lower;      // of each word the number of its lower case; or empty:
                                             // case is not looked at
  double alpha = 1.0, word_alpha = 1.0;      // imaginary observations; the second: of words
};

class WordEmissions {
 public:
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};

  // Throws std::invalid_argument where the counts do not fit together.
  explicit WordEmissions(const WordCounts&);

  std::size_t labels() const { return labels_; }
  // Writes log P(word | label) of a known word, or of an unknown one by its longest suffix and its
  // lower case, which may be kUnseen.
  void known(std::uint32_t word, double* out) const;
  void unknown(std::uint32_t suffix, std::uint32_t lower, double* out) const;

 private:
  // Writes P(label | spelling).
  void spelled(std::uint32_t suffix, std::uint32_t lower, double* out) const;

  std::size_t labels_;
  double alpha_;
  std::vector<double> given_suffix_, lower_counts_, scores_, log_normaliser_;
  double log_unseen_ = 0.0;
};

}  // namespace structlearn::text
