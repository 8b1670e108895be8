"""Labels with scores of neighbouring pairs: the input of every search for a best labelling."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import _core
from ...array_types import Array, Integers
from .elimination import Elimination

_NO_EDGES = np.empty((0, 2), dtype=np.int64)


class PairGroup:
    """The scores of a group of edges: tables, strengths lost by unequal neighbours, or both.

    Parameters
    ----------
    count : int
        Number of edges.
    table : (K, K) or (count, K, K) array, optional
        Scores.
    strength : () or (count,) array, optional
        The loss of unequal neighbours.
    """

    def __init__(self, count: int, table: Array | None, strength: Array | None) -> None:
        self.count = count
        if table is not None and strength is not None:
            unequal = 1.0 - np.eye(table.shape[-1])
            table = table - strength[..., np.newaxis, np.newaxis] * unequal
            strength = None
        self.table = table
        self.strength = strength

    def for_core(self) -> tuple[Array, bool, bool] | None:
        """Return (values, whether they are tables, whether there is one per edge)."""
        if self.table is not None:
            return np.ascontiguousarray(self.table).ravel(), True, self.table.ndim == 3
        if self.strength is not None:
            return np.ascontiguousarray(self.strength).ravel(), False, self.strength.ndim == 1
        return None

    def tables(self, n_labels: int) -> Array:
        """Return one table per edge."""
        shape = (self.count, n_labels, n_labels)
        if self.table is not None:
            return np.broadcast_to(self.table, shape)
        if self.strength is not None:
            lost = np.broadcast_to(self.strength, self.count)[:, np.newaxis, np.newaxis]
            return -lost * (1.0 - np.eye(n_labels))
        return np.zeros(shape)


def checked_strength(name: str, strength: Array | None, sites: tuple[int, ...]) -> Array | None:
    """Return Potts strengths, a number or one per edge; ``sites`` is the layout of the edges."""
    if strength is None:
        return None
    if strength.shape not in ((), sites):
        raise ValueError(f"{name} has shape {strength.shape}, expected a number or {sites}")
    if np.isneginf(strength).any():
        raise ValueError(f"{name} contains -inf; strengths are finite")
    return strength.reshape(()) if strength.ndim == 0 else strength.ravel()


def unequal_counts(pair: Array) -> Array:
    """Return the counts of a Potts term: −1 for each edge, (..., K, K), whose labels differ."""
    unequal = 1.0 - np.eye(pair.shape[-1])
    counts: Array = 0.0 - (pair * unequal).sum(axis=(-2, -1))
    return counts


class Cliques:
    """Groups of nodes, concatenated.

    Parameters
    ----------
    groups : sequence of sequences of int
        The nodes of each group, at least one, none twice.
    tolerance : float
        The share of a group's nodes, up to a half, that may have other labels before nothing is
        added.
    """

    def __init__(self, groups: Any, tolerance: float = 0.0) -> None:
        rows = []
        for c, group in enumerate(groups):
            row = np.asarray(group)
            if row.ndim != 1 or not row.size or not np.issubdtype(row.dtype, np.integer):
                raise ValueError(f"clique {c} must be a list of nodes, got {group!r}")
            if len(np.unique(row)) != len(row):
                raise ValueError(f"clique {c} has a node twice: {row.tolist()}")
            rows.append(row.astype(np.int64))
        self.rows = rows
        self.start = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        self.members = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        #: The number of nodes with other labels that cancels a group's score.
        self.slack: Array = np.maximum(1.0, tolerance * np.diff(self.start))

    def __len__(self) -> int:
        return len(self.rows)

    def agreed(self, labels: Integers, n_labels: int) -> Array:
        """Return (C, K) counts: 1 if all nodes of a group have the label, 0 if few have."""
        counts = np.zeros((len(self), n_labels))
        for c, row in enumerate(self.rows):
            missing = len(row) - np.bincount(labels[row], minlength=n_labels)
            counts[c] = np.maximum(1.0 - missing / self.slack[c], 0.0)
        return counts


class PairModel:
    """One example: N nodes, K labels, E edges.

    Parameters
    ----------
    label : (N, K) array
        Scores of labels.
    groups : list of PairGroup
        Scores of pairs; a grid has two groups.
    edges : (E, 2) array, optional
        The edges of a graph.
    shape : (height, width), optional
        The size of a grid, whose edges are its horizontal ones, row by row, and then its vertical
        ones.
    cliques : (Cliques, (C, K) array), optional
        Groups of nodes of a graph, and the score of each if all of it has a label.
    """

    def __init__(
        self,
        label: Array,
        groups: list[PairGroup],
        edges: Integers | None = None,
        shape: tuple[int, int] | None = None,
        cliques: tuple[Cliques, Array] | None = None,
    ) -> None:
        self.label = label
        #: The time limit of a program, in seconds.
        self.time_limit: float | None = None
        self.cliques = cliques if cliques is not None and len(cliques[0]) else None
        self.groups = groups
        self.shape = shape
        self.n_nodes, self.n_labels = label.shape
        self._edges = edges
        self.native = _core.Pairwise(
            label,
            *(shape or (0, 0)),
            _NO_EDGES if edges is None else edges,
            [group.for_core() for group in groups],
            None
            if self.cliques is None
            else (
                self.cliques[0].start,
                self.cliques[0].members,
                self.cliques[1].ravel(),
                self.cliques[0].slack,
            ),
        )

    def place(self, node: int) -> str:
        """Return the name of a node in a message."""
        if self.shape is None:
            return f"node {node}"
        row, column = divmod(int(node), self.shape[1])
        return f"the node in row {row}, column {column}"

    @functools.cached_property
    def edges(self) -> Integers:
        """The (E, 2) nodes of each edge."""
        if self._edges is not None:
            return self._edges
        assert self.shape is not None
        node = np.arange(self.n_nodes).reshape(self.shape)
        across = np.stack((node[:, :-1].ravel(), node[:, 1:].ravel()), axis=1)
        down = np.stack((node[:-1].ravel(), node[1:].ravel()), axis=1)
        return np.ascontiguousarray(np.concatenate((across, down)), dtype=np.int64)

    @functools.cached_property
    def tables(self) -> Array:
        """The (E, K, K) scores of each edge."""
        if len(self.groups) == 1:
            return self.groups[0].tables(self.n_labels)
        return np.concatenate([group.tables(self.n_labels) for group in self.groups])

    @property
    def has_pairs(self) -> bool:
        """Whether any pair, or larger group, is scored."""
        scored = (g.count and (g.table is not None or g.strength is not None) for g in self.groups)
        return self.cliques is not None or any(scored)

    @functools.cached_property
    def elimination(self) -> Elimination | None:
        """The steps of exact elimination, or None if its tables would be too large."""
        order = self.native.order()
        return None if order is None else Elimination(self.n_nodes, self.edges, order.tolist())

    def replaced(self, label: Array) -> PairModel:
        """Return the same model with other label scores."""
        return PairModel(label, self.groups, self._edges, self.shape, self.cliques)
