// The kernels for x86-64-v4 machines; compiled with that instruction set (see CMakeLists.txt).
#include <cstddef>
#include <cstdint>

#include "structlearn/kernels.hpp"

namespace structlearn {
namespace {
namespace avx512 {
#include "kernels_body.hpp"
}
}  // namespace

extern const Kernels kernels_avx512;
const Kernels kernels_avx512 = {
    "avx512",           avx512::max_step,     avx512::sum_step,   avx512::sum_step_back,
    avx512::outer_sum,  avx512::exp_shifted,  avx512::largest,    avx512::multiply_sum,
    avx512::scale,      avx512::backward_row, avx512::add_scaled, avx512::add_scaled_where,
    avx512::score_site, avx512::scatter_site, avx512::all_scores};

}  // namespace structlearn
