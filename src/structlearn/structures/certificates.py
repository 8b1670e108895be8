"""When a bound proves that a value is the best, whatever the size of the scores.

What is left between a value and a bound is compared with the rounding of the sums that both are
made of: no tolerance is a number of its own. Searches whose tolerances are absolute read scores
without offsets and times a power of two, which changes no digit.
"""

from __future__ import annotations

import math

import numpy as np

from ..array_types import Array

#: Rounding of a bound and of a value, in units of the last place of the terms' magnitudes.
_ULPS = 16.0


def rounding(size: float) -> float:
    """Return what rounding may do to a sum of terms whose magnitudes add up to ``size``."""
    return _ULPS * float(np.finfo(np.float64).eps) * size


def proves(value: float, bound: float, size: float) -> bool:
    """Tell whether a bound proves that a value is the largest.

    Parameters
    ----------
    size : float
        The magnitudes of the terms that both are made of, added up.
    """
    return bound - value <= rounding(size)


def magnitude(scores: Array, most: float) -> float:
    """Return the sum of the finite scores' magnitudes, each at most ``most``.

    A score that is further below the largest than the value found is from its trivial bound, the
    sum of all that is best by itself, is part of no better output. It stands in for −∞, and its
    size says nothing about rounding.
    """
    return float(np.minimum(magnitudes(scores), most).sum())


def magnitudes(scores: Array) -> Array:
    """Return the magnitude of each score, 0 where it is −∞."""
    sizes: Array = np.abs(scores)
    if np.isinf(sizes.max(initial=0.0)):
        sizes[np.isinf(sizes)] = 0.0
    return sizes


def largest_of(scores: Array) -> float:
    """Return the largest magnitude of the finite scores, 0 where there are none."""
    return float(magnitudes(scores).max(initial=0.0))


def power_of_two(largest: float, target: float = 1.0) -> float:
    """Return the power of two that gives a number the exponent of a target; 1 where it is 0.

    With the target 1, numbers come to lie from 1 to below 2.
    """
    if not 0 < largest < math.inf:
        return 1.0
    exponent = math.frexp(target)[1] - math.frexp(largest)[1]
    return math.ldexp(1.0, max(-1000, min(exponent, 1000)))
