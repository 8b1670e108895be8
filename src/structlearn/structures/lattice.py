"""The best path through any lattice: a directed acyclic graph with scored edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from ..array_types import Integers
from ..exceptions import InfeasibleError
from .base import Structure
from .hypergraph import Hyperedges
from .parts import Block, Parts, part_of


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
    label_block = "edge"

    def __init__(
        self, edges: Sequence[Sequence[int]], source: int = 0, target: int | None = None
    ) -> None:
        table = np.asarray(edges)
        if table.ndim != 2 or table.shape[1] != 2 or not np.issubdtype(table.dtype, np.integer):
            raise ValueError("edges must be (E, 2) whole numbers: one row (from, to) per edge")
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
        """Return the one block: one score per edge."""
        return {"edge": Block(())}

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores, one per edge."""
        theta = super()._scores(scores)
        if theta["edge"].shape != (len(self.table),):
            raise ValueError(
                f"edge has shape {theta['edge'].shape}, the lattice {len(self.table)} edges"
            )
        return theta

    def edges(self, **scores: Any) -> Hyperedges:
        """Return the lattice as hyperedges, one tail each."""
        number = self._numbering
        program = Hyperedges(len(number))
        program.add(number[self.source])
        for e, (a, b) in enumerate(self.table.tolist()):
            if a in number and b in number:
                program.add(number[b], tails=[number[a]], parts=[e])
        return program

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return the counts of the path's edges."""
        if scores:
            self._scores(scores)
        counts = np.zeros(len(self.table))
        counts[self._path(y)] = 1.0
        return {"edge": counts}

    def _path(self, y: Any) -> Integers:
        """Return the edges of an output, checked to form a path from the source to the target."""
        path = np.asarray(y)
        if path.ndim != 1 or not len(path) or not np.issubdtype(path.dtype, np.integer):
            raise ValueError(f"an output is the array of a path's edge numbers, got {y!r}")
        if path.min() < 0 or path.max() >= len(self.table):
            raise ValueError(f"edges must be among 0..{len(self.table) - 1}: {path.tolist()}")
        begins, ends = self.table[path].T
        follows = begins == np.concatenate(([self.source], ends[:-1]))
        if not follows.all() or ends[-1] != self.target:
            raise ValueError(
                f"the edges {path.tolist()} are not a path from node {self.source} to node "
                f"{self.target}"
            )
        return path.astype(np.int64)

    def decode(self, parts: Mapping[str, Any]) -> Integers:
        """Return the path's edges from source to target."""
        counts = part_of(parts, "edge")
        if counts.shape != (len(self.table),) or not np.isin(counts, (0.0, 1.0)).all():
            raise ValueError(
                f"these parts are not an output: each of {len(self.table)} edges counts 0 or 1"
            )
        number = self._numbering
        used = sorted(
            np.flatnonzero(counts), key=lambda e: number.get(int(self.table[e, 0]), len(number))
        )
        return self._path(np.array(used, dtype=np.int64))

    def nodes(self, y: Any) -> Integers:
        """Return the nodes that a path visits."""
        path = self._path(y)
        return np.append(self.table[path, 0], self.table[path[-1], 1])

    def outputs(self, **scores: Any) -> Iterator[Integers]:
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
