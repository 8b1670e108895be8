"""Gold outputs that break a constraint: named by their numbers, or left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..constraints.automaton import Automaton
from ..constraints.constrained import Constrained
from ..constraints.readings import symbols_of
from ..exceptions import InfeasibleError
from ..problem.array_problem import ArrayProblem
from ..problem.gold import GoldOutputs
from ..structures.base import Structure
from ..structures.chains.constrained import ConstrainedChain, ConstrainedSemiMarkov
from .constraints import named_automata

#: Outputs that a message names one by one.
_NAMED = 5


class IllegalOutputs(ValueError):
    """Gold outputs break constraints.

    Attributes
    ----------
    broken : dict of int to str
        By the number of an example, what its output breaks.
    n : int
        How many examples there are.
    """

    def __init__(self, broken: dict[int, str], n: int) -> None:
        first = list(broken.items())[:_NAMED]
        named = ", ".join(f"example {i} ({constraint})" for i, constraint in first)
        more = len(broken) - len(first)
        rest = f" and {more} more" if more else ""
        super().__init__(
            f"{len(broken)} of {n} outputs of y break a constraint: {named}{rest}; correct them, "
            "or leave them out with illegal='drop'"
        )
        self.broken, self.n = broken, n

    def __reduce__(self) -> tuple[type, tuple[dict[int, str], int]]:
        return type(self), (self.broken, self.n)


def check_legal(
    structure: Structure,
    gold: GoldOutputs,
    options: Any,
    classes: npt.NDArray[Any],
    bare: Callable[[], ArrayProblem],
) -> None:
    """Refuse gold outputs that break a constraint, and open ones that no output completes.

    Parameters
    ----------
    bare : callable
        Makes the problem without gold outputs, where the shapes of its examples are needed.
    """
    if isinstance(structure, (ConstrainedChain, ConstrainedSemiMarkov)):
        broken = _rejected(structure, gold, named_automata(structure, options, classes), classes)
    elif isinstance(structure, Constrained):
        broken = _broken(structure, gold, bare())
    else:
        return
    if broken:
        raise IllegalOutputs(broken, len(gold.outputs))


def _rejected(
    structure: Structure,
    gold: GoldOutputs,
    automata: list[tuple[str, Automaton]],
    classes: npt.NDArray[Any],
) -> dict[int, str]:
    """Return what automata reject, with the constraint."""
    broken: dict[int, str] = {}
    for i, is_open in enumerate(gold.partial.tolist()):
        if is_open:
            if not _can_be_completed(structure, gold.outputs[i], len(classes)):
                broken[i] = "no labels for the open places keep to all constraints"
            continue
        labels = symbols_of(structure, gold.outputs[i])
        for name, automaton in automata:
            if not automaton.accepts(labels):
                broken[i] = name
                break
    return broken


def _can_be_completed(structure: Structure, y: Any, n_labels: int) -> bool:
    block = structure.label_block
    inner = structure.blocks(1)[block].inner
    allowed = structure.allowed(y, (len(structure.labels_of(y)), *inner, n_labels))
    scores: dict[str, Any] = {block: np.where(allowed, 0.0, -np.inf)}
    try:
        structure.argmax(**scores)
    except InfeasibleError:
        return False
    return True


def _broken(structure: Constrained, gold: GoldOutputs, bare: ArrayProblem) -> dict[int, str]:
    """Return what breaks a constraint of a structure with rows."""
    partial, broken = gold.partial, {}
    for i, y in enumerate(gold.outputs):
        if not partial[i]:
            name = structure.broken(y, **bare.as_arguments(i, np.zeros(bare.native.parts(i))))
            if name is not None:
                broken[i] = name
    return broken


def without_illegal(
    prepare: Callable[..., Any], X: Any, y: Any, sample_weight: Any, *, drop: bool
) -> Any:
    """Return ``prepare(X, y, sample_weight)``; with ``drop`` that of the legal examples alone."""
    try:
        return prepare(X, y, sample_weight)
    except IllegalOutputs as error:
        if not drop:
            raise
        broken, n = error.broken, error.n
    if len(broken) == n:
        first = broken[0]
        raise ValueError(f"illegal='drop' would leave out all {n} examples: 0 breaks {first}")
    shown = ", ".join(map(str, list(broken)[: 4 * _NAMED]))
    more = len(broken) - 4 * _NAMED
    warnings.warn(
        f"{len(broken)} of {n} examples break a constraint and are left out: {shown}"
        + (f" and {more} more" if more > 0 else ""),
        stacklevel=4,
    )
    from sklearn.utils import _safe_indexing

    kept = np.setdiff1d(np.arange(n), list(broken))
    weight = None if sample_weight is None else np.asarray(sample_weight)[kept]
    return prepare(_safe_indexing(X, kept), _safe_indexing(y, kept), weight)
