// Words that may begin, end or run over a place: a trie over characters, and what is found in it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/probing.hpp"

namespace structlearn::words {

inline constexpr std::uint32_t kNoWord = 0xFFFFFFFFu;
// Characters of the longest word that is looked for.
inline constexpr std::size_t kLongestWord = 64;

class Trie {
 public:
  // The number of a word, new ones in their order; kNoWord where it is empty or too long.
  std::uint32_t add(std::span<const std::uint32_t> word);
  // The number of a word; kNoWord: there is none.
  std::uint32_t find_word(std::span<const std::uint32_t> word) const {
    std::uint32_t number = kNoWord;
    match(word, 0, [&](std::size_t end, std::uint32_t found) {
      if (end == word.size()) number = found;
    });
    return number;
  }
  std::size_t size() const { return words_; }
  std::size_t longest() const { return longest_; }

  // Calls each(end, word) for the words that begin at `begin` of a run of characters.
  template <class Each>
  void match(std::span<const std::uint32_t> run, std::size_t begin, Each&& each) const {
    std::uint32_t node = 0;
    for (std::size_t i = begin; i < run.size(); ++i) {
      const Edge& edge = find(node, run[i]);
      if (!edge.used()) return;
      node = edge.to;
      if (word_[node] != kNoWord) each(i + 1, word_[node]);
    }
  }
  void prefetch(std::uint32_t point) const { edges_.prefetch(home(key(0, point))); }

 private:
  struct Edge {
    std::uint64_t key = 0;
    std::uint32_t to = 0;  // 0: free, as nothing leads to the root
    bool used() const { return to != 0; }
    std::size_t home() const { return Trie::home(key); }
  };
  static std::uint64_t key(std::uint32_t node, std::uint32_t point) {
    return static_cast<std::uint64_t>(node) << 32 | point;
  }
  static std::size_t home(std::uint64_t key) {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20);
  }
  const Edge& find(std::uint32_t node, std::uint32_t point) const {
    const std::uint64_t k = key(node, point);
    return edges_.find(home(k), [k](const Edge& e) { return e.key == k; });
  }

  OpenTable<Edge> edges_;
  std::vector<std::uint32_t> word_{kNoWord};  // by node
  std::size_t words_ = 0, longest_ = 0;
};

}  // namespace structlearn::words
