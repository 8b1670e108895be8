// The vector work of L-BFGS and OWL-QN: few passes over long vectors, on threads.
//
// The two-loop recursion runs on inner products alone (W. Chen, Z. Wang & J. Zhou 2014,
// "Large-scale L-BFGS using MapReduce"): an iteration reads the remembered pairs (s, y) twice,
// once for their products with the new y and gradient, once to add up the direction. They are kept
// as floats, which halves the bytes; the direction is that of a positive definite matrix all the
// same, as the products are those of the rounded pairs.
//
// All sums run over tiles of a fixed size in a fixed order: no number depends on the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace structlearn {

// Pairs s = w - w_before, y = g - g_before, and the inverse Hessian they stand for.
class CurvatureMemory {
 public:
  // Room for `pairs` pairs of vectors of n numbers: (pairs + 1) * 8n bytes.
  CurvatureMemory(std::size_t n, std::size_t pairs);

  std::size_t size() const { return n_; }
  std::size_t pairs() const { return order_.size(); }

  void forget() { order_.clear(); }

  // All that `direction` and later calls of `remember` depend on, for going on another time.
  struct Dump {
    std::vector<std::int64_t> order;  // slots in use, newest first
    std::vector<float> history;       // s and y of each of them, in that order, n numbers each
    std::vector<double> sy, yy, vs, vy;
  };
  Dump dump() const;
  // Throws where the sizes or slots are not those of such a memory, which then stays as it was.
  void load(const Dump&);

  // Adds the pair of two points, in place of the oldest where the memory is full, and takes note of
  // <v, s> and <v, y> for all pairs, as `direction` needs them. A pair without positive curvature
  // is left out (false).
  bool remember(const double* w, const double* w_before, const double* g, const double* g_before,
                const double* v, std::size_t threads);

  // d = -H v for the v of the last call of `remember` (any v while nothing is remembered); with
  // `aligned` without the entries that do not have the sign of -v (OWL-QN). Returns <v, d>.
  double direction(const double* v, double* d, bool aligned, std::size_t threads) const;

 private:
  static constexpr std::size_t kTile = 1024;  // y and v of a tile stay in the nearest cache
  static constexpr std::size_t kTask = 16;    // tiles

  // Tile after tile, each with the s and y of all slots: both passes read straight on.
  float* tile(std::size_t t) { return history_.data() + t * 2 * slots_ * kTile; }
  const float* tile(std::size_t t) const { return history_.data() + t * 2 * slots_ * kTile; }
  std::size_t tasks() const { return (n_ + kTile * kTask - 1) / (kTile * kTask); }

  std::size_t n_, slots_;
  std::vector<float> history_;
  std::vector<std::size_t> order_;  // slots in use, newest first
  // By slot: <s_i, y_j> for j newer than i or the same, <y_i, y_j>, <v, s_i>, <v, y_i>.
  std::vector<double> sy_, yy_, vs_, vy_;
};

// out = w + step * d.
void advance(const double* w, const double* d, double step, std::size_t n, double* out,
             std::size_t threads);

// The same inside the orthant of w, of -v where w is 0: a weight that would change sign becomes 0.
void advance_in_orthant(const double* w, const double* d, const double* v, double step,
                        std::size_t n, double* out, std::size_t threads);

struct SmoothPoint {
  double squared_weights = 0.0;   // <w, w>
  double squared_gradient = 0.0;  // <g, g>
  double squared_dual = 0.0;      // <w - g, w - g>: the dual's weights
  double slope = 0.0;             // <g, d>
};

// g = C g + w: from the gradient of the losses to that of 1/2 |w|^2 + C sum of losses.
SmoothPoint finish_gradient(const double* w, const double* d, double C, std::size_t n, double* g,
                            std::size_t threads);

struct SparsePoint {
  double squared_weights = 0.0;
  double absolute_weights = 0.0;
  double squared_pseudo = 0.0;  // <v, v>
  double decrease = 0.0;        // <v_before, w - w_before>
  double gap = 0.0;             // r(w) + r*(z) - <w, z> with z = -C sum of loss gradients
};

// The same with l1 |w|_1 added: v is the pseudo-gradient, the subgradient of least norm.
SparsePoint finish_pseudo_gradient(const double* w, const double* w_before, const double* v_before,
                                   double C, double l1, std::size_t n, double* g, double* v,
                                   std::size_t threads);

}  // namespace structlearn
