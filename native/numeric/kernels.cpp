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

static const Kernels kernels_baseline = {
    .name = "baseline",
    .max_step = baseline::max_step,
    .max_step_back = baseline::max_step_back,
    .max_sum = baseline::max_sum,
    .max_plus = baseline::max_plus,
    .sum_step = baseline::sum_step,
    .sum_step_back = baseline::sum_step_back,
    .outer_sum = baseline::outer_sum,
    .exp_shifted = baseline::exp_shifted,
    .largest = baseline::largest,
    .multiply_sum = baseline::multiply_sum,
    .scale = baseline::scale,
    .backward_row = baseline::backward_row,
    .add_scaled = baseline::add_scaled,
    .add_scaled_where = baseline::add_scaled_where,
    .dot_float_twice = baseline::dot_float_twice,
    .add_scaled_floats = baseline::add_scaled_floats,
    .score_site = baseline::score_site,
    .scatter_site = baseline::scatter_site,
    .scatter_growth_site = baseline::scatter_growth_site,
    .dual_step = baseline::dual_step,
    .dual_sums = baseline::dual_sums,
    .add_rows = baseline::add_rows,
    .integer_scores = baseline::integer_scores,
    .integer_viterbi = baseline::integer_viterbi,
    .all_scores = baseline::all_scores,
    .column_best = baseline::column_best,
    .max_add_rows = baseline::max_add_rows,
    .max_rows = baseline::max_rows,
};

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
