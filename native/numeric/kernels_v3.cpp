// The kernels for x86-64-v3 machines; compiled with that instruction set (see CMakeLists.txt).
#include <cstddef>
#include <cstdint>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {
namespace avx2 {
#include "numeric/kernels_body.hpp"
#include "numeric/kernels_trees_body.hpp"
}  // namespace avx2
}  // namespace

extern const Kernels kernels_avx2;
const Kernels kernels_avx2 = {
    .name = "avx2",
    .max_step = avx2::max_step,
    .max_step_back = avx2::max_step_back,
    .max_sum = avx2::max_sum,
    .max_plus = avx2::max_plus,
    .sum_step = avx2::sum_step,
    .sum_step_back = avx2::sum_step_back,
    .outer_sum = avx2::outer_sum,
    .exp_shifted = avx2::exp_shifted,
    .largest = avx2::largest,
    .multiply_sum = avx2::multiply_sum,
    .scale = avx2::scale,
    .backward_row = avx2::backward_row,
    .add_scaled = avx2::add_scaled,
    .add_scaled_where = avx2::add_scaled_where,
    .dot_float_twice = avx2::dot_float_twice,
    .add_scaled_floats = avx2::add_scaled_floats,
    .score_site = avx2::score_site,
    .scatter_site = avx2::scatter_site,
    .scatter_growth_site = avx2::scatter_growth_site,
    .dual_step = avx2::dual_step,
    .dual_sums = avx2::dual_sums,
    .add_rows = avx2::add_rows,
    .integer_scores = avx2::integer_scores,
    .integer_viterbi = avx2::integer_viterbi,
    .all_scores = avx2::all_scores,
    .column_best = avx2::column_best,
    .max_add_rows = avx2::max_add_rows,
    .max_rows = avx2::max_rows,
};

}  // namespace structlearn
