// A problem and the Python objects whose memory it borrows: what every binding of a learner takes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "problem/problem.hpp"

namespace structlearn::python {

struct PyProblem {
  std::vector<nb::object> keep;
  std::shared_ptr<const StructureOracle> native;  // null for a structure written in Python
  std::shared_ptr<const Scorer> scorer;
  std::unique_ptr<Problem> problem;
  std::span<const std::int64_t> label_ptr;  // sites of block 0, for costs

  // Rows of features and a structure, or whatever does its inference in Python; without gold
  // outputs.
  PyProblem(nb::object structure, std::size_t examples, std::size_t weights, nb::list blocks,
            nb::dict topology);

  // A scorer written in Python (python_scorer.hpp); without gold outputs.
  PyProblem(nb::object structure, nb::object scorer, std::size_t weights, nb::list layouts);

  // The same features with gold outputs and costs, as dictionaries of arrays.
  PyProblem(const PyProblem& bare, nb::object structure, nb::dict gold, nb::dict cost,
            nb::object sample_weight);

  // A task's own scorer and inference. `owner` keeps alive what gold and cost point to.
  PyProblem(nb::object owner, std::shared_ptr<const Scorer> scorer,
            std::shared_ptr<const Oracle> oracle, Gold gold, Cost cost, nb::object sample_weight);

  std::shared_ptr<const Oracle> inference(nb::object structure);

  const double* weights(const Input<double, nb::ndim<1>>& w) const {
    if (w.size() != problem->weights()) {
      throw std::invalid_argument("the problem has " + std::to_string(problem->weights()) +
                                  " weights, not " + std::to_string(w.size()));
    }
    return w.data();
  }
  void check_example(std::size_t i) const {
    if (i >= problem->examples()) {
      throw std::invalid_argument("there is no example " + std::to_string(i));
    }
  }
};

// A vector of a learner's state, used in place.
template <class T>
inline std::span<T> view(nb::dict state, const char* name, std::size_t size) {
  auto array = nb::cast<InOut<T, nb::ndim<1>>>(state[name], false);
  if (array.size() != size) {
    throw std::invalid_argument(std::string(name) + " must have " + std::to_string(size) +
                                " entries, not " + std::to_string(array.size()));
  }
  return {array.data(), array.size()};
}

}  // namespace structlearn::python
