"""Weights by name: the heaviest features of labels, and pairs of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def heaviest(rows: Iterable[tuple[Any, float]], n: int) -> list[tuple[Any, float]]:
    """Return the n rows (name, weight) with the largest absolute values, the largest first.

    Rows of weight 0 are left out; of equal weights the first row comes first.
    """
    import heapq  # labelling starts without it

    weighted = (row for row in rows if row[1])
    return heapq.nsmallest(n, weighted, key=lambda row: -abs(row[1]))


def heaviest_by_label(
    row_ptr: Any, column: Any, weights: Any, n_labels: int, n: int
) -> list[list[tuple[int, float]]]:
    """Return by label (feature, weight) of the n heaviest features.

    Parameters
    ----------
    row_ptr, column, weights : sequences
        The labels of feature f are ``column[row_ptr[f] : row_ptr[f + 1]]``.
    """
    pairs: list[list[tuple[int, float]]] = [[] for _ in range(n_labels)]
    for feature, (begin, end) in enumerate(pairwise(row_ptr)):
        for k, weight in zip(column[begin:end], weights[begin:end], strict=True):
            pairs[k].append((feature, float(weight)))
    return [heaviest(rows, n) for rows in pairs]


def label_pairs(
    labels: Sequence[Any],
    start: Sequence[float] | None,
    pairs: Sequence[float] | None,
    end: Sequence[float] | None,
) -> list[tuple[Any, Any, float]]:
    """Return (before, after, weight) of pairs of labels, and of the first and the last label.

    Parameters
    ----------
    start, end : sequences of K weights, or None
    pairs : sequence of K · K weights, or None
        By the label before, then by the one after.
    """
    n = len(labels)
    rows = [("(start)", k, w) for k, w in zip(labels, start or (), strict=False)]
    rows += [(labels[i // n], labels[i % n], w) for i, w in enumerate(pairs or ())]
    return rows + [(k, "(end)", w) for k, w in zip(labels, end or (), strict=False)]
