// The operator A of a problem: scores of parts from weights, and its transpose. The only place that
// knows the meaning of a weight.
//
// Each task has its own scorer: rows of features (row_scorer.hpp), templates over tokens, hashed
// features of arcs, features of spans. It must lay out the parts of an example, score them, and
// gather A^T v; everything else follows, and is overridden if a scorer can do it faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numeric/kernels.hpp"
#include "structures/structure.hpp"

namespace structlearn {

// Weights to read: doubles, or floats if a table is large and read at random.
struct Weights {
  const double* wide = nullptr;
  const float* narrow = nullptr;
  Weights(const double* w) : wide(w) {}   // NOLINT: weights are what they are
  Weights(const float* w) : narrow(w) {}  // NOLINT
};

// Entries of a vector over weights, in any order, repeats allowed: they add up.
using WeightEntries = std::vector<std::pair<std::size_t, double>>;

class Scorer {
 public:
  virtual ~Scorer() = default;

  virtual std::size_t examples() const = 0;
  // The number of weights.
  virtual std::size_t weights() const = 0;
  virtual Layout layout(std::size_t example) const = 0;

  // theta = scale * A w, and -inf for excluded parts.
  virtual void score(std::size_t example, const Layout&, Weights w, double scale,
                     double* theta) const = 0;

  // Appends A^T v to `out`. Parts whose |v| is at most `least` may be left out.
  virtual void gather(std::size_t example, const Layout&, const PartVector& v, WeightEntries& out,
                      double least = 0.0) const = 0;

  // w += a * A^T v and, if `second` is given, second += b * A^T v.
  virtual void scatter(std::size_t example, const Layout&, const PartVector& v, double a, double* w,
                       double b = 0.0, double* second = nullptr) const;

  // The same for one vector and the weights of the shares [first, last) of kShares (kernels.hpp):
  // threads can add to different shares at the same time. growth[share] is the increase of |w|^2
  // there. Weights that are not divided into shares all belong to share 0.
  virtual void scatter_growth(std::size_t example, const Layout&, const PartVector& v, double a,
                              double* w, std::size_t first, std::size_t last, double* growth) const;

  // The same for a gradient that is summed over all examples: finish_sum, called after all of them,
  // zeroes whatever it adds to weights that do not exist.
  virtual void scatter_sum(std::size_t example, const Layout& layout, const PartVector& v, double a,
                           double* w) const {
    scatter(example, layout, v, a, w);
  }
  virtual void finish_sum(double* /* w */) const {}

  // <w, A^T v> for a sparse v, without scoring the parts missing from v.
  virtual double dot(std::size_t example, const Layout&, const PartVector& v,
                     const double* w) const;

  // Sets to zero what scatter of the same v has touched.
  virtual void clear(std::size_t example, const Layout&, const PartVector& v, double* w) const;

  // The weights that the example's scores depend on, as (first, count); repeats allowed.
  virtual void rows(std::size_t example, const Layout&,
                    std::vector<std::pair<std::size_t, std::size_t>>& ranges) const;

  // |A^T v|^2. Features that repeat inside an example collide: not a sum over parts.
  double squared_norm(std::size_t example, const Layout&, const PartVector& v) const;

  // |A^T e|^2 for a part of one site, if it is the same for all its parts; otherwise negative:
  // then there is no dual ascent by sites.
  virtual double squared_norm_of_site(std::size_t, std::size_t /* block */,
                                      std::size_t /* site */) const {
    return -1.0;
  }

  // By weight, summed over all sites: the squares of its feature, its count, and the number of
  // sites. Nothing if features have no values of their own.
  virtual void feature_squares(double* /* squares */, double* /* counts */,
                               double* /* all */) const {}
};

// Adds up entries of the same weight, in order, and drops zeros; the rest stays in the order of the
// weights' first occurrence. Uses a vector over all weights, or a hash table if that vector would
// be larger than the caches.
class EntryMerger {
 public:
  explicit EntryMerger(std::size_t weights) : sums_(weights <= kMostSums ? weights : 0, 0.0) {}
  void operator()(WeightEntries& entries);

 private:
  static constexpr std::size_t kMostSums = std::size_t{1} << 22;
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;
  void add_up(WeightEntries& entries);
  std::vector<double> sums_;          // zeros between two calls
  std::vector<std::uint32_t> slots_;  // of the hash table: entries, kEmpty between two calls
};

}  // namespace structlearn
