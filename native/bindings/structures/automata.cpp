#include "bindings/structures/automata.hpp"

#include <stdexcept>

namespace structlearn::python {
namespace {

Automaton read_automaton(nb::handle given) {
  const bool plain = nb::hasattr(given, "memory");
  const auto next = nb::cast<Input<std::int32_t>>(given.attr(plain ? "memory" : "next"));
  if (next.ndim() != 2 && next.ndim() != 3) {
    throw std::invalid_argument("next of an automaton must have shape (S, K) or (L, S, K)");
  }
  Automaton a;
  a.positions = next.ndim() == 3 ? next.shape(0) : 0;
  if (next.ndim() == 3 && a.positions == 0) {
    throw std::invalid_argument("an automaton without positions");
  }
  a.states = next.shape(next.ndim() - 2);
  a.symbols = next.shape(next.ndim() - 1);
  a.start = nb::cast<std::size_t>(given.attr("start"));
  a.next.assign(next.data(), next.data() + next.size());
  const nb::object accepting = given.attr(plain ? "accepting_states" : "accepting");
  for (const nb::handle accepts : accepting) {
    const int truth = PyObject_IsTrue(accepts.ptr());
    if (truth < 0) throw nb::python_error();
    a.accepting.push_back(truth != 0);
  }
  a.check();
  return a;
}

}  // namespace

std::vector<Automaton> read_automata_of(nb::handle given) {
  std::vector<Automaton> automata;
  for (const nb::handle one : given) automata.push_back(read_automaton(one));
  return automata;
}

}  // namespace structlearn::python
