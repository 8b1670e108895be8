#include "tasks/words/model.hpp"

#include <algorithm>
#include <stdexcept>

namespace structlearn::words {

WordModel::WordModel(const std::array<WordRows, kLongestGram + 1>& rows,
                     const std::array<std::int32_t, 4>& pairs, Dictionary dictionary, double unit,
                     unsigned whole, bool blanks)
    : grams_(rows[0].keys.size() + rows[1].keys.size() + rows[2].keys.size()),
      singles_(rows[3].keys.size()),
      pairs_(pairs),
      dictionary_(std::move(dictionary)),
      unit_(unit),
      whole_(whole),
      blanks_(blanks) {
  if (dictionary_.tags.size() != dictionary_.trie.size()) {
    throw std::invalid_argument("the dictionary has a word twice, or an empty one");
  }
  for (std::size_t n = 1; n <= kLongestGram + 1; ++n) {
    const WordRows& given = rows[n - 1];
    const std::size_t width = n > kLongestGram ? 1 : places_of(n);
    if (given.weights.size() != given.keys.size() * width) {
      throw std::invalid_argument("a row of weights for each key");
    }
    for (std::size_t i = 0; i < given.keys.size(); ++i) {
      const std::uint64_t key = given.keys[i];
      if (key == 0) throw std::invalid_argument("a key of 0");
      if (n > kLongestGram) {
        Single& slot = singles_.find(static_cast<std::size_t>(key),
                                     [key](const Single& s) { return s.key == key; });
        if (slot.used()) throw std::invalid_argument("a key is there twice");
        singles_.fill(slot, {key, given.weights[i]});
        continue;
      }
      Gram& slot =
          grams_.find(static_cast<std::size_t>(key), [key](const Gram& g) { return g.key == key; });
      if (slot.used()) throw std::invalid_argument("a key is there twice");
      Gram made;
      made.key = key;
      std::copy_n(given.weights.data() + i * width, width, made.weight.begin());
      grams_.fill(slot, made);
    }
  }
  join_types();
  join_lengths();
}

// N-grams of kinds of characters are few: of all three that begin at a place there is one row.
void WordModel::join_types() {
  types_.assign(std::size_t{1} << (kScriptBits * kLongestGram), {});
  for (std::size_t value = 0; value < types_.size(); ++value) {
    for (std::size_t n = 1; n <= kLongestGram; ++n) {
      const Gram& found = gram(key_of(kTypes + n - 1, value >> (kScriptBits * (kLongestGram - n))));
      if (!found.used()) continue;
      // The first place that sees an n-gram is n - 1 after the first that sees one character.
      for (std::size_t r = 0; r < places_of(n); ++r) types_[value][r + n - 1] += found.weight[r];
    }
  }
}

void WordModel::join_lengths() {
  lengths_.assign(kLengths, 0);
  for (std::uint32_t begin = 0; begin <= kMostLength; ++begin) {
    for (std::uint32_t end = 0; end <= kMostLength; ++end) {
      for (std::uint32_t over = 0; over <= kMostLength; ++over) {
        for (std::uint32_t before = 0; before < kMostLength; ++before) {
          Match m;
          m.begin_length = static_cast<std::uint8_t>(begin);
          m.end_length = static_cast<std::uint8_t>(end);
          m.over = static_cast<std::uint8_t>(over);
          m.before = static_cast<std::uint8_t>(before);
          length_keys(m, [&](std::uint64_t key) { lengths_[m.lengths()] += single(key); });
        }
      }
    }
  }
}

std::int32_t WordModel::weight(std::uint64_t key, std::size_t n, std::size_t row) const {
  return n == 0 ? single(key) : gram(key).weight[row];
}

void WordModel::score(std::span<const std::uint32_t> points, Scratch& s,
                      std::int32_t* theta) const {
  const std::size_t n = points.size();
  s.run.set(points);
  const Run& run = s.run;
  // All rows are added as vectors: there is room before the first place and behind the last one.
  constexpr std::size_t kMargin = 2 * kReach;
  s.sums.assign(n + kMargin + kReach + kRow, 0);
  // What is beyond the ends adds to places that are none.
  const std::size_t padded = run.padded();
  s.keys.resize(padded * kLongestGram);
  for (std::size_t at = 0; at < padded; ++at) {
    for (std::size_t g = 0; g < kLongestGram; ++g) {
      if (at + g >= padded) {
        s.keys[at * kLongestGram + g] = 0;
        continue;
      }
      const std::uint64_t key = key_of(kGram + g, run.gram(at, g + 1));
      s.keys[at * kLongestGram + g] = key;
      grams_.prefetch(static_cast<std::size_t>(key));
    }
  }
  const Dictionary& dictionary = dictionary_;
  match_words(
      n,
      [&](std::size_t i, auto&& found) {
        dictionary.trie.match(points, i, [&](std::size_t end, std::uint32_t word) {
          const std::uint16_t tags = dictionary.tags[word];
          if (tags != kNoTags) found(end, word, tags);
        });
      },
      s.matches);
  for (std::size_t at = 0; at < padded; ++at) {
    // The first place that sees a character is kReach - 1 before it, at - kReach.
    std::int32_t* const sum = s.sums.data() + kMargin + at + 1 - 2 * kReach;
    const std::array<std::int32_t, kRow>& row = types_[run.types(at)];
    for (std::size_t r = 0; r < kRow; ++r) sum[r] += row[r];
    for (std::size_t g = 0; g < kLongestGram; ++g) {
      const std::uint64_t key = s.keys[at * kLongestGram + g];
      if (key == 0) continue;
      const std::array<std::int16_t, kRow>& weight = gram(key).weight;
      std::int32_t* const first = sum + g;
      for (std::size_t r = 0; r < kRow; ++r) first[r] += weight[r];
    }
  }
  std::copy_n(s.sums.data() + kMargin, n, theta);
  s.keys.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const Match& m = s.matches[i];
    theta[i] += lengths_[m.lengths()];
    tag_keys(m, [&](std::uint64_t key) { s.keys.push_back(key); });
    word_keys(m, [&](std::uint64_t key) { s.keys.push_back(key); });
    s.keys.push_back(0);
  }
  constexpr std::size_t kAhead = 24;
  std::size_t place = 0;
  for (std::size_t j = 0; j < s.keys.size(); ++j) {
    if (j + kAhead < s.keys.size()) {
      singles_.prefetch(static_cast<std::size_t>(s.keys[j + kAhead]));
    }
    if (s.keys[j] == 0) {
      ++place;
    } else {
      theta[place] += single(s.keys[j]);
    }
  }
  for (std::size_t i = 1; i < n && whole_ != 0; ++i) {
    const Script before = run.script(i - 1), here = run.script(i);
    if (before != here) continue;
    if ((here == kLatin && whole_ & kWholeLatin) || (here == kDigit && whole_ & kWholeDigits)) {
      theta[i] = kForbidden;
    }
  }
}

}  // namespace structlearn::words
