"""Hard constraints on any structure: forbid, require, count, order.

    from structlearn.constraints import at_most, contiguous, matches, with_constraints

    chain = with_constraints(Chain(), [at_most(1, 2), contiguous()])
    chain.argmax(label=U, transition=T)

A constraint on single parts is a mask of −∞. On chains and segmentations the others are finite
automata, and every query stays exact. Elsewhere they become rows of the structure's integer
program. ``chain.report(label=U, transition=T)`` says which. Estimators and tasks take a list of
constraints, in terms of their own labels: ``Tagger(constraints=["contiguous()"])``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .automaton import Automaton
    from .constrained import with_constraints
    from .language import (
        at_least,
        at_most,
        contiguous,
        each_at_most_once,
        exactly,
        forbid,
        if_then,
        matches,
        not_adjacent,
        precedes,
        require,
    )
    from .scanner import ConstraintSyntaxError
    from .selections import Chunk, Label, Part
    from .text import parse

_HOMES = {
    "Automaton": "automaton",
    "Chunk": "selections",
    "ConstraintSyntaxError": "scanner",
    "Label": "selections",
    "Part": "selections",
    "at_least": "language",
    "at_most": "language",
    "contiguous": "language",
    "each_at_most_once": "language",
    "exactly": "language",
    "forbid": "language",
    "if_then": "language",
    "matches": "language",
    "not_adjacent": "language",
    "parse": "text",
    "precedes": "language",
    "require": "language",
    "with_constraints": "constrained",
}

__all__ = [
    "Automaton",
    "Chunk",
    "ConstraintSyntaxError",
    "Label",
    "Part",
    "at_least",
    "at_most",
    "contiguous",
    "each_at_most_once",
    "exactly",
    "forbid",
    "if_then",
    "matches",
    "not_adjacent",
    "parse",
    "precedes",
    "require",
    "with_constraints",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
