"""The result of a solver, and scaling of costs to suit the solvers' tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...array_types import Vector
from ..certificates import largest_of, power_of_two, rounding

if TYPE_CHECKING:
    from .rows import ProgramRows

#: The largest cost, in units of a solver's tolerance for 0: solvers only have absolute tolerances.
_LARGEST_COST = 2.0**49


@dataclass
class Answer:
    """The result of a solver.

    Attributes
    ----------
    status : str
        "optimal", "infeasible", "unbounded" or "time limit".
    columns : array or None
        The values of the columns, None if there is no solution.
    bound : float
        An upper bound of the objective of all solutions.
    """

    status: str
    columns: Vector | None
    bound: float


def cost_scale(costs: Vector, tolerance: float) -> float:
    """Return a power of two that scales the largest cost to suit the tolerance."""
    return power_of_two(largest_of(costs), _LARGEST_COST * tolerance)


def box_bound(costs: Vector, lower: Vector, upper: Vector) -> float:
    """Return the largest objective within the bounds of the columns alone."""
    used = costs != 0
    return float(np.maximum(costs[used] * lower[used], costs[used] * upper[used]).sum())


def dual_bound(
    rows: ProgramRows, costs: Vector, lower: Vector, upper: Vector, multipliers: Vector
) -> float:
    """Return a bound of ⟨costs, x⟩ that holds for any multipliers of the rows.

    ⟨c, x⟩ = ⟨y, A x⟩ + ⟨c − Aᵀy, x⟩ is at most the sum of the bounds of each row and each column.
    It is the optimum for the best y, and does not depend on the tolerance with which y was found.
    """
    y = np.where(np.isinf(np.where(multipliers > 0, rows.upper, rows.lower)), 0.0, multipliers)
    reduced = costs - rows.matrix.T @ y
    # An unbounded column whose reduced cost is only rounding error costs nothing.
    terms = np.abs(costs) + abs(rows.matrix).T @ np.abs(y)
    endless = np.isinf(np.where(reduced > 0, upper, lower))
    reduced[endless & (np.abs(reduced) <= rounding(1.0) * terms)] = 0.0
    return box_bound(y, rows.lower, rows.upper) + box_bound(reduced, lower, upper)
