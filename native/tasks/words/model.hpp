// A model of words: how much speaks for a word beginning at each place of a text.
//
// Weights are whole numbers, so that sums do not depend on their order, and a text is cut alike by
// all ways to ask.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/words/features.hpp"
#include "tasks/words/line.hpp"

namespace structlearn::words {

// The weights of features by how many places see them: rows of that width, by key.
struct WordRows {
  std::span<const std::uint64_t> keys;
  std::span<const std::int16_t> weights;
};

// What a model does not leave to its scores: runs of Latin letters, of digits, stay whole.
enum Whole : unsigned { kWholeLatin = 1, kWholeDigits = 2 };

class WordModel {
 public:
  // `rows`: those of n-grams of 1, 2, 3, and at last of what one place sees. `pairs`: the scores of
  // (begins, begins), (begins, goes on), (goes on, begins), (goes on, goes on).
  WordModel(const std::array<WordRows, kLongestGram + 1>& rows,
            const std::array<std::int32_t, 4>& pairs, Dictionary dictionary, double unit,
            unsigned whole, bool blanks);

  const std::array<std::int32_t, 4>& pairs() const { return pairs_; }
  double unit() const { return unit_; }  // what a score of 1 is worth
  bool blanks() const { return blanks_; }
  const Dictionary& dictionary() const { return dictionary_; }

  // What a thread needs to score texts.
  struct Scratch {
    Run run;
    std::vector<Match> matches;
    std::vector<std::uint64_t> keys;
    std::vector<std::int32_t> sums;
  };
  // What speaks for a word beginning at each character of a run; kForbidden where none may.
  void score(std::span<const std::uint32_t> run, Scratch&, std::int32_t* theta) const;
  static constexpr std::int32_t kForbidden = -(1 << 29);
  // The sum that a feature adds, of a row of n; of tests.
  std::int32_t weight(std::uint64_t key, std::size_t n, std::size_t row) const;

 private:
  struct Gram {
    std::uint64_t key = 0;
    std::array<std::int16_t, kRow> weight{};
    bool used() const { return key != 0; }
    std::size_t home() const { return static_cast<std::size_t>(key); }
  };
  struct Single {
    std::uint64_t key = 0;
    std::int32_t weight = 0;
    bool used() const { return key != 0; }
    std::size_t home() const { return static_cast<std::size_t>(key); }
  };
  std::int32_t single(std::uint64_t key) const {
    return singles_
        .find(static_cast<std::size_t>(key), [key](const Single& s) { return s.key == key; })
        .weight;
  }
  const Gram& gram(std::uint64_t key) const {
    return grams_.find(static_cast<std::size_t>(key),
                       [key](const Gram& g) { return g.key == key; });
  }
  void join_types();
  void join_lengths();

  OpenTable<Gram> grams_;
  OpenTable<Single> singles_;
  std::vector<std::array<std::int32_t, kRow>> types_;  // by three kinds of characters
  std::vector<std::int32_t> lengths_;
  std::array<std::int32_t, 4> pairs_;
  Dictionary dictionary_;
  double unit_;
  unsigned whole_;
  bool blanks_;
};

}  // namespace structlearn::words
