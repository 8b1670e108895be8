"""Proofs that a value is the best, by a bound, for scores of any size.

The gap between a value and a bound is compared with the rounding errors of their sums, not with a
fixed tolerance. Searches with absolute tolerances get scores without offsets and scaled by a power
of two, which is exact.
"""

from __future__ import annotations

import math

import numpy as np

from ..array_types import Array

#: Rounding error of a bound and of a value, in units in the last place of the terms' magnitudes.
_ULPS = 16.0


def rounding(size: float) -> float:
    """Return the possible rounding error of a sum of terms with total magnitude ``size``."""
    return _ULPS * float(np.finfo(np.float64).eps) * size


def proves(value: float, bound: float, size: float) -> bool:
    """Tell whether a bound proves that a value is the largest.

    Parameters
    ----------
    size : float
        The total magnitude of the terms of both.
    """
    return bound - value <= rounding(size)


def magnitude(scores: Array, most: float) -> float:
    """Return the sum of the finite scores' magnitudes, each at most ``most``.

    A score may be so far below the largest that no output with it can beat the value found (by the
    trivial bound, the sum of all maxima). It then acts as −∞, and its size must not count as
    rounding.
    """
    return float(np.minimum(magnitudes(scores), most).sum())


def magnitudes(scores: Array) -> Array:
    """Return the magnitude of each score, 0 for −∞."""
    sizes: Array = np.abs(scores)
    if np.isinf(sizes.max(initial=0.0)):
        sizes[np.isinf(sizes)] = 0.0
    return sizes


def largest_of(scores: Array) -> float:
    """Return the largest magnitude of the finite scores, 0 if there are none."""
    return float(magnitudes(scores).max(initial=0.0))


def power_of_two(largest: float, target: float = 1.0) -> float:
    """Return the power of two that scales a number to the exponent of a target; 1 for 0.

    With the target 1, numbers end up from 1 to below 2.
    """
    if not 0 < largest < math.inf:
        return 1.0
    exponent = math.frexp(target)[1] - math.frexp(largest)[1]
    return math.ldexp(1.0, max(-1000, min(exponent, 1000)))
