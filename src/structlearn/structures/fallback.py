"""The k best outputs and the second best from an argmax alone, by forbidding parts.

Each part of the best output so far is forbidden in turn, and the argmax is computed again. Exact if
no output's parts contain all the parts of another (true of structures whose outputs have equal
numbers of parts), and if at least one block is anchored, so that a part belongs to one place. Each
output costs one argmax per part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InfeasibleError
from .canonical import canonical
from .lawler import best_first

if TYPE_CHECKING:
    from .base import Structure
    from .parts import Parts

#: The parts that an output must not have: (block, flat index).
Forbidden = frozenset[tuple[str, int]]


def exclude_parts(
    structure: Structure, n: int, theta: Parts, topology: dict[str, Any]
) -> list[tuple[float, Any]]:
    """Return up to n outputs as (score, output), best first."""

    def best(forbidden: Forbidden) -> tuple[float, tuple[Any, Parts]] | None:
        masked = {name: a.copy() for name, a in theta.items()}
        for name, part in forbidden:
            masked[name].flat[part] = -np.inf
        try:
            y = structure.argmax(**masked, **topology)
        except InfeasibleError:
            return None
        value = structure.score(y, **theta, **topology)
        if value == -math.inf or structure.score(y, **masked, **topology) == -math.inf:
            return None
        return value, (y, structure.encode(y, **theta, **topology))

    tried: set[Forbidden] = set()

    def split(found: tuple[Any, Parts], forbidden: Forbidden) -> Iterator[Forbidden]:
        for name, counts in found[1].items():
            for part in np.flatnonzero(np.ravel(counts)):
                extended = forbidden | {(name, int(part))}
                if extended not in tried:
                    tried.add(extended)
                    yield extended

    outputs: list[tuple[float, Any]] = []
    seen: set[tuple[bytes, ...]] = set()
    nothing: Forbidden = frozenset()
    for value, (y, counts) in best_first(nothing, best, split):
        key = tuple(np.asarray(counts[name], dtype=np.float64).tobytes() for name in theta)
        if key not in seen:
            seen.add(key)
            outputs.append((value, y))
        if len(outputs) == n:
            break
    return outputs


def second_best(
    structure: Structure, y: Any, theta: dict[str, Any], topology: dict[str, Any]
) -> tuple[float, Any] | None:
    """Return the best (score, output) other than y, or None if there is none."""
    gold = structure.encode(y, **theta, **topology)
    try:
        candidates = structure.kbest(2, **theta, **topology)
    except InfeasibleError:
        return None
    alike = []
    for value, other in candidates:
        counts = structure.encode(other, **theta, **topology)
        if any(not np.array_equal(counts[name], gold[name]) for name in theta):
            return float(value), other
        alike.append((float(value), other))
    # Several outputs may have the same parts (trees of a grammar without spans), and y may be
    # written in another way; of two such outputs, at most one is y.
    if len(alike) < 2:
        return None
    return alike[0] if canonical(alike[0][1]) != canonical(y) else alike[1]
