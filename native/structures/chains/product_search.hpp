// Best outputs of a sequence that an automaton accepts: Viterbi over the product, and k-best lists.
//
// Time O(S K^(m+1)) per position for S states of the automaton, and O(S D K) for segments.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "structures/chains/product_rows.hpp"

namespace structlearn {

// The best accepted output, as a row of labels, and its score; -inf if there is none.
double best_accepted(const SequenceView&, const Product&, Output& y, Workspace&);

// Up to n accepted outputs with their scores, best first. No output is repeated: an automaton has
// one path for each.
std::vector<std::pair<double, Output>> kbest_accepted(const SequenceView&, const Product&,
                                                      std::size_t n, Workspace&);

}  // namespace structlearn
