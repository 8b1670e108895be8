// The kernels every machine can run, and the choice of the best set at run time.
#include "numeric/kernels.hpp"

#include <atomic>
#include <cstring>

#if !defined(__GNUC__)
#error "structlearn's kernels need GCC's vector extensions: build with GCC or Clang (clang-cl)"
#endif

namespace structlearn {
namespace {
namespace baseline {
#include "numeric/kernels_body.hpp"
#include "numeric/kernels_trees_body.hpp"
}  // namespace baseline
}  // namespace

static const Kernels kernels_baseline = baseline::table_of("baseline");

#ifdef STRUCTLEARN_DISPATCH
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

static const Kernels* find(const char* name) {
  const auto wanted = [name](const char* candidate) {
    return name == nullptr || std::strcmp(name, candidate) == 0;
  };
#ifdef STRUCTLEARN_DISPATCH
  __builtin_cpu_init();
  if (wanted("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return &kernels_avx512;
  }
  if (wanted("avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
    return &kernels_avx2;
  }
#endif
  return wanted("baseline") ? &kernels_baseline : nullptr;
}

static std::atomic<const Kernels*> chosen{nullptr};

const Kernels& kernels() {
  const Kernels* k = chosen.load(std::memory_order_acquire);
  if (k == nullptr) {
    k = find(nullptr);
    chosen.store(k, std::memory_order_release);
  }
  return *k;
}

bool use_kernels(const char* name) {
  const Kernels* k = find(name);
  if (k == nullptr) return false;
  chosen.store(k, std::memory_order_release);
  return true;
}

}  // namespace structlearn
