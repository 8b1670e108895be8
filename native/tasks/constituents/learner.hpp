// Learning the weights of a parser: the structured hinge or the log loss, one sentence at a time.
//
// The hinge is max over trees of (score + cost) - score of the gold tree, the cost of a tree the
// number of labelled spans that only one of the two has; the log loss is the log of the sum over
// all trees of exp(score) - score of the gold tree. A step goes along the difference of the gold
// tree's features and those of the best tree, or those that are expected, each weight with a step
// of its own that shrinks with the squares of its gradients (AdaGrad, Duchi, Hazan & Singer 2011),
// or with steps of one (the perceptron, Collins 2002). The result is the average of the weights
// after all steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "numeric/parallel.hpp"
#include "tasks/constituents/chart.hpp"

namespace structlearn::text {

struct TreeExample {
  TreeInput input;
  BinaryTree gold;
};

class TreeLearner {
 public:
  // cost: of a wrong span; rate: of AdaGrad, 0 for the perceptron; log_loss: instead of the hinge.
  TreeLearner(TreeWeights sizes, std::vector<TreeExample> examples, std::size_t min_count,
              double cost, double rate, bool log_loss = false);

  std::size_t features() const { return keys_.size(); }

  // One pass in the order given; false if interrupted. Counts how many trees were wrong (of the log
  // loss: less probable than all others together).
  bool epoch(std::span<const std::uint32_t> order, Interrupt& interrupt, std::size_t* wrong);

  const std::vector<std::uint64_t>& keys() const { return keys_; }
  // The averages so far: rows of the features, and the tables.
  void average(std::vector<float>& rows, std::vector<double>& table) const;

 private:
  struct Change {
    std::uint64_t place;  // of a weight: a row and a column, or an entry of the table
    float amount;
  };
  void collect(const TreeInput& input, const BinaryTree& tree, float amount);
  void step(std::size_t place, double gradient);
  bool step_all();  // along changes_; whether there was anything to do

  TreeWeights sizes_;
  std::vector<TreeExample> examples_;
  double cost_, rate_;
  bool log_loss_;
  std::vector<std::uint64_t> keys_;
  KeyIndex index_;
  // Features first, then the table: weights, sums for the average, squares of gradients.
  std::vector<float> weights_, sums_, squares_;
  std::vector<double> table_, table_sums_, table_squares_;
  std::vector<Change> changes_;
  std::vector<std::uint64_t> scratch_;
  double steps_ = 1.0;
};

}  // namespace structlearn::text
