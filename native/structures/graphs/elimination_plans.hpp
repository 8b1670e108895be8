// Elimination orders for grids and graphs of small treewidth, cached by topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "structures/graphs/elimination.hpp"
#include "structures/graphs/pairwise.hpp"

namespace structlearn {

// A min-fill elimination order (Rose 1974) of `nodes` nodes joined by `ends` (E, 2); nothing if a
// node would have more than `most` neighbours at its elimination.
std::optional<std::vector<std::int64_t>> min_fill_order(std::size_t nodes, const std::int64_t* ends,
                                                        std::size_t edges, std::size_t most);

// The order for a model: along the longer side of a grid, min-fill for a graph. Nothing if the
// tables would be too large, or groups of nodes score together.
std::optional<std::vector<std::int64_t>> elimination_order(const Pairwise&);

// Plans of elimination. Learners revisit examples many times, and making a plan costs more than
// using it. Calls may come from several threads.
class EliminationPlans {
 public:
  // The plan of a model, which depends only on its topology and number of labels; null if the
  // tables would be too large.
  std::shared_ptr<const Elimination> find(const Pairwise&);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Elimination>> plans_;
  std::size_t held_ = 0;  // nodes of all plans
};

}  // namespace structlearn
