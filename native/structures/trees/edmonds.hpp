// The best arborescence of a dense graph.
#pragma once

#include <cstddef>
#include <cstdint>

#include "structures/structure.hpp"
#include "structures/watch.hpp"

namespace structlearn {

// heads[m - 1] of the words m = 1..n such that the sum of arc[heads[m - 1]][m] is the largest,
// `arc` a matrix of n + 1 rows; the sum, or -inf if there is no tree. O(n^2).
double best_arborescence(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
                         Workspace& ws);

// The same search, reported step by step. Nodes from n + 1 on are contracted cycles, 0 is the root:
//   choose    (word, its head), (its best arc from a word, its arc from the root)
//   contract  (cycle, head of its best arc, members..., other nodes..., number of members),
//             (its best arc from a node, from the root, the members' arcs..., arcs of the
//             others...); arcs that enter a cycle count minus the value of the arc in the cycle
//             that they replace
//   penalty   (node that leaves the root, its new head), (the penalty of every arc from the root)
//   expand    (cycle, the member that is entered, the head that enters)
double watched_arborescence(const double* arc, std::size_t n, bool single_root, std::int32_t* heads,
                            Workspace& ws, Recorder& watch);

}  // namespace structlearn
