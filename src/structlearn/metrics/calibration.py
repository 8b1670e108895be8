"""Calibration: predicted probabilities against how often the predictions are right."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple


class Bin(NamedTuple):
    """The predictions whose probability is in one interval.

    Attributes
    ----------
    low, high : float
        The interval; only the last one contains its upper end.
    n : int
        Number of predictions.
    probability, accuracy : float or None
        Their mean probability, and the share of them that is right; None if there are none.
    """

    low: float
    high: float
    n: int
    probability: float | None
    accuracy: float | None


class Reliability(NamedTuple):
    """A reliability diagram: probabilities and accuracies by bin.

    Attributes
    ----------
    bins : list of Bin
    n : int
        Number of predictions.
    error : float
        The expected calibration error: the mean over the predictions of the distance between the
        mean probability and the accuracy of their bin.
    """

    bins: list[Bin]
    n: int
    error: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "expected_calibration_error": self.error,
            "predictions": self.n,
            "bins": [b._asdict() for b in self.bins],
        }


def reliability(
    probabilities: Iterable[float], right: Iterable[bool], n_bins: int = 10
) -> Reliability:
    """Compare the probabilities of predictions with how often they are right.

    Parameters
    ----------
    probabilities : iterable of float
        P(prediction), from 0 to 1.
    right : iterable of bool
        Whether each prediction is right.
    n_bins : int
        Number of intervals of equal width.

    References
    ----------
    C. Guo et al. (2017), On calibration of modern neural networks.

    Examples
    --------
    >>> from structlearn.metrics import reliability
    >>> round(reliability([0.95, 0.85, 0.85, 0.65], [True, True, False, True]).error, 3)
    0.275
    """
    count, mass, hits = [0] * n_bins, [0.0] * n_bins, [0] * n_bins
    borders = [k / n_bins for k in range(1, n_bins)]
    for p, is_right in zip(probabilities, right, strict=True):
        k = bisect_right(borders, p)
        count[k] += 1
        mass[k] += p
        hits[k] += bool(is_right)
    total = sum(count)
    bins = []
    for k, n in enumerate(count):
        mean, share = (mass[k] / n, hits[k] / n) if n else (None, None)
        bins.append(Bin(k / n_bins, (k + 1) / n_bins, n, mean, share))
    apart = sum(abs(a - b) for a, b in zip(mass, hits, strict=True))
    return Reliability(bins, total, apart / total if total else 0.0)
