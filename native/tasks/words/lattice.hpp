// The words that a text may have, as a lattice: those of a dictionary with the tags that each may
// have, and unknown ones, by the kinds of their characters. A path through it is a cut with tags.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "structures/lattice.hpp"
#include "tasks/words/dictionary.hpp"
#include "tasks/words/scripts.hpp"

namespace structlearn::words {

// What a word is made of: one kind of characters, Chinese ones and then hiragana, or a mixture.
inline constexpr std::size_t kHanHiragana = kScripts, kMixed = kScripts + 1,
                             kPatterns = kScripts + 2;
std::uint8_t pattern_of(std::span<const std::uint32_t> word);

// Characters of an unknown word, unless it is all of a run of one kind: of Chinese characters, of
// others; of hiragana after Chinese characters; and of the latter after a number.
inline constexpr std::size_t kMostHan = 5, kMostUnknown = 8, kMostEnding = 3, kMostUnit = 2;
// Where the characters of one kind that stand at each place of a run end.
void ends_of_kinds(std::span<const std::uint32_t> run, std::vector<std::uint32_t>& ends);
// The end of a number, with points and commas within it; `begin` is its first digit.
std::size_t number_end(std::span<const std::uint32_t> run, std::size_t begin);

// How a word is known.
enum Status : std::uint8_t { kUnknownWord = 0, kKnownWord = 1, kListedWord = 2 };

// A word that a text may have.
struct Candidate {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t entry = kNoWord;  // of the dictionary, where it has a weight of its own
  std::uint16_t kind = 0;         // its class, of which pairs of words have weights
  std::uint8_t tag = 0, status = kUnknownWord, pattern = 0;
};

// What makes lattices: a dictionary, and rules for words that are not in it.
//
// Classes are those of (tag, pattern), then the one of both ends of a text, then frequent entries,
// each a class of its own.
struct LatticeRules {
  std::size_t tags = 1;  // tag 0 is none
  Trie trie;
  std::vector<std::uint32_t> first{0};  // entries of word w are [first[w], first[w + 1])
  std::vector<std::uint8_t> tag, status;
  std::vector<std::uint16_t> kind;
  std::vector<std::uint64_t> folds;  // of the training texts that have the entry; empty: all count
  std::vector<std::vector<std::uint8_t>> unknown =
      std::vector<std::vector<std::uint8_t>>(kPatterns);  // tags, by pattern
  std::vector<std::uint16_t> coarse_of_own;               // of classes that are one entry's own
  unsigned whole = 0;                                     // as in WordModel

  // Throws std::invalid_argument if the arrays do not fit together.
  void check() const;
  std::size_t entries() const { return tag.size(); }
  std::size_t coarse() const { return tags * kPatterns + 1; }
  std::size_t classes() const { return coarse() + coarse_of_own.size(); }
  std::uint16_t ends() const { return static_cast<std::uint16_t>(tags * kPatterns); }
  std::uint16_t class_of(std::size_t t, std::size_t pattern) const {
    return static_cast<std::uint16_t>(t * kPatterns + pattern);
  }
  std::uint16_t coarse_of(std::uint16_t kind_) const {
    return kind_ < coarse() ? kind_ : coarse_of_own[kind_ - coarse()];
  }

  // Whether no word may begin at this place of a run: runs of Latin letters or digits stay whole.
  bool inside(std::span<const std::uint32_t> run, std::size_t i) const {
    if (whole == 0 || i == 0) return false;
    const Script here = script_of(run[i]);
    if (here != script_of(run[i - 1])) return false;
    return (here == kLatin && (whole & 1)) || (here == kDigit && (whole & 2));
  }

  // Calls each(candidate) for the words that may begin at a place of a run; places are those of
  // the run. `ends`: those of ends_of_kinds; `others`: folds whose texts say which words there are.
  template <class Each>
  void candidates(std::span<const std::uint32_t> run, std::span<const std::uint32_t> ends,
                  std::size_t i, std::uint64_t others, Each&& each) const;
};

// A lattice and what its nodes and edges stand for. Nodes are (end, class); an edge is a word
// after a word of some class, or leads from a last word to the target.
struct WordLattice {
  std::vector<Candidate> words;     // by end, then by class
  std::vector<std::uint32_t> edge;  // the first of each word, and the first to the target
  std::vector<std::uint32_t> node;  // the first of each place, 0 to n, and the target
  std::vector<std::uint16_t> node_kind;
  std::shared_ptr<const LatticeShape> shape;

  // From candidates in any order, for a text of n characters.
  WordLattice(std::vector<Candidate> found, std::size_t n, std::uint16_t ends);
  // The word of an edge; words.size(): the edge leads to the target.
  std::size_t word_of(std::size_t e) const {
    return static_cast<std::size_t>(std::upper_bound(edge.begin(), edge.end(), e) - edge.begin()) -
           1;
  }
  // The edges of a path by its words, as (begin, end, tag); false if there is no such path.
  struct Place {
    std::uint32_t begin, end, tag;
  };
  bool path(std::span<const Place> places, std::vector<std::uint32_t>& edges) const;
};

// Where the weights of a lattice stand, one behind the other: of entries; of (tag, status, length,
// pattern); of tags with the first and the last character of a word; of pairs of classes; of pairs
// of coarse classes.
struct LatticeIndex {
  static constexpr std::size_t kLengths = 9, kStatuses = 4;
  std::size_t tags, classes, coarse;
  std::size_t shapes, chars, pairs, coarse_pairs, size;

  LatticeIndex(const LatticeRules& rules, std::size_t characters)
      : tags(rules.tags),
        classes(rules.classes()),
        coarse(rules.coarse()),
        shapes(rules.entries()),
        chars(shapes + tags * kStatuses * kLengths * kPatterns),
        pairs(chars + characters * tags * 2),
        coarse_pairs(pairs + classes * classes),
        size(coarse_pairs + coarse * coarse) {}

  // Calls each(weight) for what a word has by itself; `first`, `last`: numbers of its characters.
  template <class Each>
  void word(const Candidate& c, std::size_t first, std::size_t last, Each&& each) const {
    if (c.entry != kNoWord) each(std::size_t{c.entry});
    const std::size_t length = std::min<std::size_t>(c.end - c.begin, kLengths - 1);
    each(shapes + ((c.tag * kStatuses + c.status) * kLengths + length) * kPatterns + c.pattern);
    each(chars + (first * tags + c.tag) * 2);
    each(chars + (last * tags + c.tag) * 2 + 1);
  }
  std::size_t pair(std::size_t a, std::size_t b) const { return pairs + a * classes + b; }
  std::size_t coarse_pair(std::size_t a, std::size_t b) const {
    return coarse_pairs + a * coarse + b;
  }
};

// Characters by number; 0: others.
class Characters {
 public:
  explicit Characters(std::span<const std::uint32_t> known) : number_(kRead, 0) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] < kRead) number_[known[i]] = static_cast<std::uint16_t>(i + 1);
    }
    size_ = known.size() + 1;
  }
  std::size_t size() const { return size_; }
  std::size_t operator[](std::uint32_t point) const { return point < kRead ? number_[point] : 0; }
  static constexpr std::uint32_t kRead = 1 << 16;

 private:
  std::vector<std::uint16_t> number_;
  std::size_t size_ = 1;
};

template <class Each>
void LatticeRules::candidates(std::span<const std::uint32_t> run,
                              std::span<const std::uint32_t> ends, std::size_t i,
                              std::uint64_t others, Each&& each) const {
  Candidate c;
  c.begin = static_cast<std::uint32_t>(i);
  std::uint64_t known = 0;  // lengths
  trie.match(run, i, [&](std::size_t end, std::uint32_t word) {
    c.end = static_cast<std::uint32_t>(end);
    c.pattern = pattern_of(run.subspan(i, end - i));
    for (std::uint32_t e = first[word]; e < first[word + 1]; ++e) {
      const bool seen = (status[e] & kKnownWord) && (folds.empty() || (folds[e] & others));
      c.status = static_cast<std::uint8_t>((seen ? kKnownWord : 0) | (status[e] & kListedWord));
      if (c.status == kUnknownWord) continue;
      c.entry = seen ? e : kNoWord;
      c.tag = tag[e];
      c.kind = seen ? kind[e] : class_of(tag[e], c.pattern);
      known |= std::uint64_t{1} << (end - i - 1);
      each(c);
    }
  });
  const Script script = script_of(run[i]);
  const std::size_t end = ends[i], same = end - i;
  const auto add = [&](std::size_t length, std::size_t pattern) {
    if (length <= kLongestWord && (known >> (length - 1) & 1)) return;
    c.end = static_cast<std::uint32_t>(i + length);
    c.pattern = static_cast<std::uint8_t>(pattern);
    c.entry = kNoWord;
    c.status = kUnknownWord;
    for (const std::uint8_t t : unknown[pattern]) {
      c.tag = t;
      c.kind = class_of(t, pattern);
      each(c);
    }
  };
  const bool stays = (script == kLatin && (whole & 1)) || (script == kDigit && (whole & 2));
  const std::size_t most = script == kHan ? kMostHan : kMostUnknown;
  for (std::size_t n = 1; n <= std::min(same, most) && !stays; ++n) add(n, script);
  if (stays || same > most) add(same, script);
  if (script == kDigit) {
    const std::size_t number = number_end(run, i);
    if (number > end) add(number - i, kMixed);
    for (std::size_t n = 0; n < kMostUnit && number + n < run.size(); ++n) {
      if (script_of(run[number + n]) != kHan) return;
      add(number + n + 1 - i, kMixed);
    }
  }
  if (script != kHan || same > most) return;
  for (std::size_t n = 0; n < kMostEnding && end + n < run.size(); ++n) {
    if (script_of(run[end + n]) != kHiragana) return;
    add(same + n + 1, kHanHiragana);
  }
}

}  // namespace structlearn::words
