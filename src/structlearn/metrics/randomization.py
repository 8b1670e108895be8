"""The approximate randomisation test: do two models differ by more than chance?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .counts import CountMetric, as_metric
from .draws import blocks, check_draws, generator
from .pairs import Sentences

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

#: Differences within this tolerance, relative to the metrics, count as equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """Two models' metrics and the p-value of their difference.

    Attributes
    ----------
    metric : str
    first, second : float
        The models' metrics.
    difference : float
        first − second.
    p_value : float
        Two-sided.
    n_permutations : int
    """

    metric: str
    first: float
    second: float
    difference: float
    p_value: float
    n_permutations: int

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.first:.4f} and {self.second:.4f}, difference "
            f"{self.difference:+.4f}, p = {self.p_value:.4g}"
        )


def randomization_test(
    gold: Sentences,
    first: Sentences,
    second: Sentences,
    metric: str | CountMetric = "token_accuracy",
    *,
    n_permutations: int = 10_000,
    random_state: Any = None,
) -> Comparison:
    """Test whether two models' metrics on the same sentences differ, by approximate randomisation.

    If the models were alike, the two predictions of a sentence could be exchanged. Each of R
    permutations exchanges every sentence's predictions with probability ½; let r be the number of
    permutations whose difference ``|m(first') − m(second')|`` is at least the observed one::

        p = (r + 1) / (R + 1)

    Time O(R·d) for the d sentences whose counts differ.

    Parameters
    ----------
    gold, first, second : iterable of n sequences of labels
        The gold labels and both models' predictions.
    metric : str or CountMetric, default="token_accuracy"
        As for :func:`bootstrap_interval`.
    n_permutations : int, default=10000
        R; the least p-value is 1 / (R + 1).
    random_state : None, int or generator
        The same int gives the same p-value.

    Returns
    -------
    Comparison

    References
    ----------
    E. W. Noreen, Computer-Intensive Methods for Testing Hypotheses, 1989; A. Yeh, More accurate
    tests for the statistical significance of result differences, COLING 2000.

    Examples
    --------
    >>> gold = [["N", "V"]] * 20
    >>> worse = [["N", "N"]] * 8 + gold[8:]
    >>> found = randomization_test(gold, gold, worse, random_state=0)
    >>> found.first, found.second, round(found.p_value, 2)  # 2 of 2⁸ exchanges are as extreme
    (1.0, 0.8, 0.01)
    """
    import numpy as np

    measure = as_metric(metric)
    draws = check_draws("n_permutations", n_permutations)
    rng = generator(random_state)
    a, b = measure.table(gold, first), measure.table(gold, second)
    totals = np.stack([a.sum(axis=0), b.sum(axis=0)])
    shift = (b - a)[(a != b).any(axis=1)]  # exchanging the other sentences changes nothing
    reached = 0
    for part in blocks(draws, len(shift)):
        swaps = rng.integers(0, 2, size=(part.stop - part.start, len(shift)), dtype=np.uint8)
        reached += int(_as_extreme(measure, totals, shift, swaps).sum())
    x, y = measure.of(totals).tolist()
    return Comparison(measure.name, x, y, x - y, (reached + 1) / (draws + 1), draws)


def _as_extreme(
    measure: CountMetric, totals: Array, shift: Array, swaps: npt.NDArray[np.uint8]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the exchanges whose difference is at least the observed one.

    Parameters
    ----------
    totals : array (2, k)
        Both models' summed counts.
    shift : array (d, k)
        What each exchanged sentence adds to the first model's counts and takes from the second's.
    swaps : array (R, d) of 0 and 1
    """
    observed = measure.of(totals)
    moved = swaps @ shift
    change = abs(measure.of(totals[0] + moved) - measure.of(totals[1] - moved))
    slack = _ROUNDING * abs(observed).max()
    extreme: npt.NDArray[np.bool_] = change >= abs(observed[0] - observed[1]) - slack
    return extreme
