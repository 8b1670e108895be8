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
const Kernels kernels_avx512 = avx512::table_of("avx512");

}  // namespace structlearn
