"""Trees as rows of heads: parsing, validation, and enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...array_types import Integers

Heads = Integers


def read_heads(heads: Any, n: int | None = None) -> Heads:
    """Return the heads of words 1..n as integers; raise ``ValueError`` if they are invalid.

    Examples
    --------
    >>> read_heads([2, 0]).tolist()
    [2, 0]
    """
    try:
        array = np.asarray(heads)
        whole = array.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"heads must be whole numbers, got {heads!r}") from None
    if array.ndim != 1 or array.dtype.kind not in "iuf" or (whole != array).any():
        raise ValueError(f"heads must be a row of whole numbers, got {heads!r}")
    if n is not None and len(whole) != n:
        raise ValueError(f"the output has {len(whole)} heads, the input {n} words")
    outside = np.flatnonzero((whole < 0) | (whole > len(whole)))
    if len(outside):
        m = int(outside[0])
        raise ValueError(f"word {m + 1} has head {whole[m]}, which is not among 0..{len(whole)}")
    return whole


def check_tree(heads: Heads, *, projective: bool = False, single_root: bool = False) -> None:
    """Raise ``ValueError`` unless the heads form a tree of the requested kind."""
    above = [0, *heads.tolist()]
    done = [True] + [False] * len(heads)
    for m in range(1, len(above)):
        path: list[int] = []
        v = m
        while not done[v]:
            if v in path:
                cycle = [*path[path.index(v) :], v]
                raise ValueError(f"the heads have a cycle: {' <- '.join(map(str, cycle))}")
            path.append(v)
            v = above[v]
        for u in path:
            done[u] = True
    roots = [m for m in range(1, len(above)) if above[m] == 0]
    if single_root and len(roots) != 1:
        raise ValueError(f"{len(roots)} words have head 0 ({roots}); single_root allows only one")
    if projective and not is_projective(heads):
        raise ValueError("the tree is not projective: two of its arcs cross")


def is_projective(heads: Any) -> bool:
    """Tell whether no two arcs cross and none spans the root's arc.

    Examples
    --------
    >>> is_projective([2, 0, 2]), is_projective([3, 4, 0, 3])
    (True, False)
    """
    above = np.asarray(heads)
    low = np.minimum(above, np.arange(1, len(above) + 1))
    high = np.maximum(above, np.arange(1, len(above) + 1))
    inside = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    return not bool(inside.any())


def inner_siblings(heads: Any) -> Heads:
    """Return, for each word, the previous sibling on the same side of its head, or the head.

    Examples
    --------
    >>> inner_siblings([3, 3, 0, 3]).tolist()
    [2, 3, 0, 3]
    """
    above = np.asarray(heads, dtype=np.int64)
    before: Heads = above.copy()
    last: dict[tuple[int, bool], int] = {}
    for m in range(1, len(above) + 1):  # to the right, outwards
        h = int(above[m - 1])
        if h < m:
            before[m - 1] = last.get((h, True), h)
            last[h, True] = m
    for m in range(len(above), 0, -1):
        h = int(above[m - 1])
        if h > m:
            before[m - 1] = last.get((h, False), h)
            last[h, False] = m
    return before


def all_heads(n: int, *, projective: bool = False, single_root: bool = False) -> Iterator[Heads]:
    """Iterate over every tree of n words.

    Examples
    --------
    >>> [sum(1 for _ in all_heads(n)) for n in (1, 2, 3)]
    [1, 3, 16]
    """
    for heads in itertools.product(range(n + 1), repeat=n):
        row = np.array(heads, dtype=np.int64)
        try:
            check_tree(row, projective=projective, single_root=single_root)
        except ValueError:
            continue
        yield row
