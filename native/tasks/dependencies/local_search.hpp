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
  double gain(const Parts&, const PartScores&, std::vector<std::int32_t>& heads, int m,
              std::uint32_t arc) const;
  // What m adds to the modifiers of its head, were it one of them.
  double attached(const Parts&, const PartScores&, const std::vector<std::int32_t>& heads,
                  std::uint32_t arc) const;

  std::vector<std::uint32_t> current_;  // arc of each word
};

// Whether no two arcs cross, the root at the left end.
bool is_projective(const std::vector<std::int32_t>& heads);

}  // namespace structlearn::parsing
