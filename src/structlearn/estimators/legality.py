"""Gold outputs that break a constraint: refused with their numbers, or left out."""

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

#: The number of outputs that a message names.
_NAMED = 5


class IllegalOutputs(ValueError):
    """Gold outputs break constraints.

    Attributes
    ----------
    broken : dict of int to str
        By the number of an example, the constraint that its output breaks.
    n : int
        The number of examples.
    """

    def __init__(self, broken: dict[int, str], n: int) -> None:
        first = list(broken.items())[:_NAMED]
        named = ", ".join(f"example {i} ({constraint})" for i, constraint in first)
        n_unnamed = len(broken) - len(first)
        suffix = f" and {n_unnamed} more" if n_unnamed else ""
        super().__init__(
            f"{len(broken)} of {n} outputs of y break a constraint: {named}{suffix}; correct them, "
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
    """Refuse gold outputs that break a constraint, and partial ones that cannot be completed.

    Parameters
    ----------
    bare : callable
        Makes the problem without gold outputs; for constraints that depend on its shapes.
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
    """Return the outputs that automata reject, with the constraint."""
    broken: dict[int, str] = {}
    for i, is_open in enumerate(gold.partial.tolist()):
        if is_open:
            if not _can_be_completed(structure, gold.outputs[i], len(classes)):
                broken[i] = "no labels for the open places satisfy all constraints"
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
    """Return the outputs that break a constraint of a structure with rows."""
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
    """Return ``prepare(X, y, sample_weight)``; with ``drop``, of the legal examples only."""
    try:
        return prepare(X, y, sample_weight)
    except IllegalOutputs as error:
        if not drop:
            raise
        broken, n = error.broken, error.n
    if len(broken) == n:
        first = broken[0]
        raise ValueError(f"illegal='drop' would leave out all {n} examples: 0 breaks {first}")
    listed = ", ".join(map(str, list(broken)[: 4 * _NAMED]))
    n_unlisted = len(broken) - 4 * _NAMED
    warnings.warn(
        f"{len(broken)} of {n} examples break a constraint and are left out: {listed}"
        + (f" and {n_unlisted} more" if n_unlisted > 0 else ""),
        stacklevel=4,
    )
    from sklearn.utils import _safe_indexing

    legal = np.setdiff1d(np.arange(n), list(broken))
    weight = None if sample_weight is None else np.asarray(sample_weight)[legal]
    return prepare(_safe_indexing(X, legal), _safe_indexing(y, legal), weight)
