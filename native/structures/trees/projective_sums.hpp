// Sums over all projective trees, and samples from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/open_number.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// eps log sum exp(score / eps) over the projective trees of n words; `arc` and `sibling` (or null)
// as in eisner.hpp; -inf if there is none. If p is not null, p[h][m] is the probability of an arc
// and, with siblings, pairs[h][s][m] that of a pair (or null); 0 for entries never read. O(n^3).
double sum_projective(const double* arc, const double* sibling, std::size_t n, bool single_root,
                      double eps, double* p, double* pairs);

// The entropy of those trees in nats, labels[h][m] the contribution of an arc's labels to its
// weight; -inf if there is no tree. Precise for large scores, up to their shifts. O(n^3).
double entropy_of_projective(const double* arc, const double* sibling, const Open* labels,
                             std::size_t n, bool single_root, double eps);

// `count` trees sampled in proportion to exp(score / eps); empty if there is none.
std::vector<Output> draw_projective(const double* arc, const double* sibling, std::size_t n,
                                    bool single_root, double eps, std::size_t count,
                                    std::uint64_t seed);

}  // namespace structlearn
