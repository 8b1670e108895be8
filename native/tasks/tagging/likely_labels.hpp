// Probabilities of labels in a chain of order 1 with many labels, in time linear in their number.
//
// Sums go over the sequences in which all labels but one are likely ones: those that the sequences
// before a token give a fair share of its probability. So every label has a probability, and what
// is left out is the sequences with two unlikely labels side by side.
#pragma once

#include <span>
#include <vector>

#include "structures/structure.hpp"

namespace structlearn::text {

class LikelyLabels {
 public:
  // Labels that are likely at a token at most, and their least share of the largest one's.
  static constexpr std::size_t kMost = 32;
  static constexpr double kLeastShare = 1e-5;

  // Scores of label windows, which may be empty (start, end); -inf forbids one.
  LikelyLabels(std::span<const double> start, std::span<const double> transition,
               std::span<const double> end, double temperature);

  struct Scratch {
    std::vector<double> node, beta, into;
    std::vector<std::size_t> kept, kept_end, order;
  };
  // The probabilities of the labels of L tokens with the scores theta (L, K); false: no likely
  // sequence is legal.
  bool probabilities(const double* theta, std::size_t L, Scratch&, std::vector<double>& p) const;

 private:
  // The likely ones of the labels with these weights, appended.
  void choose(const double* weight, Scratch&) const;

  std::size_t labels_;
  double temperature_;
  std::vector<double> start_, end_, from_, into_;  // exponentials; `into_` is `from_` transposed
};

}  // namespace structlearn::text
