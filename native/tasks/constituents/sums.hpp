// Sums over all trees of the model in tree_parser.hpp: inside and outside scores, with which come
// probabilities of labelled spans and the expected features that the log loss needs.
//
// The same chart as TreeChart's with log-sum-exp for max: every tree has one derivation in it, so
// sums over derivations are sums over trees. O(n^2 R^2 + n^3 R) time besides the features and
// O(n^2 R) memory; the outside scores are posteriors handed down from wide spans to narrow ones
// (Baker 1979; the derivative of the log of the inside sum).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/constituents/chart.hpp"

namespace structlearn::text {

// Takes the expected counts of the features of a sentence.
class TreeCounts {
 public:
  virtual ~TreeCounts() = default;
  // The features `keys` are expected p[x] times with label x.
  virtual void features(std::span<const std::uint64_t> keys, const double* p) = 0;
  // An entry of the table of pairs (TreeWeights) is expected p times.
  virtual void pair(std::size_t entry, double p) = 0;
};

class TreeSums {
 public:
  TreeSums(const TreeWeights& sizes, const KeyIndex& index, const float* weights,
           const double* table)
      : sizes_(sizes), index_(index), weights_(weights), table_(table) {}

  // Bytes that a sentence of n words takes.
  static std::size_t bytes(std::size_t n, std::size_t labels) {
    return 11 * n * (n + 1) * labels * sizeof(double);
  }

  // log of the sum over all trees of exp(score). To be called again when the weights have changed.
  double inside(const TreeInput& input);
  // After inside(): posteriors. Those up to `least` are not handed on, so that 0 gives exact ones.
  void outside(const TreeInput& input, double least = 0.0, TreeCounts* counts = nullptr);
  // After outside(): P(label x over i..j), R of them; label 0: a single word without a label.
  const double* node(std::size_t i, std::size_t j) const { return p_node_.data() + at(i, j); }

 private:
  std::size_t at(std::size_t i, std::size_t j) const { return (i * (n_ + 1) + j) * sizes_.labels; }
  void add(double* out);  // the weights of the features in keys_
  void exponentials();
  // denominator[p] = sum over the symbols of a node over i..j of exp(node - top) exp(pair - most).
  double as_child(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j);
  void hand_down(const TreeInput& input, std::size_t place, std::size_t i, std::size_t j,
                 const double* p, double least, TreeCounts* counts);

  const TreeWeights& sizes_;
  const KeyIndex& index_;
  const float* weights_;
  const double* table_;
  std::size_t n_ = 0;
  double total_ = 0.0;
  double most_ = 0.0;         // of the table
  std::vector<double> pair_;  // exp(table - most)
  std::vector<std::uint64_t> keys_;
  std::vector<const float*> rows_;
  // By span and label, as in TreeChart; `inner` is a node without the features of its own span,
  // `rest` a rest, `last` the last child.
  std::vector<double> node_, inner_, first_, middle_, follow_, rest_, last_;
  std::vector<double> p_node_, p_first_, p_middle_, p_follow_;
  std::vector<double> scratch_, ways_, symbol_, denominator_;
};

}  // namespace structlearn::text
