// Rows of features times rows of weights: the scorer of arrays, sparse matrices and named features.
//
// A block of an example has sites with a row of features each, and outcomes; the score of outcome
// r at site s is sum_f x[s,f] W[f,r]. A shared block has one site and one feature that is always
// 1: its weights are its scores. Weights exist for all outcomes of a feature (dense rows), or for
// those seen in training (sparse rows, CRFsuite's default).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "scoring/scorer.hpp"

namespace structlearn {

// The features of one block, all examples one after another. Pointers are borrowed.
struct FeatureRows {
  enum class Kind { kShared, kSparse, kDense };
  Kind kind = Kind::kShared;
  std::size_t features = 1;
  std::span<const std::int64_t> site_ptr;  // rows of example i: [site_ptr[i], site_ptr[i+1])
  const std::int64_t* indptr = nullptr;    // sparse
  const std::int32_t* indices = nullptr;
  const double* values = nullptr;  // sparse: null if all are 1; dense: (rows, features)
};

// The weights of one block inside the flat weight vector. Pointers are borrowed.
struct WeightRows {
  bool present = false;
  std::size_t offset = 0;
  std::size_t outcomes = 0;                // of the structure, per site
  std::size_t columns = 0;                 // per feature; = outcomes unless classes share weights
  std::span<const std::uint32_t> row_ptr;  // sparse rows, one per feature; empty if dense
  const std::uint32_t* column = nullptr;
  // Sparse rows that are nearly full are stored full, so that they can be added as vectors; the
  // padding stays zero. One byte per weight, 0 for padding; null: none.
  const std::uint8_t* real = nullptr;
  // Classes that share weights (a hierarchy): outcome r sums the columns member[member_ptr[r]..].
  std::span<const std::uint32_t> member_ptr;
  const std::uint32_t* member = nullptr;
  // 0, or -inf where a constraint forbids the outcome: (outcomes), the same at every site, or
  // (sites per position, outcomes). Empty: nothing is forbidden.
  std::span<const double> mask;
};

struct ScorerBlock {
  FeatureRows features;
  WeightRows weights;
};

// The topology of the examples. Pointers are borrowed.
struct Topologies {
  std::span<const std::int64_t> ptr;  // of example i: value[ptr[i]..ptr[i+1]]; empty: one for all
  std::span<const std::int64_t> value;
};

class RowScorer final : public Scorer {
 public:
  RowScorer(std::vector<ScorerBlock> blocks, std::size_t examples, std::size_t weights,
            Topologies topologies = {});

  std::size_t examples() const override { return examples_; }
  std::size_t weights() const override { return weights_; }
  Layout layout(std::size_t example) const override;
  void score(std::size_t example, const Layout&, Weights w, double scale,
             double* theta) const override;
  void gather(std::size_t example, const Layout&, const PartVector& v, WeightEntries& out,
              double least = 0.0) const override;
  void scatter(std::size_t example, const Layout&, const PartVector& v, double a, double* w,
               double b = 0.0, double* second = nullptr) const override;
  // Features are divided into shares by their numbers.
  void scatter_growth(std::size_t example, const Layout&, const PartVector& v, double a, double* w,
                      std::size_t first, std::size_t last, double* growth) const override;
  // The padding of nearly full rows collects values too: whole rows are added as vectors.
  void scatter_sum(std::size_t example, const Layout&, const PartVector& v, double a,
                   double* w) const override;
  void finish_sum(double* w) const override;
  double dot(std::size_t example, const Layout&, const PartVector& v,
             const double* w) const override;
  void clear(std::size_t example, const Layout&, const PartVector& v, double* w) const override;
  void rows(std::size_t example, const Layout&,
            std::vector<std::pair<std::size_t, std::size_t>>& ranges) const override;
  // |x|^2 of the features of the site, times the number of columns of an outcome.
  double squared_norm_of_site(std::size_t example, std::size_t block,
                              std::size_t site) const override;
  void feature_squares(double* squares, double* counts, double* all) const override;

 private:
  // Derived data of a block that keeps the scorer's loops short.
  struct Derived {
    // Dense features that are mostly zero, converted to sparse ones.
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    // The start of each feature's weights, if all weights exist.
    std::vector<std::uint32_t> row_ptr;
  };
  void derive(ScorerBlock& block);

  bool plain(const PartVector& v) const;
  template <class Sink>
  void transpose(std::size_t example, const Layout&, const PartVector& v, Sink&& sink) const;

  std::vector<ScorerBlock> blocks_;
  std::vector<std::shared_ptr<const Derived>> derived_;  // shared: the blocks point into them
  std::size_t examples_, weights_;
  Topologies topologies_;
};

}  // namespace structlearn
