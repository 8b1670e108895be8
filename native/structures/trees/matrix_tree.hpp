// Sums over all arborescences of a dense graph, and samples from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/open_number.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// eps log sum exp(score / eps) over the trees of the words 1..n below the root 0, `arc` a matrix of
// n + 1 rows whose diagonal and column 0 are not read; -inf if there is none. If p is not null,
// p[h][m] is the probability of the arc h -> m, 0 on the diagonal and in column 0. O(n^3).
double sum_arborescences(const double* arc, std::size_t n, bool single_root, double eps, double* p);

// The entropy of those trees in nats, labels[h][m] the contribution of an arc's labels to its
// weight; -inf if there is no tree. Precise for large scores, up to their shifts. O(n^3).
double entropy_of_arborescences(const double* arc, const Open* labels, std::size_t n,
                                bool single_root, double eps);

// `count` trees, heads of words 1..n each, sampled in proportion to exp(score / eps); empty if
// there is none. O(n^3) once and O(n^2) per tree.
std::vector<Output> draw_arborescences(const double* arc, std::size_t n, bool single_root,
                                       double eps, std::size_t count, std::uint64_t seed);

}  // namespace structlearn
