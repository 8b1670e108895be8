"""k-best from an argmax alone, by forbidding parts.

Best-first search over sets of forbidden parts: forbid, one at a time, each part of the best output
found so far, and ask for the argmax again. Exact where no output's parts contain all the parts of
another (true of structures whose outputs use the same number of parts), and where at least one
block is anchored, so that a part belongs to one place. Each step costs one argmax a part.
Reference: E. L. Lawler (1972), A procedure for computing the K best solutions.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InfeasibleError
from .canonical import canonical

if TYPE_CHECKING:
    from .base import Parts, Structure

__all__ = ["exclude_parts", "second_best"]


def exclude_parts(
    structure: Structure, n: int, theta: Parts, topology: dict[str, Any]
) -> list[tuple[float, Any]]:
    """Return up to n outputs as (score, output), best first."""
    tie = itertools.count()
    heap: list[tuple[float, int, frozenset[tuple[str, int]], Any, Parts]] = []
    tried: set[frozenset[tuple[str, int]]] = set()

    def push(forbidden: frozenset[tuple[str, int]]) -> None:
        if forbidden in tried:
            return
        tried.add(forbidden)
        masked = {name: a.copy() for name, a in theta.items()}
        for name, part in forbidden:
            masked[name].flat[part] = -np.inf
        try:
            y = structure.argmax(**masked, **topology)
        except InfeasibleError:
            return
        counts = structure.encode(y, **theta, **topology)
        value = structure.score(y, **theta, **topology)
        if value > -math.inf and structure.score(y, **masked, **topology) > -math.inf:
            heapq.heappush(heap, (-value, next(tie), forbidden, y, counts))

    push(frozenset())
    found: list[tuple[float, Any]] = []
    seen: set[tuple[bytes, ...]] = set()
    while heap and len(found) < n:
        negative, _, forbidden, y, counts = heapq.heappop(heap)
        key = tuple(np.asarray(counts[name], dtype=np.float64).tobytes() for name in theta)
        if key not in seen:
            seen.add(key)
            found.append((-negative, y))
        for name, a in counts.items():
            for part in np.flatnonzero(np.ravel(a)):
                push(forbidden | {(name, int(part))})
    return found


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
    # Outputs may have the same parts (trees of a grammar without spans). One of them is y, perhaps
    # written in another way; of two, at most one is.
    if len(alike) < 2:
        return None
    return alike[0] if canonical(alike[0][1]) != canonical(y) else alike[1]
