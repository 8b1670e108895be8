"""Confidence intervals and p-values of scores, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bootstrap import bootstrap_interval
from .randomization import randomization_test

#: A label of any kind for each token: a string, a head, a head with its relation.
Labels = Sequence[Sequence[Any]]


def significance(
    gold: Labels,
    predicted: Labels,
    metrics: Sequence[str],
    *,
    intervals: bool,
    other: Labels | None,
) -> dict[str, Any]:
    """Return 95 % intervals, and p-values of the difference from other predictions."""
    result: dict[str, Any] = {}
    if intervals:
        bounds = {m: bootstrap_interval(gold, predicted, m, random_state=0) for m in metrics}
        result["intervals"] = {m: [i.low, i.high] for m, i in bounds.items()}
    if other is not None:
        result["p_values"] = {
            m: randomization_test(gold, predicted, other, m, random_state=0).p_value
            for m in metrics
        }
    return result
