"""An estimator's hard constraints, split into weight masks, automata, and program rows.

Whatever is forbidden at every place becomes a mask of the weights, which costs the native learners
nothing. On chains and segmentations everything else becomes automata, and the structure their
product, which is native too. The remainder is left to
:class:`structlearn.constraints.constrained.Constrained`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy.typing as npt

from ..constraints import with_constraints
from ..constraints.accepted import Accepted
from ..constraints.automata import NamedAutomaton, automata_of
from ..constraints.automaton import Automaton
from ..constraints.constrained import Constrained
from ..constraints.construction import TooManyStates
from ..constraints.counting import Constraint, Count, IfThen
from ..constraints.ordering import NotAdjacent
from ..constraints.readings import alphabet_of, product_of, sequences_of
from ..constraints.report import automata_in_words
from ..constraints.selections import Chunk, Label
from ..constraints.text import read_constraints
from ..exceptions import CapabilityError
from ..structures.base import Structure
from ..structures.chains.constrained import ConstrainedChain, ConstrainedSemiMarkov


def split_constraints(
    options: Any, structure: Structure, classes: npt.NDArray[Any]
) -> tuple[dict[str, list[Any]], list[Constraint]]:
    """Return what masks of weights forbid, block by block, and the remaining constraints.

    Parameters
    ----------
    options : StructuredModel or Parameters
        Its ``forbid``, a short form of such constraints, and its ``constraints``.
    """
    forbidden = {name: list(entries) for name, entries in dict(options.forbid or {}).items()}
    remaining: list[Constraint] = []
    for constraint in read_constraints(options.constraints):
        if isinstance(constraint, NotAdjacent) and _pair_block(structure) is not None:
            names = classes.tolist()
            pairs = constraint.pairs(alphabet_of(structure, names))
            entries = forbidden.setdefault(str(_pair_block(structure)), [])
            entries += [(names[a], names[b]) for a, b in pairs]
            continue
        if not (isinstance(constraint, Count) and _everywhere(constraint)):
            remaining.append(constraint)
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
    return forbidden, remaining


def _everywhere(constraint: Count) -> bool:
    parts = constraint.parts
    return constraint.forbids and not any(isinstance(p, Chunk) or p.at is not None for p in parts)


def _pair_block(structure: Structure) -> str | None:
    """Return the block of neighbouring pairs in a sequence, if the structure has one."""
    sequences = sequences_of(structure, alphabet_of(structure, ()), None)
    windows = {} if sequences is None else sequences.windows
    return next((name for name, labels in windows.items() if labels == 2), None)


def constrain(structure: Structure, options: Any, classes: npt.NDArray[Any]) -> Structure:
    """Return the structure under the constraints not covered by masks of weights."""
    _, remaining = split_constraints(options, structure, classes)
    return _product(structure, tuple(remaining), tuple(classes.tolist()), options.time_limit)


def under(structure: Structure, constraints: Any, classes: npt.NDArray[Any]) -> Structure:
    """Return a structure under further constraints on the labels; None: no constraints."""
    extra = tuple(read_constraints(constraints))
    return _product(structure, extra, tuple(classes.tolist()), None) if extra else structure


@lru_cache(maxsize=64)  # for calls of predict with the same constraints
def _product(
    structure: Structure,
    constraints: tuple[Constraint, ...],
    classes: tuple[Any, ...],
    time_limit: float | None,
) -> Structure:
    """Return a structure under constraints: a product with automata if possible."""
    if not constraints:
        return structure
    if structure.single_site:
        raise ValueError(
            f"an example of a multiclass problem has one label, so {constraints[0]} does not "
            "apply; use forbid(label)"
        )
    names = list(classes)
    if isinstance(structure, Constrained):
        own = _without_names(structure, len(names))
        if structure.classes == names or all(isinstance(c, Accepted) for c in own):
            combined = (*own, *constraints)
            limit = structure.time_limit
            return with_constraints(structure.structure, combined, classes=names, time_limit=limit)
    automata = _automata(structure, constraints, names)
    if automata is None:
        return with_constraints(structure, constraints, classes=names, time_limit=time_limit)
    before = getattr(structure, "automata", ())
    return product_of(structure, [*before, *(named.automaton for named in automata)])


def _without_names(structure: Constrained, n_labels: int) -> Sequence[Constraint]:
    """Return the constraints of a structure; those on label numbers as automata."""
    if structure.classes is not None:
        return structure.constraints
    inner = structure.structure
    automata = _automata(inner, structure.constraints, list(range(n_labels)))
    if automata is None:
        return structure.constraints
    return [Accepted(named.automaton) for named in automata]


def _automata(
    structure: Structure, constraints: Sequence[Constraint], names: list[Any]
) -> list[NamedAutomaton] | None:
    """Return constraints as automata for inputs of any length; None unless all have one."""
    sequences = sequences_of(structure, alphabet_of(structure, names), None)
    if sequences is None:
        return None
    try:
        return automata_of(constraints, sequences)
    except (CapabilityError, TooManyStates):
        return None


def named_automata(
    structure: ConstrainedChain | ConstrainedSemiMarkov, options: Any, classes: npt.NDArray[Any]
) -> list[tuple[str, Automaton]]:
    """Return the automata of an estimator's structure, each with its description."""
    _, remaining = split_constraints(options, structure, classes)
    last = _automata(structure, remaining, classes.tolist()) or []
    own = structure.automata[: len(structure.automata) - len(last)]
    return [
        *(("an automaton of the structure", Automaton(a.next, a.start, a.accepting)) for a in own),
        *((str(named.constraint), named.automaton) for named in last),
    ]


def describe_constraints(
    options: Any, structure: Structure, classes: npt.NDArray[Any]
) -> list[tuple[Any, str]]:
    """Return each constraint with a description of how it is enforced."""
    descriptions: list[tuple[Any, str]] = []
    for name, entries in dict(options.forbid or {}).items():
        descriptions += [(f"forbid {name} {entry!r}", "mask of weights") for entry in entries]
    inner = structure.structure if isinstance(structure, Constrained) else structure
    _, remaining = split_constraints(options, inner, classes)
    for constraint in read_constraints(options.constraints):
        if constraint not in remaining:
            method = "mask of weights"
        elif isinstance(structure, (ConstrainedChain, ConstrainedSemiMarkov)):
            automata = _automata(structure, [constraint], classes.tolist()) or []
            method = automata_in_words([named.automaton.n_states for named in automata])
        elif isinstance(constraint, Count) and (constraint.forbids or constraint.place is not None):
            method = f"mask of scores ({inner.method})"
        elif isinstance(constraint, IfThen) and constraint.names_places:
            near = "one or neighbours" if inner.pair_block else "one"
            method = (
                f"mask of scores ({inner.method}) if the places are {near}, "
                "rows of an integer program otherwise"
            )
        else:
            method = f"rows of an integer program (if {inner.method} breaks it)"
        descriptions.append((constraint, method))
    return descriptions
