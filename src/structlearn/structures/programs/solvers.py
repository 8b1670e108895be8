"""Who solves a program: HiGHS, or Gurobi where it is installed and licensed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from .gurobi import GurobiModel
from .highs import HighsModel
from .rows import ProgramRows

__all__ = ["open_model"]


def open_model(solver: str, rows: ProgramRows) -> Any:
    """Return a model in the memory of the named solver."""
    if solver == "highs":
        return HighsModel(rows)
    if solver == "gurobi":
        if find_spec("gurobipy") is None:
            raise ImportError(
                'solver="gurobi" needs gurobipy (pip install "structlearn[gurobi]"); '
                'solver="highs" is always there'
            )
        return GurobiModel(rows)
    if solver != "auto":
        raise ValueError(f'solver must be "auto", "highs" or "gurobi", got {solver!r}')
    if find_spec("gurobipy") is not None:
        model = GurobiModel.if_licensed(rows)
        if model is not None:
            return model
    return HighsModel(rows)
