// Which labels an arc may have: those seen in training with the tags of its two words and its
// direction; for pairs of tags never seen, those seen with the modifier's tag; for tags never seen,
// those seen below the root, or below words. So a relation that training has below the root alone
// ("root" in Universal Dependencies) is never given to another word, nor another one to that word.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tasks/dependencies/tokens.hpp"

namespace structlearn::parsing {

inline constexpr std::size_t kMaxLabels = 256;
using LabelMask = std::array<std::uint64_t, kMaxLabels / 64>;

class LabelSets {
 public:
  explicit LabelSets(std::size_t labels = 0);
  void add(const Sentence&, int h, int m, std::size_t label);
  const LabelMask& find(const Sentence&, int h, int m) const;

  // As they lie in a file: keys in ascending order, with their masks one after another.
  void store(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& masks) const;
  LabelSets(std::size_t labels, std::span<const std::uint64_t> keys,
            std::span<const std::uint64_t> masks);

 private:
  LabelMask all_{};
  std::unordered_map<std::uint64_t, LabelMask> sets_;
};

}  // namespace structlearn::parsing
