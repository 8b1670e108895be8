"""Hard constraints on any structure: forbid, require, count, if-then.

    from structlearn.constraints import at_most, forbid, require, Label, with_constraints

    chain = with_constraints(Chain(), [at_most(1, Label(2)), require(Label(0, at=0))])
    chain.argmax(label=U, transition=T)

Where a dynamic program can honour a constraint it becomes a mask of −∞; otherwise it becomes rows
of the structure's integer program. ``chain.report(label=U, transition=T)`` says which. Estimators
take a list of constraints, in terms of their own labels: ``StructuredSVM(constraints=[...])``.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .constrained import with_constraints
    from .language import (
        Label,
        Part,
        at_least,
        at_most,
        each_at_most_once,
        exactly,
        forbid,
        if_then,
        require,
    )

_HOMES = {
    "Label": "language",
    "Part": "language",
    "at_least": "language",
    "at_most": "language",
    "each_at_most_once": "language",
    "exactly": "language",
    "forbid": "language",
    "if_then": "language",
    "require": "language",
    "with_constraints": "constrained",
}

__all__ = [
    "Label",
    "Part",
    "at_least",
    "at_most",
    "each_at_most_once",
    "exactly",
    "forbid",
    "if_then",
    "require",
    "with_constraints",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
