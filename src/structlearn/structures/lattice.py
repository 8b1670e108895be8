"""The best path through any lattice: a directed acyclic graph with scored edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InfeasibleError
from .base import Block, Parts, Structure, part_of
from .hypergraph import Hyperedges

__all__ = ["Lattice"]


class Lattice(Structure):
    """Paths from a source to a target in a directed acyclic graph.

    A trellis is one such graph (Daumé's chapter, §17.3: any max-weight path algorithm finds the
    argmax); so are word lattices, segmentations and alignments. Score block: ``edge`` (E,). The
    output is the array of the path's edge numbers. All queries cost O(E).

    Parameters
    ----------
    edges : array-like of shape (E, 2)
        Edge e leads from node ``edges[e][0]`` to node ``edges[e][1]``; parallel edges are allowed.
    source, target : int, optional
        Default: node 0, and the highest numbered node.

    Examples
    --------
    >>> lattice = Lattice([(0, 1), (0, 2), (1, 2)])
    >>> lattice.argmax(edge=[1.0, 2.5, 1.0])
    array([1])
    >>> lattice.nodes(lattice.argmax(edge=[1.0, 1.5, 1.0]))
    array([0, 1, 2])
    """

    method = "longest path"
    has_labels = False

    def __init__(
        self, edges: Sequence[Sequence[int]], source: int = 0, target: int | None = None
    ) -> None:
        table = np.asarray(edges)
        if table.ndim != 2 or table.shape[1] != 2 or not np.issubdtype(table.dtype, np.integer):
            raise ValueError("edges must be (E, 2) whole numbers: (from, to) a row")
        if not table.size:
            raise ValueError("a lattice has at least one edge")
        if table.min() < 0:
            raise ValueError("nodes are numbered from 0")
        self.table = table.astype(np.int64)
        self.source = int(source)
        self.target = int(table.max()) if target is None else int(target)
        self._numbering = self._number_nodes()

    def _number_nodes(self) -> dict[int, int]:
        """Number the nodes on paths to the target in topological order, the target last."""
        before: dict[int, list[int]] = {}
        for a, b in self.table.tolist():
            before.setdefault(b, []).append(a)
        ancestors = {self.target}
        stack = [self.target]
        while stack:
            for a in before.get(stack.pop(), ()):
                if a not in ancestors:
                    ancestors.add(a)
                    stack.append(a)
        sorter: TopologicalSorter[int] = TopologicalSorter(
            {v: before.get(v, ()) for v in sorted(ancestors)}
        )
        try:
            order = list(sorter.static_order())
        except CycleError as error:
            raise ValueError(f"the lattice has a cycle: {error.args[1]}") from None
        if self.source not in ancestors or self.source == self.target:
            raise InfeasibleError(f"no path leads from node {self.source} to node {self.target}")
        return {v: i for i, v in enumerate(order)}

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block: a score an edge."""
        return {"edge": Block(())}

    def edges(self, **scores: Any) -> Hyperedges:
        """Return the lattice as hyperedges, one tail each."""
        if np.shape(scores["edge"]) != (len(self.table),):
            raise ValueError(
                f"edge has shape {np.shape(scores['edge'])}, the lattice {len(self.table)} edges"
            )
        number = self._numbering
        program = Hyperedges(len(number))
        program.add(number[self.source])
        for e, (a, b) in enumerate(self.table.tolist()):
            if a in number and b in number:
                program.add(number[b], tails=[number[a]], parts=[e])
        return program

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return the counts of the path's edges."""
        counts = np.zeros(len(self.table))
        counts[np.asarray(y, dtype=np.int64)] = 1.0
        return {"edge": counts}

    def decode(self, parts: Mapping[str, Any]) -> npt.NDArray[np.int64]:
        """Return the path's edges from source to target."""
        used = np.flatnonzero(part_of(parts, "edge"))
        number = self._numbering
        return np.array(sorted(used, key=lambda e: number[int(self.table[e, 0])]), dtype=np.int64)

    def nodes(self, y: Any) -> npt.NDArray[np.int64]:
        """Return the nodes that a path visits."""
        path = np.asarray(y, dtype=np.int64)
        return np.append(self.table[path, 0], self.table[path[-1], 1])

    def outputs(self, **scores: Any) -> Iterator[npt.NDArray[np.int64]]:
        """Iterate over all paths."""
        leaving: dict[int, list[int]] = {}
        for e, (a, b) in enumerate(self.table.tolist()):
            if b in self._numbering:
                leaving.setdefault(a, []).append(e)
        stack: list[tuple[int, list[int]]] = [(self.source, [])]
        while stack:
            node, path = stack.pop()
            if node == self.target:
                yield np.array(path, dtype=np.int64)
                continue
            for e in reversed(leaving.get(node, [])):
                stack.append((int(self.table[e, 1]), [*path, e]))

    def __repr__(self) -> str:
        return f"Lattice({len(self.table)} edges, source={self.source}, target={self.target})"
