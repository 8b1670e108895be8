"""Every labelling of a small example, to stand beside what an algorithm computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .requests import Array

#: Outputs that are enumerated, and of those how many are listed.
MOST_OUTPUTS, MOST_ROWS = 4_096, 64


class Enumeration:
    """All labellings of N places with K labels, their scores, and the distribution they make.

    Parameters
    ----------
    label : array of shape (N, K)
        Scores; K ** N is at most ``MOST_OUTPUTS``.
    pairs : iterable of (int, int, array of shape (K, K))
        Two places and the scores of their labels.
    keep : callable, optional
        Tells of a labelling whether it counts.
    """

    def __init__(
        self,
        label: Array,
        pairs: Iterable[tuple[int, int, Array]],
        temperature: float = 1.0,
        keep: Any = None,
    ) -> None:
        n, n_labels = label.shape
        self.every = np.array(list(itertools.product(range(n_labels), repeat=n)))
        self.value = label[np.arange(n), self.every].sum(axis=1)
        for u, v, table in pairs:
            self.value = self.value + table[self.every[:, u], self.every[:, v]]
        if keep is not None:
            kept = np.array([keep(y) for y in self.every], dtype=bool)
            self.every, self.value = self.every[kept], self.value[kept]
        weight = np.exp((self.value - self.value.max(initial=-np.inf)) / temperature)
        self.p = weight / weight.sum()
        self.marginals = np.zeros((n, n_labels))
        for t in range(n):
            np.add.at(self.marginals[t], self.every[:, t], self.p)

    def rows(self, described: Any) -> list[dict[str, Any]]:
        """Return the best labellings, best first, with their totals and probabilities."""
        found = []
        for i in np.argsort(-self.value, kind="stable")[:MOST_ROWS]:
            share = {"total": float(self.value[i]), "p": float(self.p[i])}
            found.append({**described(self.every[i].tolist()), **share})
        return found
