"""Inference by structures written in Python, as called by the core."""

from __future__ import annotations

import math
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..array_types import Vector
from ..exceptions import InfeasibleError
from ..structures.base import Structure
from ..structures.batches import named_example
from ..structures.beam import BeamSearch, find_violation
from ..structures.parts import Parts, flatten, unflatten_values
from .inexact import Inexact
from .parts import Shaped

if TYPE_CHECKING:
    from .array_problem import ArrayProblem


class PythonInference:
    """The callbacks of the core for a structure written in Python."""

    def __init__(self, problem: ArrayProblem) -> None:
        # The core keeps this object and the problem keeps the core: avoid a reference cycle.
        self._problem: ArrayProblem = weakref.proxy(problem)
        kind = type(problem.structure)
        # A structure that defines solve reports there how good its outputs are.
        self._solves = kind.solve is not Structure.solve and (
            kind.infer is Structure.infer or kind.certifies
        )
        #: Whether the core may call from several threads at once.
        self.threads_allowed = problem.structure.runs_on_threads
        self.inexact = Inexact()
        self._lock = threading.Lock()

    def infer(self, i: int, theta: Vector, temperature: float) -> tuple[float, Any, Vector]:
        """Return (value, parts or None, values) of infer(θ, ε) for example i."""
        scores = self._problem.as_arguments(i, theta)
        structure = self._problem.structure
        exact = True
        try:
            if temperature == 0 and self._solves:
                solution = structure.solve_without_bound(**scores)
                exact = solution.exact
                value, p = solution.value, structure.encode(solution.output, **scores)
            else:
                value, p = structure.infer(temperature=temperature, **scores)
        except InfeasibleError as error:
            raise named_example(error, i) from None
        flat = self._flat(i, p, sparse=temperature == 0)
        if temperature == 0:
            with self._lock:
                self.inexact.under += not exact
                # Even a proven output may count parts fractionally: those of robust cliques.
                fractional = not self._solves and (flat[1] != np.rint(flat[1])).any()
                self.inexact.over += bool(fractional)
        return value, *flat

    def missed(self, i: int, theta: Vector) -> float:
        """Return how much more the best output may score than that of :meth:`infer`."""
        if not self._solves:
            return 0.0
        solution = self._problem.structure.solve(**self._problem.as_arguments(i, theta))
        if solution.exact:
            return 0.0
        missed = float(solution.bound - solution.value)
        return missed if missed > 0 else math.inf

    def runner_up(
        self, i: int, theta: Vector, gold: npt.NDArray[np.uint32]
    ) -> tuple[float, Any, Vector] | None:
        """Return the best output that is not the gold one, as :meth:`infer` does."""
        scores = self._problem.as_arguments(i, theta)
        y = self._problem.structure.decode(self._parts(i, gold))
        best_other = self._problem.structure.runner_up(y, **scores)
        if best_other is None:
            return None
        counts = self._problem.structure.encode(best_other[1], **scores)
        return best_other[0], *self._flat(i, counts, sparse=True)

    def violation(
        self, i: int, theta: Vector, gold: npt.NDArray[np.uint32], width: int, update_at: str
    ) -> tuple[float, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return (amount, parts found, gold parts), a part as often as it counts."""
        structure = self._problem.structure
        assert isinstance(structure, BeamSearch)
        scores = self._problem.as_arguments(i, theta)
        y = structure.decode(self._parts(i, gold))
        worst = find_violation(structure, y, width, update_at, scores)
        if worst is None:
            return 0.0, np.empty(0, np.uint32), np.empty(0, np.uint32)
        amount, *both = worst
        lists = []
        for parts in both:
            used, counts = self._flat(i, parts, sparse=True)
            lists.append(np.repeat(used, counts.astype(np.int64)))
        return amount, lists[0], lists[1]

    def _parts(self, i: int, used: npt.NDArray[np.uint32]) -> Parts:
        shapes = Shaped.of(self._problem.shapes(i))
        total = sum(s.size for s in shapes.values())
        counts = np.bincount(used, minlength=total).astype(np.float64)
        return unflatten_values(counts, shapes)

    def _flat(self, i: int, p: Parts, *, sparse: bool) -> tuple[Any, Vector]:
        shapes = self._problem.shapes(i)
        wrong = {n: np.shape(p[n]) for n in shapes if n not in p or np.shape(p[n]) != shapes[n]}
        if wrong:
            raise ValueError(f"example {i}: the structure returned parts of shapes {wrong}")
        flat = np.ascontiguousarray(flatten({name: p[name] for name in shapes}), dtype=np.float64)
        if not sparse:
            return None, flat
        used = np.flatnonzero(flat).astype(np.uint32)
        return used, flat[used]
