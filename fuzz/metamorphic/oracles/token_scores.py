"""Scores of labels, token by token in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Rows = Sequence[Sequence[Any]]


def accuracy(gold: Rows, predicted: Rows) -> float:
    """Return the share of tokens that are right, of those whose gold label is known."""
    right = n_known = 0
    for truth, guess in zip(gold, predicted, strict=True):
        for a, b in zip(truth, guess, strict=True):
            if a is not None:
                n_known += 1
                if a == b:
                    right += 1
    return right / n_known if n_known else 0.0


def whole_accuracy(gold: Rows, predicted: Rows) -> float:
    """Return the share of sentences without a mistake, of those with a known gold label."""
    right = judged = 0
    for truth, guess in zip(gold, predicted, strict=True):
        pairs = [(a, b) for a, b in zip(truth, guess, strict=True) if a is not None]
        if pairs:
            judged += 1
            right += all(a == b for a, b in pairs)
    return right / judged if judged else 0.0


def confusion(gold: Rows, predicted: Rows) -> dict[tuple[Any, Any], int]:
    """Return how often each known gold label was given each label."""
    table: dict[tuple[Any, Any], int] = {}
    for truth, guess in zip(gold, predicted, strict=True):
        for a, b in zip(truth, guess, strict=True):
            if a is not None:
                table[a, b] = table.get((a, b), 0) + 1
    return table


def expected_calibration_error(p: Sequence[float], right: Sequence[bool], n_bins: int) -> float:
    """Return the mean distance of confidence and accuracy, bin by bin, weighted by their sizes.

    Bin k holds k/n ≤ p < (k + 1)/n; the last one 1, too.
    """
    total = 0.0
    for k in range(n_bins):
        low, high = k / n_bins, (k + 1) / n_bins
        inside = [i for i, x in enumerate(p) if low <= x < high or (k == n_bins - 1 and x == 1.0)]
        if inside:
            confidence = sum(p[i] for i in inside) / len(inside)
            share = sum(bool(right[i]) for i in inside) / len(inside)
            total += len(inside) / len(p) * abs(confidence - share)
    return total
