"""A step length along a direction of descent.

Strong Wolfe conditions by bracketing and cubic interpolation (J. Nocedal & S. Wright 2006,
Algorithms 3.5 and 3.6). Near the optimum, where the differences of values are rounding errors, the
approximate Wolfe conditions of W. Hager & H. Zhang (2005) take their place: they look at slopes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

#: Sufficient decrease, and how much of the slope may be left.
DECREASE, CURVATURE = 1e-4, 0.9
#: Values whose difference may be a rounding error, relative to the value: a sum of many losses,
#: each the difference of two numbers that may be a thousand times as large.
NOISE = 1e-12
#: How far a step may reach beyond the last one while no minimum is enclosed.
STRETCH = 10.0
MOST_TRIALS = 25


@dataclass(frozen=True)
class Trial:
    """Value and slope of φ(t) = f(w + t·d) at one t."""

    step: float
    value: float
    slope: float


def wolfe_search(
    phi: Callable[[float], tuple[float, float]],
    value: float,
    slope: float,
    step: float,
    *,
    enough: Callable[[], bool] = lambda: False,
) -> Trial | None:
    """Return a step that meets the strong or the approximate Wolfe conditions.

    Parameters
    ----------
    phi : callable
        t to (φ(t), φ'(t)).
    value, slope : float
        φ(0) and φ'(0) < 0.
    step : float
        The first to try.
    enough : callable
        Asked after each trial: True takes the step as it is.

    Returns
    -------
    Trial or None
        The last trial made, so that what ``phi`` left behind belongs to it; None where no step was
        found, because the direction does not descend, or rounding errors hide the descent.
    """
    if not slope < 0.0:
        return None
    noise = NOISE * abs(value)

    def sufficient(trial: Trial) -> bool:
        return trial.value <= value + DECREASE * trial.step * slope

    def accepted(trial: Trial) -> bool:
        if not math.isfinite(trial.value):
            return False
        if sufficient(trial) and abs(trial.slope) <= -CURVATURE * slope:
            return True
        same = abs(trial.value - value) <= noise
        return same and CURVATURE * slope <= trial.slope <= (2 * DECREASE - 1) * slope

    low, high = Trial(0.0, value, slope), None
    for _ in range(MOST_TRIALS):
        trial = Trial(step, *phi(step))
        if accepted(trial) or enough():
            return trial
        # A minimum lies between `low`, the best so far from which it goes down, and `high`.
        descended = sufficient(trial) or (trial.slope < 0.0 and trial.value <= value + noise)
        if not (math.isfinite(trial.value) and descended) or (high and trial.value >= low.value):
            high = trial
        elif high is None and trial.slope < 0.0:
            step = _further(low, trial)
            low = trial
            continue
        else:
            if high is None or trial.slope * (high.step - low.step) >= 0.0:
                high = low
            low = trial
        step = _between(low, high)
        if step in (low.step, high.step):
            return None
    return None


def _further(before: Trial, low: Trial) -> float:
    """Return a longer step: where the slope would be 0 if it went on as it does."""
    bend = low.slope - before.slope
    guess = low.step - low.slope * (low.step - before.step) / bend if bend > 0.0 else math.inf
    return min(max(guess, 2.0 * low.step), STRETCH * low.step)


def _between(low: Trial, high: Trial) -> float:
    """Return a step inside the bracket, not at its ends: it has to shrink."""
    width = high.step - low.step
    if not math.isfinite(high.value):
        return low.step + 0.1 * width
    guess = _cubic_minimum(low, high)
    if math.isnan(guess):
        return low.step + 0.5 * width
    least, most = sorted((low.step + 0.1 * width, high.step - 0.1 * width))
    return min(max(guess, least), most)


def _cubic_minimum(a: Trial, b: Trial) -> float:
    """Return the minimum of the cubic through two points with their slopes; NaN without one."""
    with_slopes = a.slope + b.slope - 3.0 * (b.value - a.value) / (b.step - a.step)
    square = with_slopes**2 - a.slope * b.slope
    if square < 0.0:
        return math.nan
    root = math.copysign(math.sqrt(square), b.step - a.step)
    below = b.slope - a.slope + 2.0 * root
    if below == 0.0:
        return math.nan
    return b.step - (b.step - a.step) * (b.slope + root - with_slopes) / below
