// The calls of native structures, for Python.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "bindings/bindings.hpp"
#include "bindings/structures/batch.hpp"
#include "bindings/structures/native_structure.hpp"
#include "bindings/structures/outputs.hpp"
#include "bindings/structures/scores.hpp"
#include "bindings/structures/watched_steps.hpp"
#include "numeric/kernels.hpp"
#include "structures/beam.hpp"
#include "structures/entropy.hpp"
#include "structures/structure.hpp"
#include "structures/trees/edmonds.hpp"

namespace structlearn::python {
namespace {

enum class OutputScratch { kBest };

// The best output of one example, and its score into ws.
double best_output(const NativeStructure& s, const Parsed& p, Workspace& ws) {
  const double value =
      s.structure->argmax(p.layout, p.scores, ws.integer[OutputScratch::kBest], ws);
  if (value == kMinusInfinity) nothing_legal(-1);
  return value;
}

nb::object argmax(const NativeStructure& s, nb::dict scores) {
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  best_output(s, p, ws);
  return to_python(s, p.layout, ws.integer[OutputScratch::kBest]);
}

nb::tuple solve(const NativeStructure& s, nb::dict scores) {
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  const double value = best_output(s, p, ws);
  return nb::make_tuple(to_python(s, p.layout, ws.integer[OutputScratch::kBest]), value);
}

// (value, heads, steps), as watched_arborescence tells them; the value is -inf without a tree.
nb::tuple watch_arborescence(Input<double, nb::ndim<2>> arc, bool single_root) {
  const std::size_t size = arc.shape(0);
  if (size < 2 || arc.shape(1) != size) throw std::invalid_argument("arc must be (n + 1, n + 1)");
  std::vector<std::int32_t> heads(size - 1);
  Recorder watch;
  const double value = watched_arborescence(arc.data(), size - 1, single_root, heads.data(),
                                            local_workspace(), watch);
  const std::vector<std::int64_t> wide(heads.begin(), heads.end());
  return nb::make_tuple(value, to_numpy(wide), read_steps(watch));
}

nb::tuple beam(const NativeStructure& s, nb::dict scores, std::size_t width) {
  const auto* search = dynamic_cast<const BeamSearch*>(s.structure.get());
  if (search == nullptr) throw std::invalid_argument("this structure has no beam search");
  Workspace& ws = local_workspace();
  const Parsed p = parse(s, scores);
  const BeamOutput found = [&] {
    nb::gil_scoped_release release;
    return search->beam(p.layout, p.scores, width, ws.integer[OutputScratch::kBest], ws);
  }();
  if (found.value == kMinusInfinity) nothing_legal(-1);
  return nb::make_tuple(to_python(s, p.layout, ws.integer[OutputScratch::kBest]), found.value,
                        found.pruned);
}

auto argmax_batch(const NativeStructure& s, nb::dict scores, std::size_t n, std::size_t threads) {
  std::vector<Output> y(n);
  std::vector<double> value(n);
  for_batch(s, parse_batch(s, scores, n), threads,
            [&](std::size_t i, const Parsed& p, Workspace& ws) {
              value[i] = s.structure->argmax(p.layout, p.scores, y[i], ws);
            });
  std::vector<std::int64_t> flat, ptr(1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (value[i] == kMinusInfinity) nothing_legal(static_cast<std::ptrdiff_t>(i));
    flat.insert(flat.end(), y[i].begin(), y[i].end());
    ptr.push_back(static_cast<std::int64_t>(flat.size()));
  }
  return nb::make_tuple(to_numpy(std::move(flat)), to_numpy(std::move(ptr)),
                        to_numpy(std::move(value)));
}

double infer(const NativeStructure& s, nb::dict scores, nb::dict outs, double eps,
             bool by_position) {
  const Parsed p = parse(s, scores);
  const Marginals m = outputs(s, outs, by_position);
  const double value = s.structure->infer(p.layout, p.scores, eps, m, local_workspace());
  check_sum(value, -1);
  return value;
}

auto infer_batch(const NativeStructure& s, nb::dict scores, nb::dict outs, std::size_t n,
                 double eps, bool by_position, std::size_t threads) {
  const std::vector<Parsed> batch = parse_batch(s, scores, n);
  std::vector<Marginals> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = outputs(s, outs, by_position, static_cast<std::ptrdiff_t>(i));
  }
  std::vector<double> value(n);
  for_batch(s, batch, threads, [&](std::size_t i, const Parsed& p, Workspace& ws) {
    value[i] = s.structure->infer(p.layout, p.scores, eps, out[i], ws);
  });
  for (std::size_t i = 0; i < n; ++i) check_sum(value[i], static_cast<std::ptrdiff_t>(i));
  return to_numpy(std::move(value));
}

// Entropies, and how much of each rounding may have cost.
auto entropy_batch(const NativeStructure& s, nb::dict scores, std::size_t n, double eps,
                   std::size_t threads) {
  std::vector<double> value(n), error(n), sum(n);
  for_batch(s, parse_batch(s, scores, n), threads,
            [&](std::size_t i, const Parsed& p, Workspace& ws) {
              const Entropy found = structlearn::entropy(*s.structure, p.layout, p.scores, eps, ws);
              value[i] = found.value;
              error[i] = found.error;
              sum[i] = found.log_sum;
            });
  for (std::size_t i = 0; i < n; ++i) check_sum(sum[i], static_cast<std::ptrdiff_t>(i));
  return nb::make_tuple(to_numpy(std::move(value)), to_numpy(std::move(error)));
}

nb::list kbest(const NativeStructure& s, nb::dict scores, std::size_t n) {
  const Parsed p = parse(s, scores);
  nb::list result;
  for (auto& [value, y] : s.structure->kbest(p.layout, p.scores, n, local_workspace())) {
    result.append(nb::make_tuple(value, to_python(s, p.layout, y)));
  }
  if (nb::len(result) == 0) nothing_legal(-1);
  return result;
}

nb::list kbest_batch(const NativeStructure& s, nb::dict scores, std::size_t size, std::size_t n,
                     std::size_t threads) {
  const std::vector<Parsed> batch = parse_batch(s, scores, size);
  std::vector<std::vector<std::pair<double, Output>>> found(size);
  for_batch(s, batch, threads, [&](std::size_t i, const Parsed& p, Workspace& ws) {
    found[i] = s.structure->kbest(p.layout, p.scores, n, ws);
  });
  nb::list results;
  for (std::size_t i = 0; i < size; ++i) {
    if (found[i].empty()) nothing_legal(static_cast<std::ptrdiff_t>(i));
    nb::list result;
    for (auto& [value, y] : found[i]) {
      result.append(nb::make_tuple(value, to_python(s, batch[i].layout, y)));
    }
    results.append(result);
  }
  return results;
}

auto sample(const NativeStructure& s, nb::dict scores, std::size_t n, double eps,
            std::uint64_t seed) {
  const Parsed p = parse(s, scores);
  std::vector<std::int64_t> flat;
  const auto drawn = [&] {
    nb::gil_scoped_release release;
    return s.structure->sample(p.layout, p.scores, eps, n, seed, local_workspace());
  }();
  if (drawn.empty() && n > 0) nothing_legal(-1);
  for (const Output& y : drawn) flat.insert(flat.end(), y.begin(), y.end());
  return to_numpy(std::move(flat));
}

}  // namespace

void bind_structures(nb::module_& m) {
  nb::exception<Infeasible>(m, "InfeasibleError", PyExc_ValueError);
  m.def("watch_arborescence", &watch_arborescence, nb::arg("arc"), nb::arg("single_root"));
  m.def("kernels", [] { return std::string(kernels().name); }, "The instruction set in use.");
  m.def(
      "compiler",
      [] {
#ifdef __clang__
        return std::string("Clang " __clang_version__);
#else
        return std::string("GCC " __VERSION__);
#endif
      },
      "The compiler of this module and its version.");
  m.def(
      "use_kernels", [](const char* name) { return use_kernels(name); }, nb::arg("name"),
      "Choose an instruction set: 'baseline', 'avx2' or 'avx512'; False where it is not there.");

  nb::class_<NativeStructure>(m, "NativeStructure")
      .def(
          "check", [](const NativeStructure& s, nb::dict scores) { parse(s, scores); },
          nb::arg("scores"))
      .def(
          "check_batch",
          [](const NativeStructure& s, nb::dict scores, std::size_t n) {
            parse_batch(s, scores, n);
          },
          nb::arg("scores"), nb::arg("n"))
      .def("argmax", &argmax, nb::arg("scores"))
      .def("solve", &solve, nb::arg("scores"))
      .def("beam", &beam, nb::arg("scores"), nb::arg("width"))
      .def("argmax_batch", &argmax_batch, nb::arg("scores"), nb::arg("n"), nb::arg("threads"))
      .def("infer", &infer, nb::arg("scores"), nb::arg("outs"), nb::arg("temperature"),
           nb::arg("by_position"))
      .def("infer_batch", &infer_batch, nb::arg("scores"), nb::arg("outs"), nb::arg("n"),
           nb::arg("temperature"), nb::arg("by_position"), nb::arg("threads"))
      .def("entropy_batch", &entropy_batch, nb::arg("scores"), nb::arg("n"), nb::arg("temperature"),
           nb::arg("threads"))
      .def("kbest", &kbest, nb::arg("scores"), nb::arg("n"))
      .def("kbest_batch", &kbest_batch, nb::arg("scores"), nb::arg("size"), nb::arg("n"),
           nb::arg("threads"))
      .def("sample", &sample, nb::arg("scores"), nb::arg("n"), nb::arg("temperature"),
           nb::arg("seed"));
  bind_kinds(m);
  bind_constrained(m);
  bind_outputs(m);
  bind_hypergraph(m);
  bind_padded(m);
}

}  // namespace structlearn::python
