"""Weights of examples, as users give them."""

from __future__ import annotations

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..array_types import Array

    Vector = Array


def check_sample_weight(sample_weight: Any, n: int) -> Vector | None:
    """Return the weights as an array, or None; negative ones are refused by name."""
    if sample_weight is None:
        return None
    import numpy as np

    from ..features.arrays import as_floats

    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    weights = np.ascontiguousarray(weights)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},)")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"example {bad[0]}: sample_weight is {weights[bad[0]]}; it must be finite and >= 0"
        )
    return weights


def refuse_no_weight(weights: Vector | float | None) -> None:
    """Refuse weights of examples that are all 0, or their sum."""
    total = weights if weights is None or isinstance(weights, (int, float)) else weights.any()
    if total is not None and not total:
        raise ValueError(
            "every example has weight 0, so nothing can be learned; sample_weight must not be "
            "zero everywhere, nor class_weight for all labels of y"
        )


def settled_class_weight(given: Any, totals: Callable[[], Mapping[str, float]]) -> Any:
    """Return weights of classes that are none to be counted any more.

    Parameters
    ----------
    given : dict, "balanced" or None
    totals : callable
        Returns how much there is of each class.
    """
    if given != "balanced":
        return given
    counts = totals()
    whole = sum(counts.values())
    return {label: whole / (len(counts) * (n or 1.0)) for label, n in counts.items()}
