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
#include "numeric/parallel.hpp"
#include "structures/examples.hpp"

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
  interruptible([&](Interrupt& interrupt) {
    for_examples(n, threads, 16, interrupt, [&](std::size_t i, Workspace& ws) {
      PartVector& p = found[i];
      problem.complete(i, problem.scorer().layout(i), w.data(), eps, p, ws);
      if (!p.dense) return;
      PartVector used;  // most of the parts are ruled out
      used.clear(false);
      for (std::size_t j = 0; j < p.value.size(); ++j) {
        if (p.value[j] != 0.0) used.add(static_cast<std::uint32_t>(j), p.value[j]);
      }
      p = std::move(used);
    });
  });
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
