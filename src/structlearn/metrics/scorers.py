"""scikit-learn scorers for metrics of sequences: functions of a model, inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .accuracy import sequence_accuracy, token_accuracy
from .chunking import chunk_f1
from .labels import label_report

if TYPE_CHECKING:
    from typing import Any

__all__ = ["METRICS", "SequenceScorer", "scorer"]


def _f1_macro(gold: Any, predicted: Any) -> float:
    return label_report(gold, predicted).macro.f1


def _f1_micro(gold: Any, predicted: Any) -> float:
    return label_report(gold, predicted).micro.f1


#: Metrics by name.
METRICS: dict[str, Callable[[Any, Any], float]] = {
    "token_accuracy": token_accuracy,
    "sequence_accuracy": sequence_accuracy,
    "chunk_f1": chunk_f1,
    "f1_macro": _f1_macro,
    "f1_micro": _f1_micro,
}


class SequenceScorer:
    """A metric of sequences, for scikit-learn's ``scoring``.

    Parameters
    ----------
    metric : str or callable
        As for :func:`scorer`.
    """

    def __init__(self, metric: str | Callable[[Any, Any], float]) -> None:
        if isinstance(metric, str) and metric not in METRICS:
            raise ValueError(f"metric must be one of {', '.join(METRICS)}, or a function; "
                             f"got {metric!r}")  # fmt: skip
        self.metric = metric

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        """Return the metric of a model's predictions for ``X``, compared with ``y``."""
        score = METRICS[self.metric] if isinstance(self.metric, str) else self.metric
        return float(score(list(y), list(model.predict(X))))

    def __repr__(self) -> str:
        return f"scorer({self.metric!r})"


def scorer(metric: str | Callable[[Any, Any], float]) -> SequenceScorer:
    """Return a metric for the ``scoring`` of ``cross_val_score``, ``GridSearchCV`` and the like.

    scikit-learn's own metrics, as ``scoring="f1_macro"``, take one label for each example, not
    sequences.

    Parameters
    ----------
    metric : {"token_accuracy", "sequence_accuracy", "chunk_f1", "f1_macro", "f1_micro"} or callable
        The F1 of chunks is that of :func:`chunk_f1`, those of labels are the averages of
        :func:`label_report`, by tokens. A function takes the gold and the predicted sequences, and
        a greater result is better.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from structlearn import CRF
    >>> from structlearn.metrics import scorer
    >>> X, y = [[["w=the"], ["w=fish"]]] * 9, [["B-NP", "I-NP"]] * 9
    >>> cross_val_score(CRF(), X, y, cv=3, scoring=scorer("chunk_f1"))
    array([1., 1., 1.])
    """
    return SequenceScorer(metric)
