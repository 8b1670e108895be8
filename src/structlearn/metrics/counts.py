"""Metrics that are functions of counts summed over sentences, for bootstrap and randomisation.

Accuracy and chunk F1 of a corpus need only two or three numbers from each sentence. Sentences are
resampled or swapped by adding these numbers up again, without looking at labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .accuracy import sequence_counts, token_counts
from .chunking import chunk_counts
from .pairs import Sentences

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CountMetric:
    """A metric m(Σᵢ cᵢ) of the counts cᵢ of sentences i.

    Parameters
    ----------
    name : str
    counts : callable
        (gold, predicted) → the counts (n, k), k numbers for each sentence.
    value : callable
        Sums of counts, an array of shape (..., k) → the metric, of shape (...).

    Examples
    --------
    The number of errors per token, as a user-defined metric:

    >>> from structlearn.metrics import token_counts
    >>> CountMetric("error", token_counts, lambda c: 1 - c[..., 0] / c[..., 1]).name
    'error'
    """

    name: str
    counts: Callable[[Any, Any], Sequence[Sequence[float]]]
    value: Callable[[Any], Any]

    def table(self, gold: Sentences, predicted: Sentences) -> Array:
        """Return the counts as an array (n, k); ValueError says what is wrong with them."""
        import numpy as np

        rows = np.asarray(self.counts(gold, predicted), dtype=np.float64)
        if rows.shape[0] == 0:
            raise ValueError("there are no sentences; statistics need at least one")
        if rows.ndim != 2:
            raise ValueError(
                f"metric {self.name!r}: its counts have shape {rows.shape}; they must be one row "
                "for each sentence"
            )
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise ValueError(
                f"sentence {bad[0]}: a count of metric {self.name!r} is not finite: {rows[bad[0]]}"
            )
        return rows

    def of(self, totals: Array) -> Array:
        """Return the metric of each row of summed counts; ValueError if it is undefined."""
        import numpy as np

        values = np.asarray(self.value(totals), dtype=np.float64)
        if values.shape != totals.shape[:-1]:
            raise ValueError(
                f"metric {self.name!r}: value gave shape {values.shape} for sums of shape "
                f"{totals.shape}; it must give one number for each row of counts"
            )
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(
                f"metric {self.name!r} is {values.ravel()[bad[0]]} for the counts "
                f"{totals.reshape(-1, totals.shape[-1])[bad[0]]}: value must handle that case"
            )
        return values


def _ratio(top: Any, bottom: Any) -> Any:
    """Return top / bottom, or 0 if the bottom is 0."""
    import numpy as np

    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


METRICS: dict[str, CountMetric] = {
    metric.name: metric
    for metric in (
        CountMetric("token_accuracy", token_counts, lambda c: _ratio(c[..., 0], c[..., 1])),
        CountMetric("sequence_accuracy", sequence_counts, lambda c: _ratio(c[..., 0], c[..., 1])),
        CountMetric("chunk_precision", chunk_counts, lambda c: _ratio(c[..., 0], c[..., 1])),
        CountMetric("chunk_recall", chunk_counts, lambda c: _ratio(c[..., 0], c[..., 2])),
        CountMetric(
            "chunk_f1", chunk_counts, lambda c: _ratio(2 * c[..., 0], c[..., 1] + c[..., 2])
        ),
    )
}


def as_metric(metric: str | CountMetric) -> CountMetric:
    """Return the metric with this name."""
    if isinstance(metric, CountMetric):
        return metric
    if isinstance(metric, str) and metric in METRICS:
        return METRICS[metric]
    raise ValueError(f"metric must be one of {sorted(METRICS)} or a CountMetric; got {metric!r}")
