// Label and pair scores normalised for searches: without offsets, and of standard size.
#pragma once

#include <array>
#include <vector>

#include "structures/graphs/pairwise.hpp"

namespace structlearn {

// A model with the same differences between labellings, in another unit: the largest score of a
// node, and of an edge's table, is 0, and the largest magnitude of all is from 1 to below 2. The
// absolute tolerances of searches are then relative to the differences between scores, for any
// offsets and units. A labelling that scores s here has offset + s / scale there.
class StandardPairwise {
 public:
  explicit StandardPairwise(const Pairwise& given);
  StandardPairwise(const StandardPairwise&) = delete;
  StandardPairwise& operator=(const StandardPairwise&) = delete;

  const Pairwise& model() const { return model_; }
  double scale() const { return scale_; }
  // The offset subtracted from the score of every labelling.
  double offset() const { return offset_; }

  // The bound in the units of the given model, for a labelling that has `value` here and
  // `given_value` there: `given_value` itself if the bound proves that it is the best, that is, if
  // the gap between them is at most the rounding error of their sums.
  double given_bound(double value, double bound, double given_value) const;

  const std::vector<double>& label() const { return label_; }
  const std::vector<double>& pairs(std::size_t group) const { return pairs_[group]; }
  const std::vector<double>& reward() const { return reward_; }

 private:
  // The sum of the maxima of all nodes, edges and groups; mostly 0.
  double trivial_bound() const;
  // The largest magnitude of each node, edge and group, each at most `most`. A score further below
  // the largest is part of no better output: it acts as -inf, and its size must not count as
  // rounding.
  double size(double most) const;

  Pairwise model_;
  double scale_ = 1.0, offset_ = 0.0;
  std::vector<double> label_, reward_;
  std::array<std::vector<double>, 2> pairs_;
};

}  // namespace structlearn
