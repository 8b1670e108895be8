"""What every solver gives back, and the size of costs that its tolerances suit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Answer", "box_bound", "cost_scale"]

Vector = npt.NDArray[np.float64]

#: Costs are brought into this range, where the solvers' absolute tolerances mean something.
_LEAST_COST, _LARGEST_COST = 64.0, 1e9


@dataclass
class Answer:
    """What a solver found.

    Attributes
    ----------
    status : str
        "optimal", "infeasible", "unbounded" or "time limit".
    columns : array or None
        The values of the columns, None where there is no solution.
    bound : float
        No solution has a larger objective than this.
    """

    status: str
    columns: Vector | None
    bound: float


def cost_scale(costs: Vector) -> float:
    """Return a power of two that brings the largest cost into a range the tolerances suit."""
    largest = float(np.abs(costs).max(initial=0.0))
    if largest == 0 or _LEAST_COST <= largest <= _LARGEST_COST:
        return 1.0
    target = _LEAST_COST if largest < _LEAST_COST else _LARGEST_COST
    return float(2.0 ** math.floor(math.log2(target) - math.log2(largest)))


def box_bound(costs: Vector, lower: Vector, upper: Vector) -> float:
    """Return the largest objective that the bounds of the columns alone allow."""
    used = costs != 0
    return float(np.maximum(costs[used] * lower[used], costs[used] * upper[used]).sum())
