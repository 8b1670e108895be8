// One example of a grid or a graph: from blocks of part scores to the model of the searches, and
// from labels or marginals back to parts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "structures/graphs/pairwise.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// Blocks of a grid: 0 label (H * W sites of K), 1 right and 2 down (K * K outcomes, one shared site
// or one per edge), 3 potts_right and 4 potts_down (losses of unequal neighbours; such a pair
// counts -1). Its topology is (H, W).
//
// Blocks of a graph: 0 label (N sites of K), 1 edge (K * K), 2 potts (1), 3 clique (K). Its
// topology is E, the (E, 2) nodes of the edges, C, the C + 1 starts of the cliques and their
// members; the last three may be left out.
struct PairwiseKind {
  bool grid = false;
  double tolerance = 0.0;  // the share of a clique's nodes that may differ at most
};

class PairwiseExample {
 public:
  // Whether blocks and topology are consistent; the scores are not read.
  static bool fits(const PairwiseKind&, const Layout&);

  // For a layout that fits. Borrows the scores.
  PairwiseExample(const PairwiseKind&, const Layout&, const double* theta);
  PairwiseExample(const PairwiseExample&) = delete;
  PairwiseExample& operator=(const PairwiseExample&) = delete;

  const Pairwise& model() const { return model_; }
  // Strengths and rewards are finite; labels and tables may be -inf.
  bool strengths_are_finite() const;

  // The parts of a labelling, ascending, none twice.
  void encode(const std::int32_t* y, PartVector& p) const;
  // The counts (N, K) of nodes and (E, K, K) of pairs as a dense vector over parts. Not for
  // cliques.
  void gather(const std::vector<double>& node, const std::vector<double>& pair,
              std::vector<double>& p) const;

 private:
  // Edges with their own blocks: tables, strengths, or both.
  struct Group {
    const Block* table = nullptr;
    const Block* strength = nullptr;
    std::size_t first = 0;
  };
  void set_pairs(std::size_t g, const double* theta);

  const Layout& layout_;
  const double* theta_;
  Pairwise model_;
  std::array<Group, 2> groups_;
  std::array<std::vector<double>, 2> merged_;  // if a group has both
  const Block* clique_ = nullptr;
  std::vector<double> reward_, slack_;
};

}  // namespace structlearn
