"""The automata of several constraints, for sequences of any length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..exceptions import CapabilityError
from .automaton import Automaton
from .counting import Constraint
from .events import NoEvents, Sequences


class NamedAutomaton(NamedTuple):
    """An automaton and the constraint that it implements."""

    constraint: Constraint
    automaton: Automaton


def automata_of(constraints: Iterable[Constraint], sequences: Sequences) -> list[NamedAutomaton]:
    """Return automata that together implement the constraints, one for each label if possible.

    Raises
    ------
    CapabilityError
        If a constraint is not about labels in a row.
    """
    automata = []
    for constraint in constraints:
        constraint.check(sequences.alphabet)
        try:
            for simple in constraint.simple(sequences.alphabet):
                automata.append(NamedAutomaton(simple, simple.automaton(sequences)))
        except NoEvents:
            raise CapabilityError(
                f"{constraint!r} is not about labels in a row alone, so no automaton expresses it. "
                "What works: constraints on labels, chunks, their neighbours and their order"
            ) from None
    return automata
