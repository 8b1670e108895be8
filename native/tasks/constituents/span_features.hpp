// What a parser of constituents looks at: words, tags and shapes at the borders of a span, inside
// and outside, its length, and where it is split (after Hall, Durrett & Klein 2014, "Less grammar,
// more features"). Features are 64-bit keys; equal keys mean the same thing in every sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/hash.hpp"

namespace structlearn::text {

// A sentence as the features see it: numbers for words and tags.
class TreeTokens {
 public:
  // Hash of a word as training counts it.
  static std::uint64_t word_key(std::string_view word) { return hash_string(word, 0x517EEull); }
  static std::uint64_t tag_key(std::string_view tag) { return hash_string(tag, 0x7A6ull); }

  // `known`: sorted keys of the words that count as themselves; others are their shape and ending.
  void assign(std::span<const std::string_view> words, std::span<const std::string_view> tags,
              std::span<const std::uint64_t> known);

  std::size_t size() const { return n_; }

  // Positions from -2 to n + 1 exist; those outside are marks of the borders.
  std::uint64_t word(std::ptrdiff_t t) const { return word_[static_cast<std::size_t>(t + 2)]; }
  std::uint64_t tag(std::ptrdiff_t t) const { return tag_[static_cast<std::size_t>(t + 2)]; }
  std::uint64_t shape(std::ptrdiff_t t) const { return shape_[static_cast<std::size_t>(t + 2)]; }

  // How many verbs, conjunctions, commas and other marks stand in i..j, each up to 2 or 3.
  std::uint64_t contents(std::size_t i, std::size_t j) const;

 private:
  std::size_t n_ = 0;
  std::vector<std::uint64_t> word_, tag_, shape_;
  std::vector<std::uint16_t> verbs_, conjunctions_, commas_, marks_;  // running counts
};

// The families of features. Each has its own keys, so that the same words mean different things
// about a node and about what is left of a row of children.
class TreeFeatures {
 public:
  explicit TreeFeatures(const TreeTokens& tokens) : x_(tokens) {}

  // A node over i..j of more than one word; a single word; the rest i..j of a row of children.
  void node(std::size_t i, std::size_t j, std::vector<std::uint64_t>& keys) const;
  void word(std::size_t i, std::vector<std::uint64_t>& keys) const;
  void rest(std::size_t i, std::size_t j, std::vector<std::uint64_t>& keys) const;
  // A child over i..j, with respect to its parent: the first, one in the middle, the last.
  enum class Place : std::uint64_t { kFirst = 11, kMiddle = 12, kLast = 13 };
  void child(Place place, std::size_t i, std::size_t j, std::vector<std::uint64_t>& keys) const;
  // A node, or a rest, over i..j whose first child ends at k: one feature of the lengths of the two
  // and a few families, which see something of i, of k and of j each.
  static constexpr std::size_t kSplitFamilies = 3;
  void split(std::size_t i, std::size_t k, std::size_t j, std::vector<std::uint64_t>& keys) const;
  static std::uint64_t split_lengths(std::uint64_t left, std::uint64_t right);
  // What a family sees at i, at k or at j (place 0, 1, 2), and the feature that the three make.
  std::uint64_t seen(std::size_t family, std::size_t place, std::size_t t) const;
  static std::uint64_t split_key(std::size_t family, std::uint64_t i, std::uint64_t k,
                                 std::uint64_t j);
  static constexpr std::size_t kLengthClasses = 11;
  static std::uint64_t length_class(std::size_t n);

 private:
  const TreeTokens& x_;
};

}  // namespace structlearn::text
