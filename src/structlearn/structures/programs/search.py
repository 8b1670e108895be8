"""The search of a program: the linear relaxation first, then branch and bound if needed."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ...array_types import Vector
from ...exceptions import CapabilityError, ConflictError, InfeasibleError, UnboundedError
from ..base import Structure
from ..certificates import magnitude, proves
from ..checks import nothing_legal
from ..parts import dot_counts
from ..solution import Solution
from .answer import box_bound
from .conflicts import describe_conflict
from .part_scores import PartScores
from .rows import ProgramRows
from .solvers import open_model

#: A column is integral if it is this close to an integer; the solvers' own tolerance.
WHOLE = 1e-6


class ProgramSearch(PartScores):
    """The search for a program's best solution; the solvers' models stay in memory."""

    rows: ProgramRows
    #: The number of columns that are parts.
    n_parts: int
    #: The structure of the program, if any.
    structure: Structure | None
    #: The solver for branch and bound.
    solver: str
    _models: dict[str, Any]

    def _solution(
        self, theta: Vector, limit: float, method: str, *, explain: bool = True
    ) -> tuple[Solution, Vector]:
        """Return the solution and its parts as one vector.

        ``explain``: whether the error for an infeasible program names the constraints that
        contradict each other, which takes many more programs.
        """
        began = time.perf_counter()
        costs, lower, upper = self._costs(theta)
        bound = math.inf
        integer = bool(self.rows.integer.any())
        if method != "ilp" or not integer:
            linear = self._model_of("highs")
            answer = linear.solve(costs, lower, upper, integer=False, time_limit=limit)
            if answer.status in ("infeasible", "unbounded"):
                self._raise_unless_solved(answer, theta, integer=False, explain=explain)
            bound = answer.bound
            if answer.status == "optimal" and self._is_whole(answer.columns):
                best = self._finished(theta, answer.columns, bound, "linear program (highs)")
                if best[0].exact or method == "lp" or not integer:
                    return best
            if method == "lp" and answer.status == "optimal":
                raise CapabilityError(
                    "the linear relaxation is not whole here; relax() shows it, and "
                    'method="auto" goes on to branch and bound'
                )
            if not integer or method == "lp":
                self._raise_unless_solved(answer, theta, integer=False)
        model = self._model_of(self.solver)
        deadline = began + limit
        method = f"integer program ({model.name})"
        left = max(deadline - time.perf_counter(), 0.0)
        answer = model.solve(costs, lower, upper, integer=True, time_limit=left)
        if answer.columns is None:
            self._raise_unless_solved(answer, theta, integer=True, explain=explain)
        bound = min(bound, answer.bound)
        solution, parts = self._finished(theta, answer.columns, bound, method)
        if solution.exact or answer.status != "optimal":
            return solution, parts
        # The solver's tolerance is relative to the largest cost. Parts too expensive for any better
        # output need not set it.
        dear = (lower == 0) & (costs < solution.value - box_bound(costs, lower, upper))
        dear &= self._whole
        if not dear.any():
            return solution, parts
        costs, upper = np.where(dear, 0.0, costs), np.where(dear, 0.0, upper)
        left = max(deadline - time.perf_counter(), 0.0)
        again = model.solve(costs, lower, upper, integer=True, time_limit=left)
        if again.status != "optimal":
            return solution, parts
        bound = min(bound, max(solution.value, again.bound))
        return max(
            self._finished(theta, answer.columns, bound, method),
            self._finished(theta, again.columns, bound, method),
            key=lambda pair: pair[0].value,
        )

    def _finished(
        self, theta: Vector, columns: Vector, bound: float, method: str
    ) -> tuple[Solution, Vector]:
        """Return the output of the columns rounded to integers, exact if the bound proves it."""
        parts = columns[: self.n_parts].copy()
        whole = self._whole[: self.n_parts]
        parts[whole] = np.rint(parts[whole]) + 0.0  # no -0.0
        value = dot_counts(theta, parts)
        costs, lower, upper = self._costs(theta)
        trivial = box_bound(costs, lower, upper)
        every = costs[: self.n_parts] * np.maximum(1.0, np.abs(parts))
        used = float(np.abs(costs[: self.n_parts] * parts).sum())
        size = used + magnitude(every, max(trivial - value, 0.0))
        exact = proves(value, min(bound, trivial), size)
        bound = value if exact else max(value, bound)
        output = self.decode(self._unflat(parts))
        return Solution(output, value, exact, bound, method), parts

    @property
    def _whole(self) -> npt.NDArray[np.bool_]:
        """Which columns are integers in an output."""
        whole: npt.NDArray[np.bool_] = self.rows.integer.copy()
        whole[: self.n_parts] |= self.structure is not None
        return whole

    def _is_whole(self, columns: Vector) -> bool:
        rounded = np.where(self._whole, np.rint(columns), columns)
        if (np.abs(rounded - columns) > WHOLE).any():
            return False
        return self.rows.hold(rounded, 1e-5)

    def _raise_unless_solved(
        self, found: Any, theta: Vector, integer: bool, *, explain: bool = True
    ) -> None:
        if found.status == "infeasible" and not explain:
            raise nothing_legal()
        if found.status == "infeasible":
            raise ConflictError(*describe_conflict(self, theta, integer))
        if found.status == "unbounded":
            endless = np.flatnonzero(np.isinf(self.rows.column_upper[: self.n_parts]) & (theta > 0))
            named = ", ".join(self.part_name(i) for i in endless[:3])
            raise UnboundedError(
                f"the score is unbounded: {named or 'some parts'} can be arbitrarily "
                "large; give column_upper, or a row that bounds them"
            )
        if found.columns is None or (found.status != "optimal" and not integer):
            raise TimeoutError(
                f"no output was found within the time limit; none scores more than {found.bound:g}"
            )

    def _costs(self, theta: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the costs, lower and upper bounds of all columns: −∞ fixes a part at 0."""
        forbidden = np.flatnonzero(theta == -np.inf)
        costs = np.zeros(self.rows.n_columns)
        costs[: self.n_parts] = theta
        costs[forbidden] = 0.0
        lower, upper = self.rows.column_lower, self.rows.column_upper
        if len(forbidden):
            forced = forbidden[(lower[forbidden] > 0) | (upper[forbidden] < 0)]
            if len(forced):
                raise InfeasibleError(
                    f"no legal output is left: {self.part_name(int(forced[0]))} must be used and "
                    "is forbidden (its score is -inf)"
                )
            lower, upper = lower.copy(), upper.copy()
            lower[forbidden] = upper[forbidden] = 0.0
        return costs, lower, upper

    def _model_of(self, solver: str) -> Any:
        if solver not in self._models:
            self._models[solver] = open_model(solver, self.rows)
        return self._models[solver]
