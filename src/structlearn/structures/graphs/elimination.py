"""Exact maxima and sums on graphs of small treewidth: one node after another is eliminated.

Eliminating a node joins all tables that mention it and maximises, or sums, over its labels; what
is left is a table over its neighbours. With the widest such table of w + 1 nodes, the cost is
O(N · K^(w + 1)). On trees this is message passing.

References: R. Dechter (1999), Bucket elimination; D. Rose (1974) on orders that fill in little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core

__all__ = ["Elimination", "find_order"]

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Table = npt.NDArray[Any]


def find_order(n_nodes: int, edges: Integers, max_width: int) -> list[int] | None:
    """Return a min-fill order of elimination, or None where a table gets wider than allowed.

    Parameters
    ----------
    max_width : int
        The most neighbours that a node may have when it is eliminated.
    """
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges.tolist():
        if a != b:
            near[a].add(b)
            near[b].add(a)
    # Nodes by their degree, so that only the least connected are looked at.
    by_degree: dict[int, dict[int, None]] = {}
    for v, others in enumerate(near):
        by_degree.setdefault(len(others), {})[v] = None
    order: list[int] = []
    while len(order) < n_nodes:
        degree = min(d for d, nodes in by_degree.items() if nodes)
        if degree > max_width:
            return None
        if degree <= 1:
            v = next(iter(by_degree[degree]))
        else:
            candidates = [u for d in (degree, degree + 1) for u in list(by_degree.get(d, ()))[:32]]
            candidates = [u for u in candidates if len(near[u]) <= max_width]
            v = min(candidates, key=lambda u: (_fill(near, u), u))
        order.append(v)
        del by_degree[len(near[v])][v]
        for u in near[v]:
            before = len(near[u])
            near[u] |= near[v]
            near[u] -= {u, v}
            if len(near[u]) != before:
                del by_degree[before][u]
                by_degree.setdefault(len(near[u]), {})[u] = None
        near[v] = set()
    return order


def _fill(near: list[set[int]], v: int) -> int:
    """Return how many pairs of a node's neighbours are not joined yet."""
    others = near[v]
    return sum(len(others) - 1 - len(others & near[u]) for u in others)


class Elimination:
    """The steps of an elimination order, worked out once for a graph.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : (E, 2) array
        Pairs of nodes; factors N … N + E − 1, after one a node.
    order : list of int
        Every node once.
    """

    def __init__(self, n_nodes: int, edges: Integers, order: list[int]) -> None:
        self.n_nodes = n_nodes
        self.order = order
        self._edges = np.ascontiguousarray(edges, dtype=np.int64)
        self._native: dict[int, Any] = {}
        position = np.empty(n_nodes, dtype=np.int64)
        position[order] = np.arange(n_nodes)
        #: Edges whose tables have to be transposed: those eliminated first come last.
        self.turned = position[edges[:, 0]] < position[edges[:, 1]]
        scopes: list[tuple[int, ...]] = [(v,) for v in range(n_nodes)]
        pairs = np.where(self.turned[:, np.newaxis], edges[:, ::-1], edges)
        scopes += [tuple(pair) for pair in pairs.tolist()]
        buckets: list[list[int]] = [[] for _ in range(n_nodes)]
        for factor, scope in enumerate(scopes):
            buckets[scope[-1]].append(factor)
        #: Of each step: node, neighbours, factors with the places of their axes.
        self.steps: list[tuple[int, tuple[int, ...], list[tuple[int, tuple[Any, ...]]]]] = []
        for v in order:
            joined = {u for factor in buckets[v] for u in scopes[factor]} - {v}
            others = tuple(sorted(joined, key=lambda u: -position[u]))
            scope = (*others, v)
            members = [
                (f, tuple(slice(None) if u in scopes[f] else None for u in scope))
                for f in buckets[v]
            ]
            self.steps.append((v, others, members))
            scopes.append(others)
            if others:
                buckets[others[-1]].append(len(scopes) - 1)
        self.width = max((len(others) for _, others, _ in self.steps), default=0)

    def _factors(self, label: Table, tables: Table) -> list[Any]:
        turned = [t.T if flip else t for t, flip in zip(tables, self.turned, strict=True)]
        return [*label, *turned]

    def native(self, n_labels: int) -> Any:
        """Return the core's plan for a number of labels, made once."""
        if n_labels not in self._native:
            order = np.array(self.order, dtype=np.int64)
            self._native[n_labels] = _core.Elimination(self.n_nodes, n_labels, self._edges, order)
        return self._native[n_labels]

    def best(self, label: Array, tables: Array) -> tuple[float, Integers]:
        """Return the maximum and a labelling that has it; −∞ where none is legal."""
        found: tuple[float, Integers] = self.native(label.shape[1]).best(
            np.ascontiguousarray(label), np.ascontiguousarray(tables)
        )
        return found

    def all_marginals(
        self, label: Array, tables: Array, temperature: float
    ) -> tuple[float, Array, Array, float]:
        """Return ε log Σ exp(score/ε), marginals of nodes (N, K) and edges (E, K, K), entropy."""
        n_labels = label.shape[1]
        value, node, pair, entropy = self.native(n_labels).sums(
            np.ascontiguousarray(label), np.ascontiguousarray(tables), temperature
        )
        pairs = pair.reshape(-1, n_labels, n_labels)
        return value, node.reshape(-1, n_labels), pairs, entropy

    def sums(self, label: Array, tables: Array, temperature: float) -> tuple[float, list[Any]]:
        """Return ε log Σ exp(score/ε), and for samples of each step ε·log P(node | neighbours)."""
        factors = self._factors(label, tables)
        conditionals: list[Any] = []
        value = 0.0
        for _, others, members in self.steps:
            joined = _join(factors, members)
            top = joined.max(axis=-1)
            base = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                total = np.exp((joined - base[..., np.newaxis]) / temperature).sum(axis=-1)
                message = base + temperature * np.log(total)
            factors.append(message)
            finite = np.where(np.isfinite(message), message, 0.0)
            conditionals.append(joined - finite[..., np.newaxis])
            if not others:
                value += float(message)
        return value, conditionals

    def sample(self, conditionals: list[Any], temperature: float, n: int, seed: int) -> Integers:
        """Draw n labellings."""
        rng = np.random.default_rng(seed)
        y = np.zeros((n, self.n_nodes), dtype=np.int64)
        for (v, others, _), table in zip(reversed(self.steps), reversed(conditionals), strict=True):
            p = np.exp(table[tuple(y[:, u] for u in others)] / temperature)
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
        for _, others, members in self.steps:
            joined: Any = 1
            for factor, axes in members:
                joined = joined * factors[factor][axes]
            message = joined.sum(axis=-1)
            factors.append(message)
            if not others:
                total *= int(message)
        return total


def _join(factors: list[Any], members: list[tuple[int, tuple[Any, ...]]]) -> Any:
    first, *rest = members
    joined = factors[first[0]][first[1]]
    for factor, axes in rest:
        joined = joined + factors[factor][axes]
    return joined
