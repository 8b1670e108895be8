// Automata that come from Python.
#pragma once

#include <vector>

#include "bindings/bindings.hpp"
#include "structures/chains/automaton.hpp"

namespace structlearn::python {

// Objects with `start`, and either `memory`, a buffer of int32 in the shape (S, K) or (L, S, K),
// with `accepting_states`, or the arrays `next` and `accepting`: the first needs no NumPy. Throws
// std::invalid_argument where they are no automata.
std::vector<Automaton> read_automata_of(nb::handle given);

}  // namespace structlearn::python
