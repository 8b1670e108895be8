#include "tasks/words/dictionary.hpp"

#include <algorithm>
#include <stdexcept>

namespace structlearn::words {

std::uint32_t Trie::add(std::span<const std::uint32_t> word) {
  if (word.empty() || word.size() > kLongestWord) return kNoWord;
  std::uint32_t node = 0;
  for (const std::uint32_t point : word) {
    const std::uint64_t k = key(node, point);
    Edge& edge = edges_.find(home(k), [k](const Edge& e) { return e.key == k; });
    if (edge.used()) {
      node = edge.to;
      continue;
    }
    if (word_.size() >= kNoWord) throw std::length_error("the dictionary is too large");
    node = static_cast<std::uint32_t>(word_.size());
    word_.push_back(kNoWord);
    edges_.fill(edge, {k, node});
  }
  if (word_[node] == kNoWord) word_[node] = static_cast<std::uint32_t>(words_++);
  longest_ = std::max(longest_, word.size());
  return word_[node];
}

}  // namespace structlearn::words
