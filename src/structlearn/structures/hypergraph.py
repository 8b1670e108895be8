"""Dynamic programs as hyperedges: the engine of structures written in Python, and of lattices.

A hyperedge builds a node from earlier nodes and carries parts. The core runs max, sum, k-best and
sampling over them; this file only collects the edges and counts exactly, in Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core

__all__ = ["Hyperedges"]


class Hyperedges:
    """Edges of a dynamic program, collected one by one.

    Nodes are numbered 0..n−1 in topological order: the tails of an edge come before its head. An
    output is a derivation of the last node — an edge into it, with a derivation of each tail — and
    its parts are those of the edges used. There must be **one derivation an output**, or sums count
    some outputs twice (:func:`structlearn.testing.check_structure` tells).

    Parameters
    ----------
    n_nodes : int
        Number of nodes; the last one is the goal.

    Examples
    --------
    A coin tossed twice, parts 0 and 1 for the first toss, 2 and 3 for the second:

    >>> edges = Hyperedges(2)
    >>> for part in (0, 1):
    ...     edges.add(0, parts=[part])
    >>> for part in (2, 3):
    ...     edges.add(1, tails=[0], parts=[part])
    >>> edges.count(np.zeros(4))
    4
    """

    def __init__(self, n_nodes: int) -> None:
        if n_nodes < 1:
            raise ValueError(f"a dynamic program has at least one node, got {n_nodes}")
        self.n_nodes = n_nodes
        self._edges: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
        self._compiled: dict[int, Any] = {}

    def add(self, head: int, tails: Iterable[int] = (), parts: Iterable[int] = ()) -> None:
        """Add the edge that builds ``head`` from ``tails`` and uses ``parts`` (flat indices)."""
        self._edges.append((int(head), tuple(map(int, tails)), tuple(map(int, parts))))
        self._compiled.clear()

    def compile(self, n_parts: int) -> Any:
        """Return the core's hypergraph; raises ``ValueError`` where the numbering is wrong."""
        if n_parts not in self._compiled:
            self._compiled[n_parts] = self._compile(n_parts)
        return self._compiled[n_parts]

    def _compile(self, n_parts: int) -> Any:
        # A stable sort: the order in which edges were added settles ties.
        edges = sorted(self._edges, key=lambda edge: edge[0])
        if any(min((head, *tails, *parts)) < 0 for head, tails, parts in edges):
            raise ValueError("nodes and parts are numbered from 0")

        def ragged(rows: list[tuple[int, ...]]) -> tuple[Any, Any]:
            pointers = np.zeros(len(rows) + 1, dtype=np.uint32)
            np.cumsum([len(row) for row in rows], out=pointers[1:])
            flat = np.fromiter((x for row in rows for x in row), dtype=np.uint32)
            return pointers, flat

        head = np.fromiter((edge[0] for edge in edges), dtype=np.uint32)
        tail_ptr, tail = ragged([edge[1] for edge in edges])
        part_ptr, part = ragged([edge[2] for edge in edges])
        return _core.Hypergraph(self.n_nodes, n_parts, head, tail_ptr, tail, part_ptr, part)

    def count(self, theta: npt.NDArray[np.float64]) -> int:
        """Return the number of derivations whose parts all have finite scores."""
        ways = [0] * self.n_nodes
        for head, tails, parts in sorted(self._edges, key=lambda edge: edge[0]):
            if any(theta[part] == -np.inf for part in parts):
                continue
            product = 1
            for tail in tails:
                product *= ways[tail]
            ways[head] += product
        return ways[-1]
