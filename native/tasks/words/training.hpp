// From cut texts to rows of features: what a learner of words reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tasks/words/features.hpp"

namespace structlearn::words {

// Where a word begins, where it goes on, and where nobody knows.
enum Mark : std::uint8_t { kBegins, kGoesOn, kUnknown };

class Training {
 public:
  // A run of characters with a mark for each, and the number of the tag of each word that is
  // known whole (0: none), one for each of its characters or none at all.
  void add(std::vector<std::uint32_t> points, std::string_view marks,
           std::span<const std::uint8_t> tags);
  // A word of another dictionary.
  void add_word(std::span<const std::uint32_t> word);

  // Finds the features. Those seen less often go, and so do words of the texts.
  void finish(std::uint32_t min_count, std::uint32_t min_words);

  // The features of each place, in rows: what learners take.
  std::vector<std::int64_t> site, indptr;
  std::vector<std::int32_t> indices;
  std::size_t features() const { return size_; }
  // Keys in ascending order, and the number of each one's first feature.
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> first;
  // Words of the dictionary with the sets of tags of each.
  const std::vector<std::vector<std::uint32_t>>& words() const { return words_; }
  std::vector<std::uint16_t> tags_of_words;
  std::vector<std::uint64_t> tag_sets;

 private:
  struct Known {
    std::uint64_t folds = 0;  // in which the word is there
    std::uint32_t count = 0;
    bool listed = false;                                       // in another dictionary
    std::vector<std::pair<std::uint8_t, std::uint64_t>> tags;  // with their folds
  };
  static constexpr std::uint64_t kFolds = 63;
  std::uint16_t set_of(const Known&, std::uint64_t folds);
  template <class Each>
  void places(std::size_t text, Each&& each);

  std::vector<std::vector<std::uint32_t>> texts_;
  std::vector<std::uint64_t> fold_;  // one bit
  std::vector<std::vector<std::uint32_t>> words_;
  std::vector<Known> known_;
  Trie trie_;
  std::unordered_map<std::uint64_t, std::uint16_t> sets_;
  std::size_t size_ = 0;
};

}  // namespace structlearn::words
