"""Integer programs through Gurobi, an optional extra; the model is reused between calls."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...array_types import Vector
from .answer import Answer, box_bound, cost_scale

if TYPE_CHECKING:
    from .rows import ProgramRows

#: The tolerance for 0: the smallest that Gurobi accepts.
_TOLERANCE = 1e-9

#: The most columns, and rows, that the licence in the package allows.
_FREE_SIZE = 2000


@functools.cache
def _is_licensed() -> bool:
    """Tell whether programs of any size are licensed, by solving one just over the limit."""
    import gurobipy

    try:
        model = gurobipy.Model(env=gurobipy.Env(params={"OutputFlag": 0}))
        model.addMVar(_FREE_SIZE + 1)
        model.optimize()
    except gurobipy.GurobiError:
        return False
    return True


class GurobiModel:
    """max ⟨c, x⟩ over the rows and bounds of a program.

    Parameters
    ----------
    rows : ProgramRows
        The rows, the bounds of the columns and which of them are integers.
    """

    name = "gurobi"

    def __init__(self, rows: ProgramRows) -> None:
        import gurobipy

        self._gurobi: Any = gurobipy
        environment = gurobipy.Env(params={"OutputFlag": 0})
        self._model: Any = gurobipy.Model(env=environment)
        # The same answer on every machine, and proven to the last digit.
        for name, value in {
            "Threads": 1,
            "Seed": 0,
            "MIPGap": 0.0,
            "MIPGapAbs": _TOLERANCE,
            "IntFeasTol": _TOLERANCE,
            "FeasibilityTol": _TOLERANCE,
            "OptimalityTol": _TOLERANCE,
        }.items():
            self._model.setParam(name, value)
        scaled = rows.scaled
        kinds = np.where(rows.integer, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS)
        self._columns: Any = self._model.addMVar(
            rows.n_columns, lb=rows.column_lower, ub=rows.column_upper, vtype=kinds
        )
        for bound, sign in ((scaled.lower, 1.0), (scaled.upper, -1.0)):
            finite = np.isfinite(bound)
            if finite.any():
                left = sign * scaled.matrix[finite]
                self._model.addConstr(left @ self._columns >= sign * bound[finite])
        self._model.update()

    @classmethod
    def if_licensed(cls, rows: ProgramRows) -> GurobiModel | None:
        """Return a model, or None if no licence allows one of this size."""
        import gurobipy

        if max(rows.n_columns, rows.n_rows) > _FREE_SIZE and not _is_licensed():
            return None
        try:
            model = cls(rows)
            model._model.setParam("TimeLimit", 0.0)
            model._model.optimize()
        except gurobipy.GurobiError:
            return None
        return model

    def solve(
        self,
        costs: Vector,
        lower: Vector,
        upper: Vector,
        *,
        integer: bool,
        time_limit: float = math.inf,
    ) -> Answer:
        """Return the best columns within these bounds."""
        grb = self._gurobi.GRB
        model = self._model
        self._columns.lb, self._columns.ub = lower, upper
        scale = cost_scale(costs, _TOLERANCE)
        model.setObjective((costs * scale) @ self._columns, grb.MAXIMIZE)
        # The same scores give the same answer, whatever was solved before.
        model.reset()
        model.setParam("TimeLimit", min(time_limit, 1e100))
        model.setParam("DualReductions", 0)  # to distinguish infeasible from unbounded
        try:
            model.optimize()
        except self._gurobi.GurobiError as error:
            raise RuntimeError(f'Gurobi refused: {error}; solver="highs" has no limit') from error
        if model.Status == grb.INFEASIBLE:
            return Answer("infeasible", None, -math.inf)
        if model.Status == grb.UNBOUNDED:
            return Answer("unbounded", None, math.inf)
        if model.Status == grb.INTERRUPTED:
            raise KeyboardInterrupt
        if model.Status not in (grb.OPTIMAL, grb.TIME_LIMIT):
            raise RuntimeError(f"the solver gave up with Gurobi's status {model.Status}")
        columns = np.asarray(self._columns.X) if model.SolCount else None
        bound = (float(model.ObjBound) + _TOLERANCE) / scale  # its tolerance for the optimum
        if model.Status == grb.OPTIMAL:
            return Answer("optimal", columns, bound)
        return Answer("time limit", columns, min(bound, box_bound(costs, lower, upper)))
