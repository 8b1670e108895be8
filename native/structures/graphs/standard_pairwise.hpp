// Scores of labels and pairs as searches read them: without offsets, and of one size.
#pragma once

#include <array>
#include <vector>

#include "structures/graphs/pairwise.hpp"

namespace structlearn {

// A model with the same differences between labellings, in another unit: the largest score of a
// node, and of an edge's table, is 0, and the largest magnitude of all is from 1 to below 2. What
// searches take for rounding, and for small, is then a share of the differences between scores,
// whatever their offsets and their unit. A labelling that scores s here has offset + s / scale
// there.
class StandardPairwise {
 public:
  explicit StandardPairwise(const Pairwise& given);
  StandardPairwise(const StandardPairwise&) = delete;
  StandardPairwise& operator=(const StandardPairwise&) = delete;

  const Pairwise& model() const { return model_; }
  double scale() const { return scale_; }
  // What was taken off the score of every labelling.
  double offset() const { return offset_; }

  // The bound in the units of the given model, for a labelling that has `value` here and
  // `given_value` there: `given_value` itself where the bound proves that it is the best, that is,
  // where no more is left between them than the rounding of the sums that both are made of.
  double given_bound(double value, double bound, double given_value) const;

  const std::vector<double>& label() const { return label_; }
  const std::vector<double>& pairs(std::size_t group) const { return pairs_[group]; }
  const std::vector<double>& reward() const { return reward_; }

 private:
  // What all nodes, edges and groups score at most, each by itself; mostly 0.
  double trivial_bound() const;
  // The largest magnitude of each node, edge and group, each at most `most`. A score that is
  // further below the largest is part of no better output: it stands in for -inf, and its size says
  // nothing about rounding.
  double size(double most) const;

  Pairwise model_;
  double scale_ = 1.0, offset_ = 0.0;
  std::vector<double> label_, reward_;
  std::array<std::vector<double>, 2> pairs_;
};

}  // namespace structlearn
