// What a place between two characters of a text looks like: whether a word begins there.
//
// A feature has a key, the hash of what is seen, and is seen from several places: the characters
// of an n-gram from all places near it. So a key has a row of weights, one for each place, and a
// text costs one look-up for each n-gram, not one for each n-gram and place.
//
//   - n-grams of characters, and of kinds of characters, of 1 to 3, up to 3 from the place;
//   - words of the dictionary: the length of the longest one that begins at the place, of the
//     longest that ends there, of the longest that runs over it and how much of it lies before;
//     these words themselves, and the tags that they have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/words/dictionary.hpp"
#include "tasks/words/scripts.hpp"
#include "text/hash.hpp"

namespace structlearn::words {

// Characters on either side of a place that are looked at.
inline constexpr std::size_t kReach = 3;
inline constexpr std::size_t kLongestGram = 3;
// Places from which an n-gram is seen.
inline constexpr std::size_t places_of(std::size_t n) {
  return 2 * kReach + 1 - n;
}
inline constexpr std::size_t kRow = 8;  // weights of a row at most, with room for a vector

// Longer words count as words of this length.
inline constexpr std::uint32_t kMostLength = 8;
// Of words that have no tags, and where there is no word.
inline constexpr std::uint16_t kNoTags = 0;

// The words of a dictionary with the tags that each has had, as the number of a set of them.
struct Dictionary {
  Trie trie;
  std::vector<std::uint16_t> tags;  // by word
};

// What the dictionary says of a place. Words are the longest ones.
struct Match {
  std::uint32_t begins = kNoWord, ends = kNoWord;
  std::uint16_t tags_begin = kNoTags, tags_end = kNoTags;
  std::uint8_t begin_length = 0, end_length = 0;
  std::uint8_t over = 0, before = 0;  // of the longest one over it: its length, and what is before

  std::size_t lengths() const {
    return (begin_length * (kMostLength + 1) + end_length) * kOver + over * kMostLength + before;
  }
  static constexpr std::size_t kOver = (kMostLength + 1) * kMostLength;
};
inline constexpr std::size_t kLengths = (kMostLength + 1) * (kMostLength + 1) * Match::kOver;

// Words found by `match(begin, each(end, word, tags))` in a run of n characters.
template <class Find>
void match_words(std::size_t n, Find&& find, std::vector<Match>& out) {
  out.assign(n + 1, {});
  for (std::size_t i = 0; i < n; ++i) {
    find(i, [&](std::size_t end, std::uint32_t word, std::uint16_t tags) {
      const auto length = static_cast<std::uint8_t>(std::min<std::size_t>(end - i, kMostLength));
      Match& first = out[i];  // longer ones come later
      first.begins = word;
      first.begin_length = length;
      first.tags_begin = tags;
      Match& last = out[end];  // shorter ones come later
      if (last.ends == kNoWord) {
        last.ends = word;
        last.end_length = length;
        last.tags_end = tags;
      }
      for (std::size_t k = i + 1; k < end; ++k) {
        if (length <= out[k].over) continue;
        out[k].over = length;
        out[k].before = static_cast<std::uint8_t>(std::min<std::size_t>(k - i, kMostLength - 1));
      }
    });
  }
}

// Kinds of features; the numbers are part of the keys, and so of the files.
enum Kind : std::uint64_t {
  kGram = 1,  // and up to kLongestGram - 1 more
  kTypes = 11,
  kBegin = 21,
  kEnd,
  kOver,
  kBeginEnd,
  kBeginEndOver,
  kBeginTags,
  kEndTags,
  kBothTags,
  kLengthsTags,
  kTagsOver,
  kWordBegin,
  kWordEnd,
  kWordBeginTags,
  kWordEndTags,
  kWords,
};

inline std::uint64_t key_of(std::uint64_t kind, std::uint64_t a) {
  return text::nonzero(text::fold(a ^ text::kHashA, kind * text::kHashB + 1));
}
inline std::uint64_t key_of(std::uint64_t kind, std::uint64_t a, std::uint64_t b) {
  return text::nonzero(text::fold(text::combine(a + 1, b + 1), kind * text::kHashB + 1));
}

// A run of characters with what is beyond its ends: a mark for each place there.
class Run {
 public:
  void set(std::span<const std::uint32_t> points);
  std::size_t size() const { return points_.size() - 2 * kReach; }
  // The n-grams that begin `at` places before the run's first character, at + kReach.
  std::uint64_t gram(std::size_t at, std::size_t n) const {
    std::uint64_t value = points_[at];
    for (std::size_t k = 1; k < n; ++k) value = value << 21 | points_[at + k];
    return value;
  }
  std::uint32_t types(std::size_t at, std::size_t n) const {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < n; ++k) value = value << kScriptBits | types_[at + k];
    return value;
  }
  // The three kinds that begin there, as an index; beyond the padding there is nothing.
  std::uint32_t types(std::size_t at) const { return types(at, kLongestGram); }
  std::size_t padded() const { return points_.size(); }
  std::span<const std::uint32_t> points() const { return {points_.data() + kReach, size()}; }
  Script script(std::size_t i) const { return static_cast<Script>(types_[i + kReach]); }

 private:
  std::vector<std::uint32_t> points_;
  std::vector<std::uint8_t> types_;
};

// The places that see the n-gram that begins at `at` (padded): place first + r has the weight
// row[r] for r of [from, to).
struct Seen {
  std::size_t from, to;
  std::ptrdiff_t first;
};
inline Seen seen_from(std::size_t at, std::size_t n, std::size_t size) {
  // It begins at the character at - kReach, and is seen by places from its end - kReach on to its
  // begin + kReach; the place i is before the character i.
  const auto first = static_cast<std::ptrdiff_t>(at + n) - 2 * static_cast<std::ptrdiff_t>(kReach);
  const auto end = static_cast<std::ptrdiff_t>(size);
  const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, -first);
  const std::ptrdiff_t to =
      std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(places_of(n)), end - first);
  return {static_cast<std::size_t>(from), static_cast<std::size_t>(std::max(from, to)), first};
}

// The keys of what the dictionary says of a place: of lengths alone, which are a table of their
// own in models, of tags, of words.
template <class Each>
void length_keys(const Match& m, Each&& each) {
  each(key_of(kBegin, m.begin_length));
  each(key_of(kEnd, m.end_length));
  each(key_of(kOver, m.over, m.before));
  each(key_of(kBeginEnd, m.begin_length, m.end_length));
  each(key_of(kBeginEndOver, m.begin_length * 16u + m.end_length, m.over));
}
template <class Each>
void tag_keys(const Match& m, Each&& each) {
  const std::uint64_t tags = static_cast<std::uint64_t>(m.tags_begin) << 16 | m.tags_end;
  each(key_of(kBeginTags, m.begin_length, m.tags_begin));
  each(key_of(kEndTags, m.end_length, m.tags_end));
  each(key_of(kBothTags, tags));
  each(key_of(kLengthsTags, tags, m.begin_length * 16u + m.end_length));
  each(key_of(kTagsOver, tags, m.over));
}
template <class Each>
void word_keys(const Match& m, Each&& each) {
  if (m.begins != kNoWord) {
    each(key_of(kWordBegin, m.begins));
    each(key_of(kWordBeginTags, m.begins, m.tags_end));
  }
  if (m.ends != kNoWord) {
    each(key_of(kWordEnd, m.ends));
    each(key_of(kWordEndTags, m.ends, m.tags_begin));
    if (m.begins != kNoWord) each(key_of(kWords, m.begins, m.ends));
  }
}

}  // namespace structlearn::words
