"""What every solver gives back, and numbers of a size that its tolerances suit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...array_types import Vector
from ..certificates import largest_of, power_of_two, rounding

if TYPE_CHECKING:
    from .rows import ProgramRows

#: The largest cost in units of what a solver takes for 0: absolute tolerances are all they have.
_LARGEST_COST = 2.0**49


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


def cost_scale(costs: Vector, tolerance: float) -> float:
    """Return a power of two that brings the largest cost to a size that suits the tolerance."""
    return power_of_two(largest_of(costs), _LARGEST_COST * tolerance)


def box_bound(costs: Vector, lower: Vector, upper: Vector) -> float:
    """Return the largest objective that the bounds of the columns alone allow."""
    used = costs != 0
    return float(np.maximum(costs[used] * lower[used], costs[used] * upper[used]).sum())


def dual_bound(
    rows: ProgramRows, costs: Vector, lower: Vector, upper: Vector, multipliers: Vector
) -> float:
    """Return a bound of ⟨costs, x⟩ that holds whatever the multipliers of the rows are.

    ⟨c, x⟩ = ⟨y, A x⟩ + ⟨c − Aᵀy, x⟩ is at most what each row and each column allows by itself. It
    is the optimum for the best y; no tolerance of the solver that found y is in it.
    """
    y = np.where(np.isinf(np.where(multipliers > 0, rows.upper, rows.lower)), 0.0, multipliers)
    reduced = costs - rows.matrix.T @ y
    # A column without end whose reduced cost is rounding, and no more, costs nothing.
    terms = np.abs(costs) + abs(rows.matrix).T @ np.abs(y)
    endless = np.isinf(np.where(reduced > 0, upper, lower))
    reduced[endless & (np.abs(reduced) <= rounding(1.0) * terms)] = 0.0
    return box_bound(y, rows.lower, rows.upper) + box_bound(reduced, lower, upper)
