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
const Kernels kernels_avx2 = avx2::table_of("avx2");

}  // namespace structlearn
