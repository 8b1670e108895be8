// The kernels for x86-64-v3 machines; compiled with that instruction set (see CMakeLists.txt).
#include <cstddef>
#include <cstdint>

#include "structlearn/kernels.hpp"

namespace structlearn {
namespace {
namespace avx2 {
#include "kernels_body.hpp"
}
}  // namespace

extern const Kernels kernels_avx2;
const Kernels kernels_avx2 = {
    "avx2",           avx2::max_step,     avx2::sum_step,   avx2::sum_step_back,
    avx2::outer_sum,  avx2::exp_shifted,  avx2::largest,    avx2::multiply_sum,
    avx2::scale,      avx2::backward_row, avx2::add_scaled, avx2::add_scaled_where,
    avx2::score_site, avx2::scatter_site, avx2::all_scores};

}  // namespace structlearn
