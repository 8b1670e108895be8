"""Charts of dynamic programs, node by node, as filled by the hyperedge engine of the core.

Viterbi, forward–backward, message passing on trees, CKY and Eisner are one algorithm over different
hyperedges. The numbers of a trace are the chart of ``_core.Hypergraph``, the engine that every hot
loop of the library is tested against; Python only gives names to nodes and parts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..array_types import Array
from ..structures.checks import nothing_legal
from ..structures.hypergraph import Hyperedges
from ..structures.parts import flatten
from .trace import Trace, check_size

#: The name of a node: its kind, then numbers.
Name = tuple[Any, ...]
#: A function from a derivation, its edges as (name of head, names of tails, parts), to an output.
Read = Callable[[list[tuple[Name, list[Name], list[tuple[str, list[int]]]]]], Any]


class Chart:
    """A dynamic program with names for its nodes.

    Parameters
    ----------
    edges : Hyperedges
        The program.
    theta : dict of arrays
        Scores by block, in the order of the program's parts.
    names : sequence of tuples
        The name of each node, the goal's included.
    read : callable
        Turns a derivation into an output.
    """

    def __init__(
        self, edges: Hyperedges, theta: Mapping[str, Array], names: Sequence[Name], read: Read
    ) -> None:
        self.edges = edges._sorted()
        check_size(len(self.edges))
        self.theta = theta
        self.names = names
        self.read = read
        self.flat = flatten(theta)
        self.native = edges.compile(len(self.flat))
        self._first: list[int] = []
        self._blocks: list[str] = []
        at = 0
        for name, a in theta.items():
            if a.size:
                self._first.append(at)
                self._blocks.append(name)
            at += a.size

    def part(self, index: int) -> tuple[str, list[int]]:
        """Return the block of a part, and its place in the block."""
        block = bisect_right(self._first, index) - 1
        name, rest = self._blocks[block], index - self._first[block]
        place = []
        for size in reversed(self.theta[name].shape):
            rest, i = divmod(rest, size)
            place.append(i)
        return name, place[::-1]

    def option(self, e: int, value: float, node: Array) -> dict[str, Any]:
        """Return one way to build a node: its tails, parts and score."""
        _, tails, parts = self.edges[e]
        used = [(*self.part(p), float(self.flat[p])) for p in parts]
        return {
            "tails": [list(self.names[t]) for t in tails],
            "tail_values": [float(node[t]) for t in tails],
            "parts": [{"block": b, "at": i, "score": s} for b, i, s in used],
            "value": float(value),
        }

    def fill(self, temperature: float) -> tuple[list[dict[str, Any]], Array, Array, Array]:
        """Return a step for each node, the goal last, and the engine's chart."""
        node, edge, mass = self.native.chart(self.flat, float(temperature))
        steps: list[dict[str, Any]] = []
        for v in range(len(node)):
            steps.append({"kind": "fill", "node": list(self.names[v]), "options": []})
        for e, (head, _, _) in enumerate(self.edges):
            steps[head]["options"].append(self.option(e, edge[e], node))
        for v, step in enumerate(steps):
            values = [option["value"] for option in step["options"]]
            step["value"] = float(node[v])
            step["best"] = values.index(max(values)) if values else None
        if node[-1] == -math.inf:
            raise nothing_legal()
        return steps, node, edge, mass

    def derivation(self, edges: Any) -> list[tuple[Name, list[Name], list[tuple[str, list[int]]]]]:
        """Return the edges of a derivation by name."""
        named = []
        for e in edges:
            head, tails, parts = self.edges[int(e)]
            named.append(
                (self.names[head], [self.names[t] for t in tails], [self.part(p) for p in parts])
            )
        return named

    def best(self, algorithm: str, **about: Any) -> Trace:
        """Return the trace of a maximum: fill every node, then follow the back-pointers."""
        steps, _, _, _ = self.fill(0.0)
        value, edges, _ = self.native.best(self.flat)
        used = self.derivation(edges)
        for head, tails, _ in used:
            steps.append({"kind": "follow", "node": list(head), "to": [list(t) for t in tails]})
        return Trace(algorithm, steps, self.read(used), float(value), dict(about))

    def sum(self, algorithm: str, temperature: float = 1.0, **about: Any) -> Trace:
        """Return the trace of sums: inside, then outside (β), then the marginals of all parts.

        A step of kind "outside" has the ways out of a node: the outside value of the head, the
        parts of the edge, and the other tails. ``mass`` is the node's probability.
        """
        eps = float(temperature)
        steps, node, edge, mass = self.fill(eps)
        total = float(node[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = np.where(mass > 0, eps * np.log(mass) + total - node, -np.inf)
        ways: list[list[tuple[int, int]]] = [[] for _ in node]
        for e, (_, tails, _) in enumerate(self.edges):
            for i, tail in enumerate(tails):
                ways[tail].append((e, i))
        for v in range(len(node) - 2, -1, -1):
            options = []
            for e, place in ways[v]:
                head = self.edges[e][0]
                option = self.option(e, edge[e], node)
                option["tails"].pop(place)
                option["tail_values"].pop(place)
                option["head"], option["head_value"] = list(self.names[head]), float(outside[head])
                rest = edge[e] - node[v] if node[v] > -math.inf else -math.inf
                option["value"] = float(outside[head] + rest)
                options.append(option)
            step = {"kind": "outside", "node": list(self.names[v]), "options": options}
            steps.append({**step, "value": float(outside[v]), "mass": float(mass[v])})
        _, p = self.native.infer(self.flat, eps)
        marginals, at = {}, 0
        for name, a in self.theta.items():
            marginals[name] = p[at : at + a.size].reshape(a.shape)
            at += a.size
        about = {"temperature": eps, "marginals": marginals, **about}
        _, best, _ = self.native.best(self.flat)
        return Trace(algorithm, steps, self.read(self.derivation(best)), total, about)

    def kbest(self, algorithm: str, n: int, **about: Any) -> Trace:
        """Return the trace of the n best: each output, and where it departs from the best one."""
        steps: list[dict[str, Any]] = []
        choice: dict[Name, int] = {}
        for rank, (value, edges, _) in enumerate(self.native.kbest(self.flat, n)):
            used = self.derivation(edges)
            if rank == 0:
                choice = {head: int(e) for (head, _, _), e in zip(used, edges, strict=True)}
            other = [
                list(head)
                for (head, _, _), e in zip(used, edges, strict=True)
                if choice.get(head) != int(e)
            ]
            step = {"kind": "rank", "rank": rank + 1, "value": float(value)}
            steps.append({**step, "answer": self.read(used), "differs_at": other})
        if not steps:
            raise nothing_legal()
        return Trace(algorithm, steps, steps[0]["answer"], steps[0]["value"], dict(about))
