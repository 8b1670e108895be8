// The kernels for x86-64-v4 machines; compiled with that instruction set (see CMakeLists.txt).
#include <cstddef>
#include <cstdint>

#include "numeric/kernels.hpp"

namespace structlearn {
namespace {
namespace avx512 {
#include "numeric/kernels_body.hpp"
#include "numeric/kernels_trees_body.hpp"
}  // namespace avx512
}  // namespace

extern const Kernels kernels_avx512;
const Kernels kernels_avx512 = {
    .name = "avx512",
    .max_step = avx512::max_step,
    .max_step_back = avx512::max_step_back,
    .max_sum = avx512::max_sum,
    .max_plus = avx512::max_plus,
    .sum_step = avx512::sum_step,
    .sum_step_back = avx512::sum_step_back,
    .outer_sum = avx512::outer_sum,
    .exp_shifted = avx512::exp_shifted,
    .largest = avx512::largest,
    .multiply_sum = avx512::multiply_sum,
    .scale = avx512::scale,
    .backward_row = avx512::backward_row,
    .add_scaled = avx512::add_scaled,
    .add_scaled_where = avx512::add_scaled_where,
    .dot_float_twice = avx512::dot_float_twice,
    .add_scaled_floats = avx512::add_scaled_floats,
    .score_site = avx512::score_site,
    .scatter_site = avx512::scatter_site,
    .scatter_growth_site = avx512::scatter_growth_site,
    .dual_step = avx512::dual_step,
    .dual_sums = avx512::dual_sums,
    .add_rows = avx512::add_rows,
    .integer_scores = avx512::integer_scores,
    .integer_viterbi = avx512::integer_viterbi,
    .all_scores = avx512::all_scores,
    .column_best = avx512::column_best,
    .max_add_rows = avx512::max_add_rows,
    .max_rows = avx512::max_rows,
};

}  // namespace structlearn
