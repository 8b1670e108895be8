// Labels on the nodes of a graph with scores of neighbouring pairs: the common model of grids and
// sparse graphs, and the searches for a best labelling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numeric/parallel.hpp"
#include "structures/structure.hpp"
#include "structures/watch.hpp"

namespace structlearn {

// The scores of a group of edges: a (K, K) table each or one for all, or a strength that unequal
// neighbours lose; nothing if both are null.
struct PairScores {
  const double* table = nullptr;
  const double* strength = nullptr;
  std::size_t step = 0;  // from one edge to the next
  std::size_t count = 0;
};

// Groups of nodes with reward[c, k] if all of them have label k (P^n Potts; Kohli, Kumar and Torr
// 2007), minus reward / slack[c] for each that has not, down to nothing (robust P^n; Kohli, Ladicky
// and Torr 2008). Group c owns members[start[c]..start[c + 1]]. Slacks are 1, or up to half of a
// group, so that at most one label has a reward. Rewards are >= 0 for cuts.
struct Cliques {
  std::size_t count = 0;
  const std::int64_t* start = nullptr;
  const std::int64_t* members = nullptr;
  const double* reward = nullptr;
  const double* slack = nullptr;

  std::size_t size(std::size_t c) const {
    return static_cast<std::size_t>(start[c + 1] - start[c]);
  }
  // The one label that may have a reward, with the number of members that have another one.
  struct Common {
    std::int32_t label;
    double missing;
  };
  Common common(std::size_t c, const std::int32_t* y) const;
};

// N nodes with K labels. A grid (height > 0) has its horizontal edges first, row by row, then the
// vertical ones; a graph has (E, 2) node numbers. Everything is borrowed.
struct Pairwise {
  std::size_t nodes = 0, labels = 0;
  std::size_t height = 0, width = 0;
  const std::int64_t* ends = nullptr;
  std::size_t n_edges = 0;
  const double* label = nullptr;
  std::array<PairScores, 2> pairs;  // the second for vertical edges of a grid
  Cliques cliques;  // of graphs; used by score, cuts and moves, not by messages and roof duality

  double node_score(std::size_t v, std::size_t k) const { return label[v * labels + k]; }
  double pair_score(std::size_t e, std::size_t a, std::size_t b) const {
    const bool second = e >= pairs[0].count;
    const PairScores& s = pairs[second];
    const std::size_t i = (second ? e - pairs[0].count : e) * s.step;
    if (s.table != nullptr) return s.table[i + a * labels + b];
    if (s.strength != nullptr) return a == b ? 0.0 : -s.strength[i];
    return 0.0;
  }
  // The loss of an edge with unequal ends, if its pairs have no other scores; else null.
  const double* strength(std::size_t e) const {
    const bool second = e >= pairs[0].count;
    const PairScores& s = pairs[second];
    return s.strength == nullptr ? nullptr
                                 : s.strength + (second ? e - pairs[0].count : e) * s.step;
  }
  std::array<std::size_t, 2> edge(std::size_t e) const;
  double score(const std::int32_t* y) const;
  double clique_score(const std::int32_t* y) const;
  bool anything_forbidden() const;
  // Whether any pair, or larger group, is scored.
  bool has_pairs() const {
    const auto scored = [](const PairScores& s) {
      return s.count > 0 && (s.table != nullptr || s.strength != nullptr);
    };
    return cliques.count > 0 || scored(pairs[0]) || scored(pairs[1]);
  }
  // More than the sum of all finite scores: the cost of a forbidden part in a cut.
  double forbidding_cost() const;
};

struct CutResult {
  bool complete = true;              // false: interrupted
  std::int64_t not_submodular = -1;  // the first edge that no cut can represent
};

// The best labelling for K = 2 by one minimum cut (Kolmogorov and Zabih 2004). Ties: the labelling
// with label 0 wherever one of them has it.
CutResult binary_cut(const Pairwise&, std::vector<std::int32_t>& y, Interrupt*);
// The same, reported step by step: nodes (their places), (flow of each from the source, < 0: to the
// sink); edges (places of both ends...), (capacity there, back...); and the reports of MaxFlow.
CutResult watched_cut(const Pairwise&, std::vector<std::int32_t>& y, Recorder&);

// Partial optimality for K = 2 and any pairs (roof duality; Boros and Hammer 2002, Kolmogorov and
// Rother 2007): labels that some best labelling has, -1 if unknown. Returns an upper bound of all
// scores.
double roof_dual(const Pairwise&, std::vector<std::int32_t>& y, Interrupt*);

struct MoveSettings {
  bool swap = false;  // exchange two labels, instead of expanding one
  std::size_t max_cycles = 1000;
};
struct MoveResult {
  bool complete = true;    // false: interrupted
  bool converged = true;   // no move gains any more
  bool truncated = false;  // some pairs were not a metric (semimetric, for swaps)
};

// Climbs from y by the best moves of one label (alpha-expansion) or two (alpha-beta-swap), each
// found by a cut (Boykov, Veksler and Zabih 2001). Pairs that a cut cannot represent are made
// representable by raising the cost of the new labels (Rother et al. 2005); no move ever loses.
MoveResult climb_by_cuts(const Pairwise&, const MoveSettings&, std::vector<std::int32_t>& y,
                         Interrupt*);

// Improves y to the best labelling by branch and bound, cliques of any rewards included. False: the
// step limit (a step tries a label at a node) was too low to prove it. O(steps * (N + E / N) * K).
bool branch_and_bound(const Pairwise&, std::size_t most_steps, std::vector<std::int32_t>& y);
// The same, reported step by step: start (nodes in the order of the search), (score of y); try
// (depth, node, label), (score so far, bound of the remainder, best known); leaf (1 if it is the
// best so far), (score).
bool watched_branching(const Pairwise&, std::size_t most_steps, std::vector<std::int32_t>& y,
                       Recorder&);

struct MessageSettings {
  double temperature = 0.0;  // 0: maximum
  bool reweighted = false;   // sequential tree-reweighted, temperature 0 only: gives a bound
  double damping = 0.0;      // the share of the old message kept
  std::size_t max_rounds = 100;
  double tolerance = 1e-6;  // of a change of messages; reweighted: of a gain, as a share of the gap
};
struct MessageResult {
  bool complete = true;
  bool converged = false;
  std::size_t rounds = 0;
  double bound = 0.0;  // reweighted only: no labelling scores more
};

// Messages along the edges, in sweeps forth and back over the nodes (Kolmogorov 2006 for the
// reweighted ones). `belief` (N, K) and, where not null, `pair_belief` (E, K, K) are probabilities
// at a temperature > 0, and max-marginals (belief alone) at 0; y is read off them.
MessageResult pass_messages(const Pairwise&, const MessageSettings&, std::vector<std::int32_t>& y,
                            double* belief, double* pair_belief, Interrupt*);

// The pseudo-likelihood of a labelling (Besag 1975): each label given those of its neighbours,
//   value = score(y) + sum_v (t log sum_k exp(s_v(k) / t) - s_v(y_v)),
// s_v(k) being the score of node v and its edges if v has label k and all others keep theirs. Minus
// score(y) it is -t times the log of the pseudo-likelihood, convex in the scores. Writes the
// gradient of the value: `node` (N, K), the conditional probabilities, and `pair` (E, K, K), zero
// on entry. O((N + E) K).
double pseudo_likelihood(const Pairwise&, const std::int32_t* y, double temperature, double* node,
                         double* pair);

}  // namespace structlearn
