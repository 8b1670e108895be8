// Better trees by changing one head at a time (McDonald & Pereira 2006), for scores of pairs of
// arcs. Ends in a tree that no single change makes better, which need not be the best one.
#pragma once

#include <cstdint>
#include <vector>

#include "tasks/dependencies/parts.hpp"

namespace structlearn::parsing {

class LocalSearch {
 public:
  // Changes the tree; the gain in score, at least 0.
  double improve(const Parts& parts, const PartScores& scores, std::vector<std::int32_t>& heads);

 private:
  // What the word of an arc adds to the modifiers of its head, were it one of them.
  double attached(std::uint32_t arc) const;
  // What the modifiers that a word has gain by another head of it.
  double below(int m, std::uint32_t arc) const;
  void mark(std::uint32_t arc, bool modifier);

  const Parts* parts_ = nullptr;
  PartScores scores_;
  std::vector<std::uint32_t> current_;  // arc of each word
  // A bit for each modifier that a side lists, set where the tree has it: the neighbours of a
  // modifier are found without a walk through those that it could have.
  std::vector<std::uint32_t> first_word_;  // of 64 bits, by side
  std::vector<std::uint64_t> chosen_;
};

// Whether heads[1..n], each from 0 to n, are a tree with one root.
bool is_tree(const std::vector<std::int32_t>& heads);
// Whether no two arcs of a tree cross, the root at the left end.
bool is_projective(const std::vector<std::int32_t>& heads);

}  // namespace structlearn::parsing
