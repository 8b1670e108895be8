// What labels words had in training: each word's labels with a fair share of its occurrences, most
// frequent first, as one value ("N/V"; marks inside of labels are escaped). For the training text
// itself the counts of the fold that a sentence is in are left out, or the value would tell the
// label.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/features.hpp"

namespace structlearn::text {

class Lexicon {
 public:
  static constexpr std::size_t kAll = kFolds;  // no fold left out
  static constexpr double kShare = 0.1;

  // Counts; words go by the hashes of their strings.
  void count(std::uint64_t word, std::uint32_t label, std::size_t fold, std::uint32_t times = 1);
  // What was counted so far: word, label, fold and times one after another, words in the order in
  // which they were first seen.
  std::vector<std::uint64_t> counts();
  // Ends the counting. Label names give the values theirs.
  void finish(const std::vector<std::string>& labels);

  // From a file: words and the numbers of their values; with those by word and fold if it is to be
  // trained with. Throws std::invalid_argument.
  Lexicon() = default;
  Lexicon(std::span<const std::uint64_t> words, std::span<const std::uint32_t> value,
          const std::vector<std::string>& names, std::span<const std::uint32_t> folded = {});

  // The number of a word's value; names()[0] stands for a word without any.
  std::uint32_t value(std::uint64_t word, std::size_t fold) const;
  const StringTable& names() const { return names_; }

  const FeatureIndex& index() const { return index_; }
  const std::vector<std::uint32_t>& values() const { return value_; }
  const std::vector<std::uint32_t>& folded() const { return folded_; }

 private:
  struct Counted {
    std::uint32_t word, label, fold, times;
    bool operator<(const Counted& o) const {
      return word != o.word ? word < o.word : label != o.label ? label < o.label : fold < o.fold;
    }
  };
  void merge();  // sorts the counts, and adds up those of the same word, label and fold

  FeatureIndex index_;
  std::vector<Counted> counted_;
  std::size_t merged_ = 0;             // how many were left
  std::vector<std::uint32_t> value_;   // by word
  std::vector<std::uint32_t> folded_;  // by word and fold; empty: none known
  StringTable names_;
};

}  // namespace structlearn::text
