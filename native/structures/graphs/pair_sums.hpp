// Sums over the labellings of a grid or a graph: by elimination, for independent labels, and by
// loopy messages.
#pragma once

#include <vector>

#include "numeric/parallel.hpp"
#include "structures/graphs/elimination_plans.hpp"
#include "structures/graphs/pairwise.hpp"

namespace structlearn {

// t log sum_y exp(score(y) / t) with the marginals of nodes (N, K) and edges (E, K, K), and the
// entropy in nats.
struct PairSums {
  double value = kMinusInfinity;
  std::vector<double> node, pair;
  double entropy = 0.0;
};

// The (E, K, K) scores of all edges.
std::vector<double> all_tables(const Pairwise&);

// Exact sums, value -inf if nothing is legal. False if exact sums are not available: the treewidth
// is too large, or groups of nodes score together.
bool exact_sums(const Pairwise&, double temperature, EliminationPlans&, PairSums&);

// Bethe's approximation of the value, and the beliefs of sum-product messages:
//   value = <theta, b> + t (sum_e H(b_e) - sum_v (degree_v - 1) H(b_v)),
// whose gradient they are once the messages have converged (Yedidia, Freeman and Weiss 2005). Exact
// if no pair is scored. The entropy is the expression in brackets, or 0. False: interrupted.
bool loopy_sums(const Pairwise&, double temperature, double damping, PairSums&, Interrupt*);

}  // namespace structlearn
