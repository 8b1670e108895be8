"""Confidence that can be trusted: what a dev set says of a model's probabilities.

The temperature T of P(output) ∝ exp(score / T) is the one at which the model is least surprised by
which of its own predicted parts are right (the binary log loss; a gold part that the model did not
predict, however improbable, counts as one mistake and no more). If that is
more honest on parts that were not fitted to, the probability p goes through a monotone map,

    confidence = σ(a · log p − b · log(1 − p) + c),   a, b ≥ 0,

(beta calibration: M. Kull, T. M. Silva Filho & P. Flach 2017). No confidence is higher than n
parts can show: after n right answers in a row the next one is right with probability
(n + 1) / (n + 2); nor is it lower than one minus that. It never exceeds 0.9999, so that nothing is
written as 1.0000.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import _core

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: The reliability error, on parts that the map was not fitted to, of a model that is calibrated.
HONEST = 0.03
#: Of the logarithm (base 2) of the temperature: bounds and steps of the search.
_LOW, _HIGH, _STEPS = -10.0, 12.0, 17
#: Probabilities are moved away from 0 and 1 by this before their logarithms are taken.
_EDGE = 1e-7
#: Groups of parts of about the same probability that a map is fitted to, and Newton's steps.
_GROUPS, _NEWTON = 200, 30


class Calibration:
    """What a dev set says of a model's probabilities.

    Parameters
    ----------
    temperature : float
        Of the distribution.
    n_parts : int
        Predicted parts of the dev set that were judged.
    error : float
        The reliability error (expected calibration error) of the confidence on parts that neither
        the temperature nor the map was fitted to.
    curve : (a, b, c) or None
        The monotone map; None: the probability itself.
    """

    def __init__(
        self,
        temperature: float,
        n_parts: int,
        error: float,
        curve: tuple[float, float, float] | None = None,
    ) -> None:
        self.temperature, self.n_parts, self.error, self.curve = temperature, n_parts, error, curve

    @property
    def honest(self) -> bool:
        """Whether confidence was right about itself on held-out parts, and these were enough.

        Of a few parts the error may be small by chance: so many are needed that a confidence of
        1 − 0.03 can be shown at all.
        """
        return self.error <= HONEST and 1 - self.highest <= HONEST

    @property
    def highest(self) -> float:
        """The highest confidence that so many parts can show."""
        return _core.highest_confidence(self.n_parts)

    def confidence(self, p: float) -> float:
        """Return the probability that a part of probability p is right."""
        return _core.confidence(self.certainty, p)

    @property
    def certainty(self) -> list[float]:
        """The highest confidence, then the curve if there is one, as the core takes them."""
        return [self.highest, *(self.curve or ())]

    def as_dict(self) -> dict[str, Any]:
        """Return what a file holds."""
        return {
            "temperature": self.temperature,
            "n_parts": self.n_parts,
            "error": self.error,
            "curve": None if self.curve is None else list(self.curve),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Calibration:
        """Return what :meth:`as_dict` has given; refuse what makes no sense."""
        return cls(*_core.read_calibration(stored))


def calibrated_on(
    certainties: Callable[[float], list[list[float]]],
    right: Sequence[Sequence[bool | None]],
    temperature: float | None = None,
) -> Calibration | None:
    """Return what the predicted parts of a dev set say; None if no part of it is known.

    Parameters
    ----------
    certainties : callable
        From a temperature to the probability of each predicted part of each input.
    right : list of lists
        Whether each part is right; None: not known.
    temperature : float, optional
        Of the loss that was minimised, if it has one: it stays.
    """
    judged = [(i, j) for i, row in enumerate(right) for j, ok in enumerate(row) if ok is not None]
    if not judged:
        return None
    correct = [bool(right[i][j]) for i, j in judged]

    # Two halves, input by input (part by part of a single input): each is judged by what the other
    # one says.
    known = {i: number for number, i in enumerate(dict.fromkeys(i for i, _ in judged))}
    side = [known[i] % 2 if len(known) > 1 else k % 2 for k, (i, _) in enumerate(judged)]
    halves = [[k for k, its in enumerate(side) if its == half] for half in (0, 1)]
    asked: dict[float, list[float]] = {}

    def probabilities(at: float) -> list[float]:
        if at not in asked:
            rows = certainties(at)
            asked[at] = [rows[i][j] for i, j in judged]
        return asked[at]

    def loss(at: float, parts: Sequence[int]) -> float:
        p, edge = probabilities(at), 1 / (len(parts) + 2)
        return _log_loss((p[k] for k in parts), (correct[k] for k in parts), edge)

    def fitted(at: float, parts: Sequence[int]) -> tuple[float, float, float]:
        p = probabilities(at)
        return _fitted_curve([(p[k], correct[k]) for k in parts])

    everything = range(len(judged))
    if temperature is None:
        temperature = _best_temperature(lambda at: loss(at, everything))
    probabilities(temperature)  # the halves choose among those asked for
    plain, mapped = [0.0] * len(judged), [0.0] * len(judged)
    for mine, others in (halves, halves[::-1]):
        # The search has been close to the best temperature of either half.
        at = min(asked, key=lambda at: loss(at, others)) if others else temperature
        others_curve, highest = fitted(at, others), _core.highest_confidence(len(others))
        for k in mine:
            plain[k] = min(asked[at][k], highest)
            mapped[k] = min(_curved(others_curve, asked[at][k]), highest)
    errors = _error(plain, correct), _error(mapped, correct)
    curve = None if errors[0] <= errors[1] else fitted(temperature, everything)
    return Calibration(temperature, len(judged), min(errors), curve)


def _best_temperature(log_loss: Callable[[float], float]) -> float:
    """Return the temperature with the least loss, by golden-section search over its logarithm."""

    def loss(exponent: float) -> float:
        return log_loss(2.0**exponent)

    low, high, ratio = _LOW, _HIGH, (5**0.5 - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = loss(a), loss(b)
    for _ in range(_STEPS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = loss(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = loss(b)
    return float(2.0 ** ((low + high) / 2))


def _log_loss(p: Iterable[float], right: Iterable[bool], edge: float) -> float:
    """Return −Σ log P(right or wrong), probabilities being kept away from 0 and 1."""
    return -math.fsum(
        math.log(max(edge, q if ok else 1.0 - q)) for q, ok in zip(p, right, strict=True)
    )


def _error(p: list[float], right: list[bool]) -> float:
    from ..metrics.calibration import reliability

    return reliability((min(1.0, max(0.0, q)) for q in p), right).error


def _features(p: float) -> tuple[float, float]:
    p = min(1 - _EDGE, max(_EDGE, p))
    return math.log(p), -math.log1p(-p)


def _curved(curve: tuple[float, float, float], p: float) -> float:
    return _core.confidence([1.0, *curve], p)


def _fitted_curve(pairs: list[tuple[float, bool]]) -> tuple[float, float, float]:
    """Return (a, b, c) of the least binary log loss, a and b at least 0.

    Newton's method on parts that are grouped by their probability, with one right and one wrong
    part of probability ½ added, so that the loss has a minimum.
    """
    ranked = sorted(pairs)
    groups = [(*_features(0.5), 2.0, 1.0)]  # two features, parts, right ones
    for g in range(_GROUPS):
        some = ranked[g * len(ranked) // _GROUPS : (g + 1) * len(ranked) // _GROUPS]
        if some:
            mean = math.fsum(q for q, _ in some) / len(some)
            groups.append((*_features(mean), float(len(some)), float(sum(ok for _, ok in some))))
    for used in ((0, 1, 2), (0, 2), (1, 2), (2,)):  # a negative slope is left out
        slopes = _newton(groups, used)
        if min(slopes[:2]) >= 0:
            return slopes
    raise AssertionError


def _newton(
    groups: list[tuple[float, float, float, float]], used: tuple[int, ...]
) -> tuple[float, float, float]:
    """Return the logistic regression of being right on some of the features and a constant.

    Steps that do not lower the loss are halved: p near 1 makes features so large that a whole step
    may leap over the minimum for ever.
    """
    w = [1.0 if k in used and k < 2 else 0.0 for k in range(3)]

    def loss(w: list[float]) -> float:
        total = 0.5e-6 * sum(a * a for a in w)
        for x, y, n, k in groups:
            z = w[0] * x + w[1] * y + w[2]
            total += n * (max(z, 0.0) + math.log1p(math.exp(-abs(z)))) - k * z
        return total

    now = loss(w)
    for _ in range(_NEWTON):
        gradient = [1e-6 * w[k] for k in used]
        hessian = [[1e-6 if a == b else 0.0 for b in used] for a in used]
        for x, y, n, k in groups:
            f = (x, y, 1.0)
            z = max(-35.0, min(35.0, sum(w[i] * f[i] for i in used)))
            s = 1 / (1 + math.exp(-z))
            for a, i in enumerate(used):
                gradient[a] += (n * s - k) * f[i]
                for b, j in enumerate(used):
                    hessian[a][b] += n * s * (1 - s) * f[i] * f[j]
        step = _solved(hessian, gradient)
        size = max(map(abs, step))
        share = 1.0
        while size * share >= 1e-9:
            moved = list(w)
            for a, i in enumerate(used):
                moved[i] -= share * step[a]
            if (then := loss(moved)) <= now:
                w, now = moved, then
                break
            share /= 2
        else:
            break
    return w[0], w[1], w[2]


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of a small positive definite system, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        for j in range(i + 1, n):
            share = rows[j][i] / rows[i][i]
            rows[j] = [a - share * b for a, b in zip(rows[j], rows[i], strict=True)]
    solution = [0.0] * n
    for i in reversed(range(n)):
        rest = sum(rows[i][j] * solution[j] for j in range(i + 1, n))
        solution[i] = (rows[i][n] - rest) / rows[i][i]
    return solution
