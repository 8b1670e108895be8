"""Gold outputs as label indices, with unknown labels and sets of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Integers, Vector


@dataclass
class GoldOutputs:
    """Gold outputs as label indices.

    Attributes
    ----------
    outputs : sequence
        One output per example, labels replaced by their indices, sets of labels by frozensets.
    labels, ptr : arrays
        All labels one after another; example i owns ``labels[ptr[i]:ptr[i+1]]``. −1: unknown, any
        label; −2 − s: one of the labels in ``sets[s]``.
    sets : bool array of shape (S, K)
        The distinct sets of allowed labels, except single labels and the set of all.
    """

    outputs: Sequence[Any]
    labels: Integers
    ptr: Integers
    sets: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which examples have unknown labels."""
        unknown = np.concatenate(([0], np.cumsum(self.labels < 0)))
        return np.asarray(unknown[self.ptr[1:]] > unknown[self.ptr[:-1]])

    def permits(self, i: int, labels: Integers) -> npt.NDArray[np.bool_]:
        """Return for each position of example i whether its label is allowed."""
        gold = self.labels[self.ptr[i] : self.ptr[i + 1]]
        permitted = (gold == labels) | (gold == -1)
        among = np.flatnonzero(gold <= -2)
        permitted[among] = self.sets[-2 - gold[among], labels[among]]
        return np.asarray(permitted)

    def shares(self, n_labels: int) -> tuple[Vector, Integers]:
        """Return labels and sets as distributions over the labels, and the row of each position.

        Rows 0..K − 1 are the labels themselves, then come the sets, uniform over their labels; row
        −1: unknown.
        """
        sizes = np.maximum(self.sets.sum(axis=1, keepdims=True), 1)
        rows = np.vstack([np.eye(n_labels), (self.sets / sizes).reshape(len(self.sets), n_labels)])
        return rows, self._rows(n_labels)

    def least_costs(self, table: Vector) -> tuple[Vector, Integers]:
        """Return δ(gold, ·) for labels and sets, the least over a set; rows as in shares."""
        sets = [table[members].min(axis=0) for members in self.sets]
        return np.vstack([table, *sets]), self._rows(len(table))

    def _rows(self, n_labels: int) -> Integers:
        return np.where(self.labels <= -2, n_labels - 2 - self.labels, self.labels)
