// Automata over the labels of taggers. Nothing here needs NumPy: tables come as buffers.
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bindings.hpp"
#include "bindings/models/inputs.hpp"
#include "bindings/structures/automata.hpp"
#include "bindings/tasks/tagging/py_tagger.hpp"
#include "tasks/tagging/constrained_reader.hpp"

namespace structlearn::python {
namespace {

PyInputs constrained_inputs(nb::object self, nb::object given) {
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
            std::vector<Automaton> automata = read_automata_of(given);
            for (const Automaton& a : automata) {
              if (a.symbols != labels)
                throw std::invalid_argument("an automaton over other labels");
            }
            new (self) PyLabelConstraints{std::make_shared<ConstrainedSequence>(
                                              std::move(automata), max_length, ProductSettings{}),
                                          labels};
          },
          nb::arg("automata"), nb::arg("labels"), nb::arg("max_length") = 0)
      .def("inputs", &constrained_inputs, nb::arg("inputs"));
}

}  // namespace structlearn::python
