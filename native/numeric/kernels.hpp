// The few loops where the time goes, compiled once an instruction set and chosen at run time.
//
// Every kernel adds in an order that does not depend on the width of the machine's vectors, so the
// result has the same bits everywhere (the library is built without contraction to fused
// multiply-add). Transition tables are read as T[k1][r][k]: k1 the label that leaves the window,
// r the labels that stay, k the new one; for a first-order chain there is one r.
#pragma once

#include <cstddef>
#include <cstdint>

namespace structlearn {

// Tokens as IntegerPerceptron lays them out: rows of weights, so many at once, and weights listed
// one by one.
constexpr std::size_t kRowsAtOnce = 4;
struct IntegerTokens {
  const std::uint32_t *full_end, *entry_end;  // of each token
  const std::uint32_t *full, *entry;
  // Of each entry: its label, in a table of rows of all tokens of its sentence.
  const std::uint32_t* entry_place;
};

// The weights of such tokens in 16 or 32 bits; rows are `stride` apart, a multiple of 16.
template <class Whole>
struct IntegerWeights {
  const Whole *full, *listed;
  std::size_t stride;
};

// Rows of weights are cut into shares for threads that add to them at the same time. Neighbours
// mostly have the same share: they lie in the same cache lines.
constexpr std::size_t kShares = 8;
constexpr std::size_t share_of(std::size_t row) {
  return row / 8 % kShares;
}

struct Kernels {
  const char* name;
  // out[r,k] = max over k1 of a[k1,r] + T[k1,r,k]
  void (*max_step)(const double* a, const double* T, double* out, std::size_t K1, std::size_t R,
                   std::size_t K);
  // out[k1] = max over k of T[k1,k] + b[k]
  void (*max_step_back)(const double* T, const double* b, double* out, std::size_t K1,
                        std::size_t K);
  // out[i] = max(out[i], a[i] + b[i])
  void (*max_sum)(const double* a, const double* b, double* out, std::size_t n);
  // out[i] = max(out[i], a + b[i])
  void (*max_plus)(double a, const double* b, double* out, std::size_t n);
  // out[r,k] = sum over k1 of a[k1,r] * E[k1,r,k]
  void (*sum_step)(const double* a, const double* E, double* out, std::size_t K1, std::size_t R,
                   std::size_t K);
  // out[k1,r] = sum over k of E[k1,r,k] * b[r,k]
  void (*sum_step_back)(const double* E, const double* b, double* out, std::size_t K1,
                        std::size_t R, std::size_t K);
  // G[k1,r,k] = sum over n rows t of A[t][k1,r] * B[t][r,k]; rows of both are `stride` apart
  void (*outer_sum)(const double* A, const double* B, std::size_t n, std::size_t stride, double* G,
                    std::size_t K1, std::size_t R, std::size_t K);
  // out[i] = exp((x[i] - shift) * scale) for x[i] <= shift; exp(-inf) is exactly 0
  void (*exp_shifted)(const double* x, std::size_t n, double shift, double scale, double* out);
  // the largest x[i]; -inf for none
  double (*largest)(const double* x, std::size_t n);
  // a[i] *= b[i]; returns their sum, the smallest of them in *least
  double (*multiply_sum)(double* a, const double* b, std::size_t n, double* least);
  // x[i] *= a
  void (*scale)(double a, double* x, std::size_t n);
  // p[i] = alpha[i] * beta[i]; back[i] = node[i] * beta[i] * a where alpha[i] > 0, else 0
  void (*backward_row)(const double* alpha, const double* node, const double* beta, double a,
                       std::size_t n, double* p, double* back);
  // y[i] += a * x[i]
  void (*add_scaled)(double a, const double* x, double* y, std::size_t n);
  // y[i] += a * x[i] where real[i] is not 0
  void (*add_scaled_where)(double a, const double* x, const std::uint8_t* real, double* y,
                           std::size_t n);
  // sums[0] += <x, a>, sums[1] += <x, b>, each product and sum in double
  void (*dot_float_twice)(const float* x, const double* a, const double* b, std::size_t n,
                          double* sums);
  // out[i] += the sum over rows r of a[r] * x[r * stride + i]
  void (*add_scaled_floats)(const double* a, const float* x, std::size_t rows, std::size_t stride,
                            double* out, std::size_t n);
  // out[k] = sum over the features j of values[j] * w[row of indices[j]][k]; values null: all 1.
  // Row f holds the columns column[row_ptr[f]..row_ptr[f+1]]; one with K entries holds them all.
  void (*score_site)(const std::int32_t* indices, const double* values, std::size_t n,
                     const std::uint32_t* row_ptr, const std::uint32_t* column, const double* w,
                     double* out, std::size_t K);
  // The transpose: w[row of indices[j]][k] += a * values[j] * v[k] for all features j and columns
  // k.
  void (*scatter_site)(const std::int32_t* indices, const double* values, std::size_t n,
                       const std::uint32_t* row_ptr, const std::uint32_t* column, double a,
                       const double* v, double* w, std::size_t K);
  // The same for the features whose share is in [first, last), entries that only fill up (real 0)
  // left alone; lanes[share][...] grow, all four together, as |w|^2 does.
  void (*scatter_growth_site)(const std::int32_t* indices, const double* values, std::size_t n,
                              const std::uint32_t* row_ptr, const std::uint32_t* column,
                              const std::uint8_t* real, double a, const double* v, double* w,
                              std::size_t K, std::size_t first, std::size_t last,
                              double (*lanes)[4]);
  // next = theta + eta (scores - theta), a step of dual ascent on one site (dual_ascent.cpp).
  // `scratch` has room for 3 (n + 8) numbers.
  void (*dual_step)(const double* scores, const double* theta, const double* mu, std::size_t n,
                    double eps, double curvature, double* scratch, double* next);
  // d = now - mu; out = <next, now>, <model, d>, <theta, d>, <next, d>, <model, mu>, parts at -inf
  // left out
  void (*dual_sums)(const double* model, const double* theta, const double* next, const double* now,
                    const double* mu, std::size_t n, double* d, double* out);
  // out[k] += the sum over n rows, then over m rows of floats, of row[k]
  void (*add_rows)(const double* const* rows, std::size_t n, const float* const* floats,
                   std::size_t m, std::size_t K, double* out);
  // out[t - begin][k] = the weights of token t for label k, for the tokens [begin, end); rows of
  // `out` are `stride` apart, a multiple of 8. The sum of a token's rows must fit into 16 bits too.
  void (*integer_scores)(const IntegerTokens& tokens, const IntegerWeights<std::int32_t>& weights,
                         std::size_t begin, std::size_t end, std::size_t stride, std::int32_t* out);
  void (*short_scores)(const IntegerTokens& tokens, const IntegerWeights<std::int16_t>& weights,
                       std::size_t begin, std::size_t end, std::size_t stride, std::int32_t* out);
  // alpha[t][k] = max over j of alpha[t-1][j] + T[j][k], plus s[t][k], never below `floor`, for t
  // from 1 on; rows are `stride` apart, a multiple of 8
  void (*integer_viterbi)(const std::int32_t* T, const std::int32_t* s, std::size_t L,
                          std::size_t K, std::size_t stride, std::int32_t floor,
                          std::int32_t* alpha);
  // Back along the best path: the first label k < K whose alpha[L-1][k] + end[k] is largest, then
  // the first that explains it, with into[k][j] the score of k after j. Labels that are likely are
  // tried first.
  void (*integer_path)(const std::int32_t* alpha, const std::int32_t* end, const std::int32_t* into,
                       std::size_t L, std::size_t K, std::size_t stride,
                       const std::uint16_t* likely, std::uint16_t* path);
  // every x[i] is finite or -inf
  bool (*all_scores)(const double* x, std::size_t n);
  // best[m] = the largest A[h][m] over h != m, and the first h that has it, for an n x n matrix
  // whose rows are `stride` apart; -inf and 0 where all are -inf. The diagonal is not looked at.
  void (*column_best)(const double* A, std::size_t stride, std::size_t n, double* best,
                      std::int32_t* row);
  // out[r][i] = max(out[r][i], a[r] + x[r][i]) for a few rows
  void (*max_add_rows)(const double* a, const double* const* x, double* const* out,
                       std::size_t rows, std::size_t n);
  // out[i] = the largest rows[r][i], with `add` of out[i] itself too
  void (*max_rows)(const double* const* rows, std::size_t count, bool add, double* out,
                   std::size_t n);
};

// The best set for this machine; chosen on first use.
const Kernels& kernels();

// Restricts the choice to the named set ("baseline", "avx2", "avx512"); false if it is not there.
bool use_kernels(const char* name);

}  // namespace structlearn
