// Passes of dual coordinate ascent, for Python.
#include "learners/dual_ascent.hpp"

#include <cmath>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/problem/py_problem.hpp"
#include "bindings/signals.hpp"

namespace structlearn::python {
namespace {

nb::dict ascent_pass(const PyProblem& self, Input<std::int64_t, nb::ndim<1>> order,
                     nb::dict settings, nb::dict state, std::size_t threads) {
  const auto number = [&](const char* key) { return nb::cast<double>(settings[key]); };
  const Problem& problem = *self.problem;
  const AscentSettings s{number("margin"), number("temperature"), number("C"),
                         number("first_damping")};
  const std::size_t n = problem.examples();
  const auto part_ptr = view<std::int64_t>(state, "part_ptr", n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (part_ptr[i] < 0 || part_ptr[i + 1] - part_ptr[i] !=
                               static_cast<std::int64_t>(problem.scorer().layout(i).parts)) {
      throw std::invalid_argument("part_ptr does not fit the examples");
    }
    if (problem.partial(i)) throw std::invalid_argument("unknown labels have no dual");
  }
  const std::size_t parts = static_cast<std::size_t>(part_ptr[n]);
  AscentState d{view<double>(state, "w", problem.weights()),
                view<double>(state, "mean", problem.weights()),
                part_ptr,
                view<double>(state, "theta", parts),
                view<double>(state, "mu", parts),
                view<double>(state, "entropy", n),
                view<double>(state, "gap", n),
                view<double>(state, "damping", n),
                view<double>(state, "longest", n),
                view<std::uint8_t>(state, "visited", n)};
  for (std::size_t k = 0; k < order.size(); ++k) self.check_example(order.data()[k]);
  const AscentReport report = interruptible(
      [&](Interrupt& interrupt) {
        return dual_ascent_pass(problem, {order.data(), order.size()}, s, d, threads, interrupt);
      },
      OnInterrupt::kReturn);
  nb::dict result;
  result["seen"] = report.seen;
  result["inferences"] = report.inferences;
  result["refused"] = report.refused;
  result["loss"] = report.loss;
  result["complete"] = report.complete;
  return result;
}

// The number of parts of all examples before each one, and of all.
nb::object part_pointers(const PyProblem& self) {
  std::vector<std::int64_t> ptr(1, 0);
  for (std::size_t i = 0; i < self.problem->examples(); ++i) {
    ptr.push_back(ptr.back() + static_cast<std::int64_t>(self.problem->scorer().layout(i).parts));
  }
  return nb::cast(to_numpy(std::move(ptr)));
}

// The mean of |x|^2 over the sites that have features of their own; negative where the parts of a
// site do not share one norm, so that there is no dual ascent by sites.
double mean_squared_norm(const PyProblem& self) {
  const Scorer& scorer = self.problem->scorer();
  double sum = 0.0, sites = 0.0;
  for (std::size_t i = 0; i < self.problem->examples(); ++i) {
    const Layout layout = scorer.layout(i);
    for (std::size_t b = 0; b < kMaxBlocks; ++b) {
      if (!layout.block[b].present || !layout.block[b].anchored) continue;
      for (std::size_t s = 0; s < layout.block[b].sites; ++s) {
        const double norm = scorer.squared_norm_of_site(i, b, s);
        if (norm < 0.0) return -1.0;
        sum += norm;
        sites += 1.0;
      }
    }
  }
  return sites > 0.0 ? sum / sites : 0.0;
}

}  // namespace

void bind_dual_ascent(nb::module_& m) {
  m.def("dual_ascent_pass", &ascent_pass, nb::arg("problem"), nb::arg("order"), nb::arg("settings"),
        nb::arg("state"), nb::arg("threads"));
  m.def("mean_squared_norm", &mean_squared_norm, nb::arg("problem"));
  m.def(
      "feature_squares",
      [](const PyProblem& self) {
        const std::size_t n = self.problem->weights();
        std::vector<double> squares(n, 0.0), counts(n, 0.0), all(n, 0.0);
        self.problem->scorer().feature_squares(squares.data(), counts.data(), all.data());
        return nb::make_tuple(to_numpy(std::move(squares)), to_numpy(std::move(counts)),
                              to_numpy(std::move(all)));
      },
      nb::arg("problem"));
  m.def("part_pointers", &part_pointers, nb::arg("problem"));
}

}  // namespace structlearn::python
