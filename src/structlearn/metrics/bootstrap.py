"""Bootstrap confidence intervals of metrics."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .counts import CountMetric, as_metric
from .draws import blocks, check_draws, generator
from .pairs import Sentences


@dataclass(frozen=True)
class Interval:
    """A metric with its confidence interval.

    Attributes
    ----------
    metric : str
    value : float
        The metric of the original sentences.
    low, high : float
    confidence : float
    n_resamples : int
    """

    metric: str
    value: float
    low: float
    high: float
    confidence: float
    n_resamples: int

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.value:.4f}, {100 * self.confidence:g}% interval "
            f"[{self.low:.4f}, {self.high:.4f}]"
        )


def bootstrap_interval(
    gold: Sentences,
    predicted: Sentences,
    metric: str | CountMetric = "token_accuracy",
    *,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    random_state: Any = None,
) -> Interval:
    """Return a metric's percentile bootstrap interval, resampling sentences.

    Each of R resamples draws n of the n sentences with replacement; the interval reaches from the
    (1 − confidence)/2 quantile of their metrics to the (1 + confidence)/2 quantile. Sentences are
    drawn, not tokens, because the tokens of a sentence are not independent.

    Only counts of sentences are added up: time O(R·n·k) for k counts.

    Parameters
    ----------
    gold, predicted : iterable of n sequences of labels
    metric : str or CountMetric, default="token_accuracy"
        "token_accuracy", "sequence_accuracy", "chunk_f1", "chunk_precision", "chunk_recall", or
        your own :class:`CountMetric`.
    confidence : float in (0, 1), default=0.95
    n_resamples : int, default=10000
    random_state : None, int or generator
        The same int gives the same interval.

    Returns
    -------
    Interval

    References
    ----------
    B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993, §13.3.

    Examples
    --------
    >>> gold, predicted = [["N"]] * 100, [["N"]] * 50 + [["V"]] * 50
    >>> found = bootstrap_interval(gold, predicted, random_state=0)
    >>> round(found.low, 1), found.value, round(found.high, 1)
    (0.4, 0.5, 0.6)
    """
    import numpy as np

    measure = as_metric(metric)
    draws = check_draws("n_resamples", n_resamples)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    rng = generator(random_state)
    rows = measure.table(gold, predicted)
    n = len(rows)
    columns = np.ascontiguousarray(rows.T)
    totals = np.empty((draws, len(columns)))
    for part in blocks(draws, n):
        drawn = rng.integers(0, n, size=(part.stop - part.start, n))
        for j, column in enumerate(columns):
            totals[part, j] = column.take(drawn).sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(measure.of(totals), [tail, 1 - tail])
    value = measure.of(rows.sum(axis=0, keepdims=True))[0]
    return Interval(measure.name, float(value), float(low), float(high), float(confidence), draws)
