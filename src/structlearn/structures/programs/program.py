"""Parts under linear constraints: the integer program, the most general argmax (§17.6)."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...array_types import Vector
from ...exceptions import CapabilityError, InfeasibleError
from ..base import Structure
from ..checks import nothing_legal
from ..parts import Block, dot_counts, flatten, part_of
from ..score_arrays import as_scores
from .relaxation import Relaxation
from .rows import ProgramRows, RowBuilder
from .search import WHOLE, ProgramSearch
from .solvers import check_solver, open_model, seconds_of

__all__ = ["Program", "Relaxation"]

#: The most outputs to enumerate.
_MOST_OUTPUTS = 2**20


class Program(ProgramSearch):
    """0/1 parts (or other whole numbers) under linear constraints: lower ≤ A x ≤ upper.

    argmax is max ⟨part, x⟩ over the integer points. The linear relaxation is solved first, by the
    simplex method; if its solution is integral it is the answer, otherwise branch and bound
    continues. The model stays in memory, so a call with other scores only passes new costs and
    starts from the last basis. A score of −∞ fixes its part at 0.

    Score block: ``part`` (P,), or the blocks of the program's structure
    (:meth:`Structure.as_program`). The output is the (P,) vector, or the structure's output.

    Parameters
    ----------
    A : (rows, P + helpers) sparse or dense matrix
        Coefficients. Columns after the parts are helpers: free variables without scores.
    lower, upper : number or (rows,)
        Bounds of the rows, −∞ or ∞ if there is none.
    n_parts : int, optional
        The number of columns that are parts; default: all.
    integer : bool or (columns,) of bool, default=True
        Which columns are integers.
    column_lower, column_upper : number or (columns,)
        Bounds of the columns; default 0 and 1.
    names : sequence of str, optional
        Names of the rows, for messages about infeasible programs.
    solver : {"auto", "highs", "gurobi"}
        The solver for branch and bound; "auto" chooses Gurobi if it is installed and licensed.
        Linear relaxations are solved by HiGHS.
    time_limit : float, optional
        Time limit of a call in seconds. The best output so far is returned, with its bound;
        ``TimeoutError`` is raised if there is none.

    References
    ----------
    H. Daumé III, A Course in Machine Learning, §17.6, eq. 17.33-34.

    Examples
    --------
    At most two of three things, and not the first with the second:

    >>> program = Program([[1, 1, 1], [1, 1, 0]], 0, [2, 1])
    >>> program.argmax(part=[3.0, 2.0, 1.0])
    array([1, 0, 1])
    >>> program.solve(part=[3.0, 2.0, 1.0]).exact
    True
    """

    method = "integer program"
    has_labels = False
    label_block = "part"

    takes_time_limit = True

    def __init__(
        self,
        A: Any,
        lower: Any,
        upper: Any,
        *,
        n_parts: int | None = None,
        integer: Any = True,
        column_lower: Any = 0.0,
        column_upper: Any = 1.0,
        names: Sequence[str] | None = None,
        solver: str = "auto",
        time_limit: float | None = None,
    ) -> None:
        rows = ProgramRows(
            A,
            lower,
            upper,
            column_lower=column_lower,
            column_upper=column_upper,
            integer=integer,
            names=names,
        )
        size = rows.n_columns if n_parts is None else n_parts
        if not 0 < size <= rows.n_columns:
            raise ValueError(f"n_parts is {n_parts}; A has {rows.n_columns} columns")
        self._setup(rows, {"part": (int(size),)}, solver, time_limit)

    def _setup(
        self,
        rows: ProgramRows,
        shapes: Mapping[str, tuple[int, ...]],
        solver: str = "auto",
        time_limit: float | None = None,
        structure: Structure | None = None,
        given: Mapping[str, Any] | None = None,
        topology: Mapping[str, Any] | None = None,
    ) -> None:
        seconds_of(time_limit)
        check_solver(solver)
        self.rows = rows
        self.shapes = dict(shapes)
        self.n_parts = sum(math.prod(shape) for shape in self.shapes.values())
        self.solver = solver
        self.time_limit = time_limit
        self.structure = structure
        self.given = dict(given or {})
        self.given_topology = dict(topology or {})
        self._forget()

    def _forget(self) -> None:
        self._models: dict[str, Any] = {}
        self._lock = threading.Lock()

    @classmethod
    def of_structure(
        cls,
        structure: Structure,
        rows: RowBuilder,
        scores: Mapping[str, Any],
        topology: Mapping[str, Any] | None = None,
    ) -> Program:
        """Return the program of a structure, with default scores."""
        program = cls.__new__(cls)
        program._setup(
            rows.build(), rows.shapes, structure=structure, given=scores, topology=topology
        )
        return program

    def with_rows(
        self,
        A: Any,
        lower: Any,
        upper: Any,
        names: Sequence[str] | None = None,
        n_helpers: int = 0,
    ) -> Program:
        """Return this program with more constraints; A may leave out columns at the end.

        ``n_helpers`` new helper columns, from 0 to 1, come after the existing ones.
        """
        program = type(self).__new__(type(self))
        program._setup(
            self.rows.with_rows(A, lower, upper, names, n_helpers),
            self.shapes,
            self.solver,
            self.time_limit,
            self.structure,
            self.given,
            self.given_topology,
        )
        return program

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("_models", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    # -- parts ----------------------------------------------------------------------------------

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks: each part is a site with one outcome."""
        if self.structure is not None:
            blocks = self.structure.blocks(n_labels)
            return {name: blocks[name] for name in self.shapes}
        return {"part": Block(())}

    def encode(self, y: Any, **scores: Any) -> Any:
        """Return the parts of an output, by block and position; a list for a batch."""
        if self.structure is not None:
            theta = self._merged(scores)
            return self.structure.encode_by_position(y, **theta, **self.given_topology)
        if scores:
            self._flat(scores)
        vector = as_scores("the output", y)
        if vector.shape != (self.n_parts,):
            raise ValueError(f"the output has shape {vector.shape}, not ({self.n_parts},)")
        return {"part": vector.copy()}

    def decode(self, parts: Any) -> Any:
        """Return the output with these parts; a list for a list."""
        if self.structure is not None:
            return self.structure.decode(parts)
        vector = part_of(parts, "part")
        if self.rows.integer[: self.n_parts].all():
            return np.rint(vector).astype(np.int64)
        return vector

    def score(self, y: Any, **scores: Any) -> Any:
        """Return ⟨θ, μ(y)⟩, −∞ if a forbidden part is used; a list for a batch."""
        counts = self.encode(y, **scores)
        return dot_counts(
            self._flat(scores), np.concatenate([np.ravel(a) for a in counts.values()])
        )

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over the outputs; for small programs of bounded whole-number parts only."""
        if self.structure is not None:
            theta = self._merged(scores)
            for y in self.structure.outputs(**theta, **self.given_topology):
                if self._legal(flatten(self.encode(y, **theta))):
                    yield y
            return
        low, high = self.rows.column_lower[: self.n_parts], self.rows.column_upper[: self.n_parts]
        sizes = high - low + 1
        if not self.rows.integer[: self.n_parts].all() or not sizes.prod() <= _MOST_OUTPUTS:
            raise CapabilityError(
                "this program cannot be enumerated: it has too many vectors, or parts that are not "
                "integers. What works: argmax, solve, kbest, relax"
            )
        ranges = [range(int(a), int(b) + 1) for a, b in zip(low, high, strict=True)]
        for values in itertools.product(*ranges):
            if self._legal(np.array(values, dtype=np.float64)):
                yield np.array(values, dtype=np.int64)

    def _legal(self, parts: Vector) -> bool:
        """Tell whether the parts can be completed by helpers to a solution."""
        rows = self.rows
        if rows.n_columns == self.n_parts:
            return rows.hold(parts)
        fixed = slice(0, self.n_parts)
        completion = ProgramRows(
            rows.matrix,
            rows.lower,
            rows.upper,
            column_lower=np.concatenate((parts, rows.column_lower[self.n_parts :])),
            column_upper=np.concatenate((parts, rows.column_upper[self.n_parts :])),
            integer=rows.integer,
        )
        inside = (parts >= rows.column_lower[fixed]) & (parts <= rows.column_upper[fixed])
        if not inside.all():
            return False
        model = open_model("highs", completion)
        answer = model.solve(
            np.zeros(rows.n_columns),
            completion.column_lower,
            completion.column_upper,
            integer=True,
        )
        return bool(answer.status == "optimal")

    # -- the queries ----------------------------------------------------------------------------

    def argmax(
        self, *, time_limit: float | None = None, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return the best output; a list of them for a batch."""
        solution = self.solve(time_limit=time_limit, n_jobs=n_jobs, **scores)
        return [s.output for s in solution] if isinstance(solution, list) else solution.output

    def solve(self, *, time_limit: float | None = None, method: str = "auto", **scores: Any) -> Any:
        """Return the best output with its value and a certificate: a :class:`Solution`.

        Parameters
        ----------
        time_limit : float, optional
            Seconds, instead of the program's own limit.
        method : {"auto", "ilp", "lp"}
            "auto" solves the linear relaxation first; "ilp" starts with branch and bound; "lp"
            requires the relaxation to be integral, and raises ``CapabilityError`` if it is not.
        **scores : arrays
            One per block; by default those of the program.
        """
        if method not in ("auto", "ilp", "lp"):
            raise ValueError(f'method must be "auto", "ilp" or "lp", got {method!r}')
        theta = self._flat(scores)
        limit = seconds_of(self.time_limit if time_limit is None else time_limit)
        with self._lock:
            return self._solution(theta, limit, method)[0]

    def relax(self, *, time_limit: float | None = None, **scores: Any) -> Relaxation:
        """Return the solution of the linear relaxation and how much of it is integral."""
        theta = self._flat(scores)
        limit = seconds_of(self.time_limit if time_limit is None else time_limit)
        with self._lock:
            costs, lower, upper = self._costs(theta)
            model = self._model_of("highs")
            answer = model.solve(costs, lower, upper, integer=False, time_limit=limit)
            self._raise_unless_solved(answer, theta, integer=False)
        columns = answer.columns
        parts = self._unflat(columns[: self.n_parts])
        whole = self._is_whole(columns)
        fractional = {
            name: np.argwhere(np.abs(a - np.rint(a)) > WHOLE) for name, a in parts.items()
        }
        output = self.decode({k: np.rint(a) for k, a in parts.items()}) if whole else None
        value = dot_counts(np.where(np.isfinite(theta), theta, 0.0), columns[: self.n_parts])
        return Relaxation(parts, max(value, answer.bound), whole, fractional, output)

    def kbest(self, n: int, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first, no repeats.

        Each output is cut off by one more row, Σ_{x=1} (1 − x) + Σ_{x=0} x ≥ 1, so the parts must
        be 0 or 1. One program per output.
        """
        size = self.n_parts
        low, high = self.rows.column_lower[:size], self.rows.column_upper[:size]
        other = np.flatnonzero(
            (low < 0) | (high > 1) | (~self.rows.integer[:size] & (self.structure is None))
        )
        if len(other):
            raise CapabilityError(
                f"kbest needs parts that are 0 or 1, but {self.part_name(int(other[0]))} may be "
                "something else. What works: argmax, solve, relax"
            )
        outputs: list[tuple[float, Any]] = []
        program = self
        theta = self._flat(scores)
        for _ in range(n):
            try:
                solution, parts = program._solution(theta, math.inf, "auto", explain=False)
            except InfeasibleError:
                break
            outputs.append((solution.value, solution.output))
            signs = np.where(parts > 0.5, -1.0, 1.0)
            program = program.with_rows(signs[np.newaxis], 1.0 - (parts > 0.5).sum(), np.inf)
        if not outputs:
            raise nothing_legal()
        return outputs

    def __repr__(self) -> str:
        of = "" if self.structure is None else f" of {self.structure!r}"
        helpers = self.rows.n_columns - self.n_parts
        return f"Program({self.n_parts} parts, {helpers} helpers, {self.rows.n_rows} rows{of})"
