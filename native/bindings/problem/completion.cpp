// Gold outputs with the unknown labels filled in, for learners that need every label.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"
#include "numeric/grain.hpp"
#include "numeric/parallel.hpp"

namespace structlearn::python {
namespace {

// (ptr, parts, values) of all examples; at eps = 0 whole outputs.
nb::tuple complete_all(const PyProblem& self, Input<double, nb::ndim<1>> w, double eps,
                       std::size_t threads) {
  const Problem& problem = *self.problem;
  self.weights(w);
  if (!problem.oracle().threads_allowed()) threads = 1;
  const std::size_t n = problem.examples();
  std::vector<PartVector> found(n);
  Signals signals;
  {
    nb::gil_scoped_release release;
    Interrupt interrupt(signals.poll());
    std::vector<Workspace> workspace(std::max<std::size_t>(threads, 1));
    const std::size_t grain = grain_of(n, threads, 16);
    parallel_for((n + grain - 1) / grain, threads, [&](std::size_t task, std::size_t thread) {
      for (std::size_t i = task * grain; i < std::min(n, (task + 1) * grain); ++i) {
        if (interrupt.requested()) return;
        PartVector& p = found[i];
        problem.complete(i, problem.scorer().layout(i), w.data(), eps, p, workspace[thread]);
        if (!p.dense) continue;
        PartVector used;  // most of the parts are ruled out
        used.clear(false);
        for (std::size_t j = 0; j < p.value.size(); ++j) {
          if (p.value[j] != 0.0) used.add(static_cast<std::uint32_t>(j), p.value[j]);
        }
        p = std::move(used);
      }
    });
  }
  signals.rethrow();
  std::vector<std::int64_t> ptr(1, 0);
  std::vector<std::uint32_t> part;
  std::vector<double> value;
  for (const PartVector& p : found) {
    part.insert(part.end(), p.index.begin(), p.index.end());
    value.insert(value.end(), p.value.begin(), p.value.end());
    ptr.push_back(static_cast<std::int64_t>(part.size()));
  }
  return nb::make_tuple(to_numpy(std::move(ptr)), to_numpy(std::move(part)),
                        to_numpy(std::move(value)));
}

}  // namespace

void bind_completion(nb::module_& m) {
  m.def("complete_all", &complete_all, nb::arg("problem"), nb::arg("w"), nb::arg("temperature"),
        nb::arg("threads"));
}

}  // namespace structlearn::python
