"""Hard constraints of an estimator: masks on the blocks of weights, or on the structure.

What is forbidden at every place alike is a mask of the weights, which the native learners honour at
no cost. Everything else is left to :class:`structlearn.constraints.constrained.Constrained`.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..constraints import with_constraints
from ..constraints.constrained import Constrained
from ..constraints.counting import Constraint, Count, IfThen
from ..constraints.selections import Chunk, Label
from ..constraints.text import read_constraints
from ..structures.base import Structure

__all__ = ["constrain", "describe_constraints", "split_constraints"]


def split_constraints(
    options: Any, structure: Structure
) -> tuple[dict[str, list[Any]], list[Constraint]]:
    """Return what masks of weights forbid, block by block, and the constraints that are left.

    Parameters
    ----------
    options : StructuredModel or Parameters
        Its ``forbid``, which is short for constraints of that kind, and its ``constraints``.
    """
    forbidden = {name: list(entries) for name, entries in dict(options.forbid or {}).items()}
    rest: list[Constraint] = []
    for constraint in read_constraints(options.constraints):
        if not (isinstance(constraint, Count) and _everywhere(constraint)):
            rest.append(constraint)
            continue
        for part in constraint.parts:
            assert not isinstance(part, Chunk)
            if isinstance(part, Label):
                forbidden.setdefault(structure.label_block, []).append(part.label)
            else:
                outcome = part.outcome
                forbidden.setdefault(part.block, []).append(
                    outcome if len(outcome) > 1 else outcome[0]
                )
    return forbidden, rest


def _everywhere(constraint: Count) -> bool:
    parts = constraint.parts
    return constraint.forbids and not any(isinstance(p, Chunk) or p.at is not None for p in parts)


def constrain(structure: Structure, options: Any, classes: npt.NDArray[Any]) -> Structure:
    """Return the structure under the constraints that masks of weights do not cover."""
    _, rest = split_constraints(options, structure)
    if not rest:
        return structure
    if structure.single_site:
        raise ValueError(
            f"an example of a multiclass problem has one label, so {rest[0]} does not apply; "
            "use forbid(label)"
        )
    return with_constraints(
        structure, rest, classes=classes.tolist(), time_limit=options.time_limit
    )


def describe_constraints(options: Any, structure: Structure) -> list[tuple[Any, str]]:
    """Return each constraint with how it is honoured."""
    found: list[tuple[Any, str]] = []
    for name, entries in dict(options.forbid or {}).items():
        found += [(f"forbid {name} {entry!r}", "mask of weights") for entry in entries]
    inner = structure.structure if isinstance(structure, Constrained) else structure
    for constraint in read_constraints(options.constraints):
        if isinstance(constraint, Count) and _everywhere(constraint):
            how = "mask of weights"
        elif isinstance(constraint, Count) and (constraint.forbids or constraint.place is not None):
            how = f"mask of scores ({inner.method})"
        elif isinstance(constraint, IfThen) and constraint.names_places:
            near = "one or neighbours" if inner.pair_block else "one"
            how = (
                f"mask of scores ({inner.method}) where the places are {near}, "
                "rows of an integer program otherwise"
            )
        else:
            how = f"rows of an integer program (where {inner.method} does not keep to it)"
        found.append((constraint, how))
    return found
