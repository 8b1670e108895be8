"""Counts and samples on graphs of small treewidth, by eliminating one node after another.

The core computes maxima and marginals. Eliminating a node joins all tables that mention it and sums
over its labels, which leaves a table over its neighbours. If the widest such table has w + 1 nodes,
the cost is O(N · K^(w + 1)). On trees this is message passing.

References: R. Dechter (1999), Bucket elimination; D. Rose (1974) on orders that fill in little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array, Integers

Table = npt.NDArray[Any]


def find_order(n_nodes: int, edges: Integers, max_width: int) -> list[int] | None:
    """Return a min-fill elimination order, or None if a table would be wider than allowed.

    Parameters
    ----------
    max_width : int
        The most neighbours of a node at its elimination.
    """
    order = _core.min_fill_order(n_nodes, np.ascontiguousarray(edges, np.int64), max_width)
    return None if order is None else list(order.tolist())


class Elimination:
    """The steps of an elimination order, computed once per graph.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : (E, 2) array
        Pairs of nodes; they are the factors N … N + E − 1, after one factor per node.
    order : list of int
        Every node exactly once.
    """

    def __init__(self, n_nodes: int, edges: Integers, order: list[int]) -> None:
        self.n_nodes = n_nodes
        self.order = order
        position = np.empty(n_nodes, dtype=np.int64)
        position[order] = np.arange(n_nodes)
        #: Edges whose tables must be transposed: nodes eliminated first come last.
        self.turned = position[edges[:, 0]] < position[edges[:, 1]]
        scopes: list[tuple[int, ...]] = [(v,) for v in range(n_nodes)]
        pairs = np.where(self.turned[:, np.newaxis], edges[:, ::-1], edges)
        scopes += [tuple(pair) for pair in pairs.tolist()]
        buckets: list[list[int]] = [[] for _ in range(n_nodes)]
        for factor, scope in enumerate(scopes):
            buckets[scope[-1]].append(factor)
        #: For each step: node, neighbours, and factors with the places of their axes.
        self.steps: list[tuple[int, tuple[int, ...], list[tuple[int, tuple[Any, ...]]]]] = []
        for v in order:
            joined = {u for factor in buckets[v] for u in scopes[factor]} - {v}
            neighbours = tuple(sorted(joined, key=lambda u: -position[u]))
            scope = (*neighbours, v)
            members = [
                (f, tuple(slice(None) if u in scopes[f] else None for u in scope))
                for f in buckets[v]
            ]
            self.steps.append((v, neighbours, members))
            scopes.append(neighbours)
            if neighbours:
                buckets[neighbours[-1]].append(len(scopes) - 1)
        self.width = max((len(neighbours) for _, neighbours, _ in self.steps), default=0)

    def _factors(self, label: Table, tables: Table) -> list[Any]:
        turned = [t.T if flip else t for t, flip in zip(tables, self.turned, strict=True)]
        return [*label, *turned]

    def sums(self, label: Array, tables: Array, temperature: float) -> tuple[float, list[Any]]:
        """Return ε log Σ exp(score/ε), and for sampling ε·log P(node | neighbours) of each step."""
        factors = self._factors(label, tables)
        conditionals: list[Any] = []
        value = 0.0
        for _, neighbours, members in self.steps:
            joined = _join(factors, members)
            top = joined.max(axis=-1)
            base = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                total = np.exp((joined - base[..., np.newaxis]) / temperature).sum(axis=-1)
                message = base + temperature * np.log(total)
            factors.append(message)
            finite = np.where(np.isfinite(message), message, 0.0)
            conditionals.append(joined - finite[..., np.newaxis])
            if not neighbours:
                value += float(message)
        return value, conditionals

    def sample(self, conditionals: list[Any], temperature: float, n: int, seed: int) -> Integers:
        """Draw n labellings."""
        rng = np.random.default_rng(seed)
        y = np.zeros((n, self.n_nodes), dtype=np.int64)
        backwards = zip(reversed(self.steps), reversed(conditionals), strict=True)
        for (v, neighbours, _), table in backwards:
            p = np.exp(table[tuple(y[:, u] for u in neighbours)] / temperature)
            cumulated = np.cumsum(np.broadcast_to(p, (n, p.shape[-1])), axis=1)
            draws = rng.random((n, 1)) * cumulated[:, -1:]
            y[:, v] = (cumulated <= draws).sum(axis=1)
        return y

    def count(self, label: Array, tables: Array) -> int:
        """Return the number of labellings with a finite score."""
        factors = self._factors(
            np.isfinite(label).astype(object), np.isfinite(tables).astype(object)
        )
        total = 1
        for _, neighbours, members in self.steps:
            joined: Any = 1
            for factor, axes in members:
                joined = joined * factors[factor][axes]
            message = joined.sum(axis=-1)
            factors.append(message)
            if not neighbours:
                total *= int(message)
        return total


def _join(factors: list[Any], members: list[tuple[int, tuple[Any, ...]]]) -> Any:
    first, *later = members
    joined = factors[first[0]][first[1]]
    for factor, axes in later:
        joined = joined + factors[factor][axes]
    return joined
