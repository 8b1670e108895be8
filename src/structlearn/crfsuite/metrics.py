"""sklearn-crfsuite's metrics: scikit-learn's, over the labels of all sequences at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def _flat(name: str, y_true: Any, y_pred: Any, *more: Any, **options: Any) -> Any:
    from sklearn import metrics

    metric: Callable[..., Any] = getattr(metrics, name)
    flat = [list(chain.from_iterable(y)) for y in (y_true, y_pred)]
    return metric(*flat, *more, **options)


def flat_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of labels that are predicted correctly."""
    return float(_flat("accuracy_score", y_true, y_pred))


def flat_precision_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """Return scikit-learn's ``precision_score`` of all labels, with its options."""
    return _flat("precision_score", y_true, y_pred, **options)


def flat_recall_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """Return scikit-learn's ``recall_score`` of all labels, with its options."""
    return _flat("recall_score", y_true, y_pred, **options)


def flat_f1_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """Return scikit-learn's ``f1_score`` of all labels, with its options."""
    return _flat("f1_score", y_true, y_pred, **options)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **options: Any) -> Any:
    """Return scikit-learn's ``fbeta_score`` of all labels, with its options."""
    return _flat("fbeta_score", y_true, y_pred, beta=beta, **options)


def flat_classification_report(
    y_true: Any, y_pred: Any, labels: Sequence[str] | None = None, **options: Any
) -> Any:
    """Return scikit-learn's ``classification_report`` of all labels."""
    return _flat("classification_report", y_true, y_pred, labels=labels, **options)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of sequences whose labels are all right; 0 if there are none."""
    pairs = list(zip(y_true, y_pred, strict=True))
    return sum(list(a) == list(b) for a, b in pairs) / len(pairs) if pairs else 0.0
