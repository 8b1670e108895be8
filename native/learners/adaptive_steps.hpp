// Steps whose length depends on the gradient over weights itself: passive-aggressive, AROW,
// AdaGrad. They first add up what the example's parts give to each weight (features that repeat
// within an example meet there), then move those weights.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "learners/online.hpp"

namespace structlearn {

template <class Real>
class AdaptiveSteps {
 public:
  AdaptiveSteps(const Problem&, const OnlineSettings&, OnlineState<Real>&);

  // Before an example is scored: AdaGrad's regulariser on its weights, from the steps since each
  // was last looked at.
  void prepare(std::size_t i, const Layout&);
  // Moves the weights; false where there was nothing to do.
  bool take(std::size_t i, const Layout&, const PartVector& r, double loss, double weight);
  // After the last example of a pass: the regulariser on all weights.
  void finish();

 private:
  void gather(std::size_t i, const Layout&, const PartVector& r);
  void move(std::size_t q, double d);
  void catch_up(std::size_t q);
  void passive_aggressive(double loss, double weight);
  void arow(double loss, double weight);
  void adagrad(double weight);

  const Problem& problem_;
  const OnlineSettings& settings_;
  OnlineState<Real>& state_;
  bool average_;
  double decay_ = 0.0;           // AdaGrad: eta * lambda; 0 where nothing shrinks
  WeightEntries gradient_;       // each weight once
  std::vector<double> current_;  // AdaGrad: the step that a weight is up to date with
  EntryMerger merge_;
  std::vector<std::pair<std::size_t, std::size_t>> ranges_;
};

}  // namespace structlearn
