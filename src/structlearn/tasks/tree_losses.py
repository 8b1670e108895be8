"""Weights of the losses of trees: those of the sentences times those of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..array_types import Vector


class LabelTotals:
    """How much the labels of the trees of a part weigh; parts add up.

    Parameters
    ----------
    rows : iterable of list of str
        The labels of each tree.
    sample_weight : sequence of float, optional
    """

    def __init__(self, rows: Iterable[list[str]], sample_weight: Any = None) -> None:
        self.totals: Counter[str] = Counter()
        for i, labels in enumerate(rows):
            for label in labels:
                self.totals[label] += 1 if sample_weight is None else sample_weight[i]

    def __add__(self, other: LabelTotals) -> LabelTotals:
        self.totals.update(other.totals)
        return self


def loss_weights(
    rows: Iterable[list[str]], sample_weight: Any, class_weight: Mapping[str, float] | None
) -> Vector | None:
    """Return the weights of the trees times the mean weights of their labels; None: all 1."""
    weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    if class_weight is None:
        return weights
    by_label = np.array(
        [np.mean([class_weight[label] for label in row]) if row else 1.0 for row in rows]
    )
    return by_label if weights is None else weights * by_label
