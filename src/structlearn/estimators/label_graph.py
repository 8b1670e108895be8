"""The graph over the labels: the tree of largest mutual information, all pairs, or given edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..array_types import Array, Integers


class LabelTree(NamedTuple):
    """A tree over all labels.

    Attributes
    ----------
    parents : (L,) array
        The parent of each label, −1 at the root.
    numbers : (L − 1,) array
        The given edge above each label but the root; −1 if it only connects two components.
    """

    parents: Integers
    numbers: Integers


def mutual_information(Y: Integers, weights: Array | None = None) -> Array:
    """Return the (L, L) mutual information of the columns of Y, in nats; 0 on the diagonal."""
    share = np.full(len(Y), 1.0 / len(Y)) if weights is None else weights / weights.sum()
    values = [1.0 - Y, Y.astype(np.float64)]
    alone = [share @ v for v in values]
    total = np.zeros((Y.shape[1], Y.shape[1]))
    for a in (0, 1):
        for b in (0, 1):
            joint = (values[a] * share[:, np.newaxis]).T @ values[b]
            product = np.outer(alone[a], alone[b])
            with np.errstate(divide="ignore", invalid="ignore"):
                total += np.where(joint > 0, joint * np.log(joint / product), 0.0)
    np.fill_diagonal(total, 0.0)
    information: Array = np.maximum(0.5 * (total + total.T), 0.0)  # rounding
    return information


def chow_liu_tree(Y: Integers, weights: Array | None = None) -> Integers:
    """Return the L − 1 edges of the tree of largest mutual information, by Prim's algorithm.

    O(n·L²). Ties go to the edge between the first labels.

    References
    ----------
    C. Chow & C. Liu (1968), Approximating discrete probability distributions with dependence trees.
    """
    gain = mutual_information(Y, weights)
    n = len(gain)
    edges = []
    nearest, best = np.zeros(n, dtype=np.int64), gain[0].copy()
    best[0] = -np.inf
    for _ in range(n - 1):
        k = int(best.argmax())
        edges.append(sorted((int(nearest[k]), k)))
        best[k] = -np.inf
        closer = (gain[k] > best) & np.isfinite(best)
        nearest[closer], best[closer] = k, gain[k][closer]
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


def label_edges(graph: Any, Y: Integers, weights: Array | None = None) -> Integers:
    """Return the edges that ``graph`` stands for: a name, or edges themselves."""
    n_labels = Y.shape[1]
    if isinstance(graph, str):
        if graph == "none":
            return np.empty((0, 2), dtype=np.int64)
        if graph == "tree":
            return chow_liu_tree(Y, weights)
        if graph == "full":
            return np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int64)
        raise ValueError(f"graph must be 'tree', 'full', 'none' or edges, got {graph!r}")
    edges = np.asarray(graph)
    if edges.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise ValueError(
            "graph must be 'tree', 'full', 'none' or an (E, 2) array of label numbers, "
            f"got {graph!r}"
        )
    ends = np.sort(edges.astype(np.int64), axis=1)
    for e, (p, q) in enumerate(ends.tolist()):
        if not 0 <= p <= q < n_labels:
            raise ValueError(f"edge {e} is {edges[e].tolist()}, but there are {n_labels} labels")
        if p == q:
            raise ValueError(f"edge {e} goes from label {p} to itself")
    if len(np.unique(ends, axis=0)) != len(ends):
        raise ValueError("graph contains an edge twice")
    return edges.astype(np.int64)


def as_tree(edges: Integers, n_labels: int) -> LabelTree | None:
    """Return the tree that contains these edges; None if they have a cycle."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(n_labels)]
    for e, (p, q) in enumerate(edges.tolist()):
        neighbours[p].append((q, e))
        neighbours[q].append((p, e))
    parents = np.full(n_labels, -2, dtype=np.int64)
    above = np.full(n_labels, -1, dtype=np.int64)
    used = 0
    for root in range(n_labels):
        if parents[root] != -2:
            continue
        parents[root] = root - 1  # roots of further components hang on the label before
        waiting = [root]
        while waiting:
            v = waiting.pop()
            for u, e in neighbours[v]:
                if parents[u] == -2:
                    parents[u], above[u] = v, e
                    used += 1
                    waiting.append(u)
    if used != len(edges):
        return None
    # Tables are indexed [parent, child], and edges may go either way: the caller's tables are those
    # of the tree, numbered by child.
    return LabelTree(parents, above[parents >= 0])
