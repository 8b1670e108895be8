// Automata over the labels of taggers. Nothing here needs NumPy: tables come as buffers.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/tagging/constrained_reader.hpp"

namespace structlearn::python {
namespace {

// `memory`: next states by state and label, a buffer; `accepting_states`: booleans; `start`.
Automaton read_automaton(nb::handle given) {
  const auto next = nb::cast<Input<std::int32_t, nb::ndim<2>>>(given.attr("memory"));
  const auto accepting = nb::cast<std::vector<bool>>(given.attr("accepting_states"));
  Automaton a;
  a.states = next.shape(0);
  a.symbols = next.shape(1);
  a.start = nb::cast<std::size_t>(given.attr("start"));
  a.next.assign(next.data(), next.data() + next.size());
  a.accepting.assign(accepting.begin(), accepting.end());
  a.check();
  return a;
}

PyInputs inputs(nb::object self, nb::object given) {
  const auto& constraints = nb::cast<const PyLabelConstraints&>(self);
  const auto& free = *nb::cast<const PyInputs&>(given).inputs;
  return {nb::make_tuple(self, given), std::make_unique<text::ConstrainedInputs>(
                                           free, constraints.structure, constraints.labels)};
}

}  // namespace

void bind_label_constraints(nb::module_& m) {
  nb::class_<PyLabelConstraints>(m, "LabelConstraints")
      .def(
          "__init__",
          [](PyLabelConstraints* self, nb::list given, std::size_t labels, std::size_t max_length) {
            std::vector<Automaton> automata;
            for (const nb::handle one : given) {
              automata.push_back(read_automaton(one));
              if (automata.back().symbols != labels) {
                throw std::invalid_argument("an automaton over other labels");
              }
            }
            new (self) PyLabelConstraints{std::make_shared<ConstrainedSequence>(
                                              std::move(automata), max_length, ProductSettings{}),
                                          labels};
          },
          nb::arg("automata"), nb::arg("labels"), nb::arg("max_length") = 0)
      .def("inputs", &inputs, nb::arg("inputs"));
}

}  // namespace structlearn::python
