"""The automata of several constraints, for sequences of any length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..exceptions import CapabilityError
from .automaton import Automaton
from .counting import Constraint
from .events import NoEvents, Sequences


class NamedAutomaton(NamedTuple):
    """An automaton, and the constraint that it stands for."""

    constraint: Constraint
    automaton: Automaton


def automata_of(constraints: Iterable[Constraint], sequences: Sequences) -> list[NamedAutomaton]:
    """Return automata that say the same together, those of one label each if it can be.

    Raises
    ------
    CapabilityError
        If labels in a row do not tell whether a constraint holds.
    """
    found = []
    for constraint in constraints:
        constraint.check(sequences.alphabet)
        try:
            for one in constraint.simple(sequences.alphabet):
                found.append(NamedAutomaton(one, one.automaton(sequences)))
        except NoEvents:
            raise CapabilityError(
                f"{constraint!r} is not about labels in a row alone, so that no automaton has it. "
                "What works: constraints on labels, chunks, their neighbours and their order"
            ) from None
    return found
