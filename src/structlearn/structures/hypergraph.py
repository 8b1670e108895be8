"""Dynamic programs as hyperedges: the engine of structures written in Python, and of lattices.

A hyperedge builds a node from earlier nodes and carries parts. The core runs max, sum, k-best and
sampling over them; this file only collects the edges and counts exactly, in Python integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..array_types import Array

if TYPE_CHECKING:
    from .programs.rows import RowBuilder


class Hyperedges:
    """Edges of a dynamic program, collected one by one.

    Nodes are numbered 0..n−1 in topological order: the tails of an edge come before its head. An
    output is a derivation of the last node — an edge into it, with a derivation of each tail — and
    its parts are those of the edges used. There must be **one derivation per output**, or sums
    count some outputs twice (:func:`structlearn.testing.check_structure` detects it).

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
        """Return the core's hypergraph; raise ``ValueError`` if the numbering is wrong."""
        if n_parts not in self._compiled:
            self._compiled[n_parts] = self._compile(n_parts)
        return self._compiled[n_parts]

    def _sorted(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        # A stable sort: ties are broken by the order in which edges were added.
        return sorted(self._edges, key=lambda edge: edge[0])

    def _compile(self, n_parts: int) -> Any:
        edges = self._sorted()
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

    def without(self, derivation: list[int]) -> Hyperedges:
        """Return a dynamic program of all derivations but one.

        Beside each node of that derivation stands a second one, for all derivations of the node but
        the one used: by another edge, or by the same edge with another derivation of a tail. The
        tails before the first that differs keep their one derivation, whose parts go to the edge.

        Parameters
        ----------
        derivation : list of int
            Its edges, as from the compiled program's ``kbest``: from the goal down, later tails
            first.
        """
        edges = self._sorted()
        into: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for e, (head, _, _) in enumerate(edges):
            into[head].append(e)
        # The places of the derivation, each with those of its tails, first to last.
        tails: list[list[int]] = [[] for _ in derivation]
        waiting: list[int] = []
        for place, e in enumerate(derivation):
            if waiting:
                tails[waiting.pop()].insert(0, place)
            waiting += [place] * len(edges[e][1])
        below = [list(edges[e][2]) for e in derivation]  # the parts at a place and below
        for place in reversed(range(len(derivation))):
            for tail in tails[place]:
                below[place] += below[tail]
        heads = [edges[e][0] for e in derivation]
        names = [(v, -1) for v in range(self.n_nodes)]
        names += [(v, place) for place, v in enumerate(heads)]
        number = {name: i for i, name in enumerate(sorted(names))}
        result = Hyperedges(len(number))
        for head, sources, parts in edges:
            result.add(number[head, -1], [number[v, -1] for v in sources], parts)
        for place, e in enumerate(derivation):
            head = number[heads[place], place]
            for other in into[heads[place]]:
                if other != e:
                    _, sources, parts = edges[other]
                    result.add(head, [number[v, -1] for v in sources], parts)
            before = list(edges[e][2])
            sources = edges[e][1]
            for i, tail in enumerate(tails[place]):
                later = [number[v, -1] for v in sources[i + 1 :]]
                result.add(head, [number[sources[i], tail], *later], before)
                before = before + below[tail]
        return result

    def program_rows(self, shapes: Mapping[str, tuple[int, ...]]) -> RowBuilder:
        """Return the dynamic program as rows: one helper column per edge, conserved at each node.

        Its linear relaxation is tight. Reference: R. K. Martin, R. L. Rardin & B. A. Campbell
        (1990), Polyhedral characterization of discrete dynamic programming.
        """
        from .programs.rows import RowBuilder

        build = RowBuilder(shapes)
        for name in shapes:  # integral if the edges are
            build.continuous(name)
        build.unbounded(self._repeated_parts())
        columns = build.helpers(len(self._edges), upper=np.inf, integer=True)
        entering: list[list[int]] = [[] for _ in range(self.n_nodes)]
        leaving: list[list[int]] = [[] for _ in range(self.n_nodes)]
        using: list[list[int]] = [[] for _ in range(build.n_parts)]
        for column, (head, tails, parts) in zip(columns.tolist(), self._edges, strict=True):
            entering[head].append(column)
            for tail in tails:
                leaving[tail].append(column)
            for part in parts:
                using[part].append(column)
        build.add((entering[-1], 1), (leaving[-1], -1), rows=0, equal=1, name="one derivation")
        for node in range(self.n_nodes - 1):
            build.add(
                (entering[node], 1), (leaving[node], -1), rows=0, equal=0, name=f"node {node}"
            )
        for part, users in enumerate(using):
            build.add((users, 1), ([part], -1), rows=0, equal=0, name=f"part {part} is counted")
        return build

    def _repeated_parts(self) -> list[int]:
        """Return the parts that some derivation uses more than once, in ascending order.

        The derivations of an edge's tails are independent, so a part is used twice if two tails, or
        a tail and the edge itself, can have it. Sets are bit masks.
        """
        used = [0] * self.n_nodes  # the parts that derivations of a node may have
        twice = [0] * self.n_nodes  # and those that one derivation may have more than once
        derived = [False] * self.n_nodes
        for head, tails, parts in sorted(self._edges, key=lambda edge: edge[0]):
            if not all(derived[tail] for tail in tails):
                continue
            derived[head] = True
            together = 0
            for mask in [*(1 << part for part in parts), *(used[tail] for tail in tails)]:
                twice[head] |= together & mask
                together |= mask
            used[head] |= together
            for tail in tails:
                twice[head] |= twice[tail]
        return [part for part, bit in enumerate(reversed(bin(twice[-1]))) if bit == "1"]

    def count(self, theta: Array) -> int:
        """Return the number of derivations whose parts all have finite scores."""
        ways = [0] * self.n_nodes
        for head, tails, parts in self._sorted():
            if any(theta[part] == -np.inf for part in parts):
                continue
            product = 1
            for tail in tails:
                product *= ways[tail]
            ways[head] += product
        return ways[-1]
