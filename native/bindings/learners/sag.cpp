// Passes of stochastic average gradient, for Python.
#include "learners/sag.hpp"

#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"

namespace structlearn::python {
namespace {

nb::dict sag_pass(const PyProblem& self, Input<std::int64_t, nb::ndim<1>> order,
                  Input<double, nb::ndim<1>> draws, nb::dict settings, nb::dict state) {
  const auto number = [](nb::dict from, const char* key) { return nb::cast<double>(from[key]); };
  const Problem& problem = *self.problem;
  const SagSettings s{number(settings, "margin"), number(settings, "temperature"),
                      number(settings, "C")};
  const std::size_t n = problem.examples();
  const auto part_ptr = view<std::int64_t>(state, "part_ptr", n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (part_ptr[i] < 0 || part_ptr[i + 1] - part_ptr[i] !=
                               static_cast<std::int64_t>(problem.scorer().layout(i).parts)) {
      throw std::invalid_argument("part_ptr does not fit the examples");
    }
    if (problem.partial(i)) throw std::invalid_argument("unknown labels have no dual");
  }
  SagState d{view<double>(state, "w", problem.weights()),
             view<double>(state, "g", problem.weights()),
             part_ptr,
             view<double>(state, "memory", static_cast<std::size_t>(part_ptr[n])),
             view<double>(state, "entropy", n),
             view<double>(state, "loss", n),
             view<double>(state, "lipschitz", n),
             view<std::int32_t>(state, "patience", n),
             view<std::int32_t>(state, "streak", n),
             view<std::uint8_t>(state, "visited", n),
             number(state, "step_factor")};
  for (std::size_t k = 0; k < order.size(); ++k) self.check_example(order.data()[k]);
  const SagReport report = interruptible(
      [&](Interrupt& interrupt) {
        return sag_pass(problem, {order.data(), order.size()}, {draws.data(), draws.size()}, s, d,
                        interrupt);
      },
      OnInterrupt::kReturn);
  nb::dict result;
  result["seen"] = report.seen;
  result["inferences"] = report.inferences;
  result["complete"] = report.complete;
  return result;
}

}  // namespace

void bind_sag(nb::module_& m) {
  m.def("sag_pass", &sag_pass, nb::arg("problem"), nb::arg("order"), nb::arg("draws"),
        nb::arg("settings"), nb::arg("state"));
}

}  // namespace structlearn::python
