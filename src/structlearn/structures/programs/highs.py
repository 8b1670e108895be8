"""Linear and integer programs through HiGHS, in memory; the model is reused between calls.

Reference: Q. Huangfu & J. A. J. Hall (2018), Parallelizing the dual revised simplex method.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...array_types import Vector
from .answer import Answer, box_bound, cost_scale, dual_bound

if TYPE_CHECKING:
    from .rows import ProgramRows

#: The tolerance for 0, and the one to use if the solver then gives up or finds nothing: the first
#: is close to rounding error. Below 1e-9, which HiGHS itself takes as rounding, its cuts remove
#: solutions, and branch and bound proves wrong optima (1 k-best list of a constrained chain in
#: 200).
_TOLERANCES = (1e-9, 1e-7)

#: If costs change by more than this share, starting afresh beats the old basis.
_NEW_COSTS = 0.5


class HighsModel:
    """max ⟨c, x⟩ over the rows and bounds of a program, both as an LP and as an integer program.

    The two are separate models in memory: the LP keeps its basis for the next costs, regardless of
    branch and bound. Only changes between calls are passed on.

    Parameters
    ----------
    rows : ProgramRows
        The rows, the bounds of the columns and which of them are integers.
    """

    name = "highs"

    def __init__(self, rows: ProgramRows) -> None:
        import highspy  # takes a tenth of a second: only if a program is solved

        self._highs = highspy
        self._rows = rows
        self._models: dict[bool, _Kept] = {}

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
        model = self._models.get(integer)
        if model is None:
            model = self._models[integer] = _Kept(self._highs, self._rows, integer)
        try:
            return model.solve(costs, lower, upper, time_limit)
        except KeyboardInterrupt:
            del self._models[integer]  # a cancelled model stays so
            raise

    def feasible(
        self,
        rows: npt.NDArray[np.bool_],
        lower: Vector,
        upper: Vector,
        *,
        integer: bool,
        time_limit: float,
    ) -> bool | None:
        """Tell whether the given rows have a solution; None if time is out."""
        model = _Kept(self._highs, self._rows.chosen(rows), integer)
        status = model.solve(np.zeros(len(upper)), lower, upper, time_limit).status
        return None if status == "time limit" else status != "infeasible"

    def dual_ray(self) -> Vector | None:
        """Return row multipliers that prove the last LP infeasible, if there are any."""
        model = self._models.get(False)
        if model is None:
            return None
        try:
            _, there, ray = model.highs.getDualRay()
        except (RuntimeError, ValueError, TypeError):
            return None
        return np.asarray(ray) if there else None


class _Kept:
    """A model that stays in memory."""

    def __init__(self, highspy: Any, rows: ProgramRows, integer: bool) -> None:
        self.rows = rows.scaled
        matrix = self.rows.matrix.tocsc()
        n = matrix.shape[1]
        self.lower, self.upper = rows.column_lower.copy(), rows.column_upper.copy()
        self.costs: Vector = np.zeros(n)
        self.integer = integer
        self._tolerance = math.nan
        self._presolve = rows.presolve
        self._every = np.arange(n, dtype=np.int32)
        self._highspy = highspy
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = n, matrix.shape[0]
        lp.col_cost_ = self.costs
        lp.col_lower_, lp.col_upper_ = self.lower, self.upper
        lp.row_lower_, lp.row_upper_ = self.rows.lower, self.rows.upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = matrix.indptr
        lp.a_matrix_.index_ = matrix.indices
        lp.a_matrix_.value_ = matrix.data
        lp.sense_ = highspy.ObjSense.kMaximize
        if integer:
            kinds = np.where(rows.integer, 1, 0)
            types = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [types[kind] for kind in kinds]
        self.highs = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,  # the same answer on every machine
            "random_seed": 0,
            # The simplex method on programs of structures finishes before presolve does.
            "presolve": "choose" if integer and rows.presolve else "off",
            "mip_rel_gap": 0.0,
        }.items():
            self.highs.setOptionValue(option, value)
        self._stop = _Stop()
        if integer:
            # Not in the simplex method, which would call it at every step.
            self.highs.cbMipInterrupt += self._stop
        if self.highs.passModel(lp) == highspy.HighsStatus.kError:
            raise ValueError("the solver does not take this program: its numbers are out of range")

    def solve(self, costs: Vector, lower: Vector, upper: Vector, time_limit: float) -> Answer:
        """Maximise these costs, within these bounds of the columns."""
        began = time.perf_counter()
        highs, statuses = self.highs, self._highspy.HighsModelStatus
        scale = cost_scale(costs, _TOLERANCES[0])
        self._pass_on(costs * scale, lower, upper)
        limit = max(time_limit - (time.perf_counter() - began), 0.0)
        # The clock of the simplex method runs on between calls, that of branch and bound does not.
        already = 0.0 if self.integer else highs.getRunTime()
        highs.setOptionValue("time_limit", min(already + limit, 1e20))
        if self.integer:
            # The jump checks the time limit only at its end.
            jump = self._presolve and math.isinf(time_limit)
            highs.setOptionValue("mip_heuristic_run_feasibility_jump", jump)
        # Trust "infeasible" only at the wider tolerance: at the narrow one the solver may call a
        # program infeasible although its solutions only violate it by rounding.
        doubtful = {statuses.kNotset, statuses.kUnknown, statuses.kSolveError}
        doubtful |= {statuses.kInfeasible, statuses.kUnboundedOrInfeasible}
        for tolerance in _TOLERANCES:
            self._set_tolerance(tolerance)
            self._run()
            status = highs.getModelStatus()
            if status not in doubtful:
                break
            highs.clearSolver()
        info = highs.getInfo()
        if status == statuses.kUnboundedOrInfeasible:
            # Without costs nothing is unbounded.
            self._pass_on(np.zeros(len(costs)), lower, upper)
            highs.run()
            empty = highs.getModelStatus() == statuses.kInfeasible
            return Answer("infeasible" if empty else "unbounded", None, math.inf)
        if status == statuses.kInfeasible:
            return Answer("infeasible", None, -math.inf)
        if status == statuses.kUnbounded:
            return Answer("unbounded", None, math.inf)
        if status == statuses.kModelEmpty:  # no rows and no columns
            return Answer("optimal", np.zeros(len(costs)), 0.0)
        bound = info.mip_dual_bound + tolerance  # its tolerance for the optimum
        if status == statuses.kOptimal:
            solution = highs.getSolution()
            if not self.integer:
                multipliers = np.array(solution.row_dual)
                bound = dual_bound(self.rows, self.costs, lower, upper, multipliers)
            return Answer("optimal", np.array(solution.col_value), bound / scale)
        if status not in (statuses.kTimeLimit, statuses.kInterrupt, statuses.kSolutionLimit):
            raise RuntimeError(
                f"the solver gave up: {highs.modelStatusToString(status)}; "
                "scores or coefficients of very different sizes are a common reason"
            )
        incumbent = None
        if self.integer and math.isfinite(info.objective_function_value):
            columns = np.array(highs.getSolution().col_value)
            incumbent = columns if len(columns) == len(costs) else None
        if not self.integer or not math.isfinite(bound):
            return Answer("time limit", incumbent, box_bound(costs, lower, upper))
        return Answer("time limit", incumbent, bound / scale)

    def _set_tolerance(self, tolerance: float) -> None:
        if tolerance == self._tolerance:
            return
        self._tolerance = tolerance
        names = ("mip_feasibility", "primal_feasibility", "dual_feasibility")
        for option in ("mip_abs_gap", *(f"{name}_tolerance" for name in names)):
            self.highs.setOptionValue(option, tolerance)

    def _run(self) -> None:
        """Run the solver; Ctrl-C ends branch and bound, which can take very long."""
        if not self.integer or threading.current_thread() is not threading.main_thread():
            self.highs.run()
            return
        self.highs.startSolve()  # on its own thread: signals arrive at this one
        try:
            self._wait()
        except KeyboardInterrupt:
            self._stop.wanted = True
            self._wait()
            raise

    def _wait(self) -> None:
        while not self.highs.wait(0.1)[0]:
            pass

    def _pass_on(self, costs: Vector, lower: Vector, upper: Vector) -> None:
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper)).astype(np.int32)
        if len(changed):
            self.highs.changeColsBounds(len(changed), changed, lower[changed], upper[changed])
            self.lower[changed], self.upper[changed] = lower[changed], upper[changed]
        if np.array_equal(costs, self.costs):
            return
        size = float(np.abs(costs).max())
        if not self.integer and np.abs(costs - self.costs).mean() > _NEW_COSTS * size / 8:
            self.highs.clearSolver()
        self.highs.changeColsCost(len(costs), self._every, costs)
        self.costs = costs


class _Stop:
    """The callback that stops branch and bound; no reference to the solver, which owns it."""

    wanted = False

    def __call__(self, event: Any) -> None:
        if self.wanted:
            event.interrupt()
