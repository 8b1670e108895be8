// Features times weights: theta = A_x w, and its transpose. The only place that knows weights.
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

#include "structlearn/structure.hpp"

namespace structlearn {

// The features of one block, all examples one after another. Pointers are borrowed.
struct FeatureRows {
  enum class Kind { kShared, kSparse, kDense };
  Kind kind = Kind::kShared;
  std::size_t features = 1;
  std::span<const std::int64_t> site_ptr;  // rows of example i: [site_ptr[i], site_ptr[i+1])
  const std::int64_t* indptr = nullptr;    // sparse
  const std::int32_t* indices = nullptr;
  const double* values = nullptr;  // sparse: null where all are 1; dense: (rows, features)
};

// The weights of one block inside the flat weight vector. Pointers are borrowed.
struct WeightRows {
  bool present = false;
  std::size_t offset = 0;
  std::size_t outcomes = 0;  // of the structure, a site
  std::size_t columns = 0;   // of the weights, a feature; = outcomes unless classes share weights
  std::span<const std::uint32_t> row_ptr;  // sparse rows, one a feature; empty where dense
  const std::uint32_t* column = nullptr;
  // Sparse rows that are nearly full are stored full, so that they can be added as vectors; the
  // entries that only fill up stay zero. One byte a weight, 0 for a filler; null: none.
  const std::uint8_t* real = nullptr;
  // Classes that share weights (a hierarchy): outcome r sums the columns member[member_ptr[r]..].
  std::span<const std::uint32_t> member_ptr;
  const std::uint32_t* member = nullptr;
  // 0, or -inf where a constraint forbids the outcome: (outcomes), the same at every site, or
  // (sites of a position, outcomes). Empty: nothing is forbidden.
  std::span<const double> mask;
};

struct ScorerBlock {
  FeatureRows features;
  WeightRows weights;
};

// What the examples say of their own shapes. Pointers are borrowed.
struct Topologies {
  std::span<const std::int64_t> ptr;  // of example i: value[ptr[i]..ptr[i+1]]; empty: all for each
  std::span<const std::int64_t> value;
};

class Scorer {
 public:
  Scorer(std::vector<ScorerBlock> blocks, std::size_t examples, Topologies topologies = {});

  std::size_t examples() const { return examples_; }
  const std::vector<ScorerBlock>& blocks() const { return blocks_; }

  Layout layout(std::size_t example) const;

  // theta = scale * A w + masks.
  void score(std::size_t example, const Layout&, const double* w, double scale,
             double* theta) const;

  // w += a * A^T v and, where `second` is given, second += b * A^T v.
  void scatter(std::size_t example, const Layout&, const PartVector& v, double a, double* w,
               double b = 0.0, double* second = nullptr) const;

  // The same for one vector; returns how much |w|^2 has grown.
  double scatter_growth(std::size_t example, const Layout&, const PartVector& v, double a,
                        double* w) const;

  // The same for a dense v, faster; the fillers of nearly full rows collect values too, which
  // clear_fillers sets back to zero once all examples are through.
  void scatter_with_fillers(std::size_t example, const Layout&, const PartVector& v, double a,
                            double* w) const;
  void clear_fillers(double* w) const;

  // <w, A^T v> for a sparse v, without scoring the parts that v leaves out.
  double dot(std::size_t example, const Layout&, const PartVector& v, const double* w) const;

  // Sets to zero what scatter of the same v has touched.
  void clear(std::size_t example, const Layout&, const PartVector& v, double* w) const;
  // The weights that the example's scores depend on, as (first, how many); repeats allowed.
  void rows(std::size_t example, const Layout&,
            std::vector<std::pair<std::size_t, std::size_t>>& ranges) const;

  // A^T v by weight: added to `scratch`, its places written to `touched`, repeats allowed.
  void gather(std::size_t example, const Layout&, const PartVector& v, double* scratch,
              std::vector<std::size_t>& touched) const;

  // |A^T v|^2. Features that repeat inside an example collide: not a sum over sites. `scratch` has
  // one zero a weight, and is left so.
  double squared_norm(std::size_t example, const Layout&, const PartVector& v,
                      double* scratch) const;

  // For each weight: the sum of squares of its feature over all sites of its block, at how many of
  // them it is there, and how many there are.
  void feature_squares(double* squares, double* counts, double* all) const;

  // |x|^2 of the features of one site, as many times as an outcome has columns: how much its score
  // moves when a multiple of A^T e_part is added to the weights.
  double squared_norm_of_site(std::size_t example, std::size_t block, std::size_t site) const;

 private:
  // What the scorer adds to a block so that its loops are short.
  struct Derived {
    // Dense features that are mostly zero, as sparse ones.
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    // Where each feature's weights begin, for weights that are all there.
    std::vector<std::uint32_t> row_ptr;
  };
  void derive(ScorerBlock& block);

  bool plain(const PartVector& v) const;
  template <class Sink>
  void transpose(std::size_t example, const Layout&, const PartVector& v, Sink&& sink) const;

  std::vector<ScorerBlock> blocks_;
  std::vector<std::shared_ptr<const Derived>> derived_;  // shared: the blocks point into them
  std::size_t examples_;
  Topologies topologies_;
};

}  // namespace structlearn
