"""The temperature at which the labels of a dev set are most probable."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["best_temperature", "certainty_fact"]

_LOW, _HIGH, _STEPS = -4.0, 12.0, 16  # of the logarithm (base 2) of the temperature


def best_temperature(log_loss: Callable[[float], float]) -> float:
    """Return the temperature that minimises −Σ log P(gold | sentence), a function of it.

    Golden-section search over log T; each step is one pass of forward–backward. The order of the
    labels does not change with T, so neither do predictions (G. Guo et al. 2017).
    """

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


def certainty_fact(temperature: float | None) -> str:
    """Say how far probabilities can be trusted; None: they were not calibrated."""
    if temperature is None:
        return "not calibrated: train with a dev set (--dev)"
    if temperature == 1.0:
        return "those of a log loss"
    return f"calibrated on the dev set, temperature {temperature:.3g}"
