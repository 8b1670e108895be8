"""How a program is solved: the linear relaxation first, branch and bound where it is not whole."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ...exceptions import CapabilityError, ConflictError, InfeasibleError, UnboundedError
from ..base import Solution, Structure, dot_counts
from .conflicts import describe_conflict
from .part_scores import PartScores
from .rows import ProgramRows
from .solvers import open_model

__all__ = ["WHOLE", "ProgramSearch"]

Vector = npt.NDArray[np.float64]

#: A column is whole if it is this close to a whole number; the solvers' own tolerance.
WHOLE = 1e-6


class ProgramSearch(PartScores):
    """The search for a program's best solution, with the solvers' models kept in memory."""

    rows: ProgramRows
    #: How many of the columns are parts.
    n_parts: int
    #: Whose program it is, if any.
    structure: Structure | None
    #: Who does branch and bound.
    solver: str
    _models: dict[str, Any]

    def _solution(self, theta: Vector, limit: float, method: str) -> tuple[Solution, Vector]:
        """Return the solution and its parts as one vector."""
        began = time.perf_counter()
        costs, upper = self._costs(theta)
        bound = math.inf
        integer = bool(self.rows.integer.any())
        if method != "ilp" or not integer:
            found = self._model_of("highs").solve(costs, upper, integer=False, time_limit=limit)
            if found.status in ("infeasible", "unbounded"):
                self._raise_unless_solved(found, theta, integer=False)
            bound = found.bound
            if found.status == "optimal" and self._is_whole(found.columns):
                return self._finished(theta, found.columns, True, bound, "linear program (highs)")
            if method == "lp" and found.status == "optimal":
                raise CapabilityError(
                    "the linear relaxation is not whole here; relax() shows it, and "
                    'method="auto" goes on to branch and bound'
                )
            if not integer or method == "lp":
                self._raise_unless_solved(found, theta, integer=False)
        left = max(limit - (time.perf_counter() - began), 0.0)
        model = self._model_of(self.solver)
        found = model.solve(costs, upper, integer=True, time_limit=left)
        if found.columns is None:
            self._raise_unless_solved(found, theta, integer=True)
        return self._finished(
            theta,
            found.columns,
            found.status == "optimal",
            min(bound, found.bound),
            f"integer program ({model.name})",
        )

    def _finished(
        self, theta: Vector, columns: Vector, exact: bool, bound: float, method: str
    ) -> tuple[Solution, Vector]:
        parts = columns[: self.n_parts].copy()
        whole = self.rows.integer[: self.n_parts] | (self.structure is not None)
        parts[whole] = np.rint(parts[whole]) + 0.0  # no -0.0
        value = dot_counts(theta, parts)
        solution = Solution(
            self.decode(self._unflat(parts)),
            value,
            exact,
            value if exact else max(value, bound),
            method,
        )
        return solution, parts

    def _is_whole(self, columns: Vector) -> bool:
        whole = self.rows.integer.copy()
        if self.structure is not None:
            whole[: self.n_parts] = True
        rounded = np.where(whole, np.rint(columns), columns)
        if (np.abs(rounded - columns) > WHOLE).any():
            return False
        return self.rows.hold(rounded, 1e-5)

    def _raise_unless_solved(self, found: Any, theta: Vector, integer: bool) -> None:
        if found.status == "infeasible":
            raise ConflictError(*describe_conflict(self, theta, integer))
        if found.status == "unbounded":
            endless = np.flatnonzero(np.isinf(self.rows.column_upper[: self.n_parts]) & (theta > 0))
            named = ", ".join(self.part_name(i) for i in endless[:3])
            raise UnboundedError(
                f"the score grows without end: {named or 'some parts'} can be as large as one "
                "likes; give column_upper, or a row that bounds them"
            )
        if found.columns is None or (found.status != "optimal" and not integer):
            raise TimeoutError(
                f"no output was found within the time limit; none scores more than {found.bound:g}"
            )

    def _costs(self, theta: Vector) -> tuple[Vector, Vector]:
        """Return the costs and upper bounds of all columns: −∞ becomes an upper bound of 0."""
        forbidden = np.flatnonzero(theta == -np.inf)
        costs = np.zeros(self.rows.n_columns)
        costs[: self.n_parts] = theta
        costs[forbidden] = 0.0
        upper = self.rows.column_upper
        if len(forbidden):
            upper = upper.copy()
            upper[forbidden] = np.minimum(0.0, upper[forbidden])
            forced = forbidden[self.rows.column_lower[forbidden] > 0]
            if len(forced):
                raise InfeasibleError(
                    f"{self.part_name(int(forced[0]))} must be used and is forbidden (its score is "
                    "-inf)"
                )
        return costs, upper

    def _model_of(self, solver: str) -> Any:
        if solver not in self._models:
            self._models[solver] = open_model(solver, self.rows)
        return self._models[solver]
