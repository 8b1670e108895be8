"""The solvers of programs: HiGHS, or Gurobi if it is installed and licensed."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np

from .gurobi import GurobiModel
from .highs import HighsModel
from .rows import ProgramRows


def seconds_of(time_limit: Any) -> float:
    """Return a time limit as a number, ∞ for None."""
    if time_limit is None:
        return math.inf
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float, np.number)):
        raise TypeError(f"time_limit must be a number of seconds, got {time_limit!r}")
    if not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds >= 0, got {time_limit!r}")
    return float(time_limit)


def check_solver(solver: str) -> None:
    """Refuse a solver that is unknown or not installed."""
    if solver not in ("auto", "highs", "gurobi"):
        raise ValueError(f'solver must be "auto", "highs" or "gurobi", got {solver!r}')
    if solver == "gurobi" and find_spec("gurobipy") is None:
        raise ImportError(
            'solver="gurobi" needs gurobipy (pip install "structlearn[gurobi]"); '
            'solver="highs" is always available'
        )


def open_model(solver: str, rows: ProgramRows) -> Any:
    """Return a model of the named solver."""
    check_solver(solver)
    if solver == "gurobi":
        return GurobiModel(rows)
    if solver == "auto" and find_spec("gurobipy") is not None:
        model = GurobiModel.if_licensed(rows)
        if model is not None:
            return model
    return HighsModel(rows)
