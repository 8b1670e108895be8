"""L-BFGS for ε > 0, over the core's threaded gradient.

The certificate costs nothing: at the dual point p(w) the gap is ½‖∇f(w)‖², for every structure (the
dual weights of p(w) are w − ∇f(w)). It asks for much where features are large: an error e of the
objective makes a gap of up to e times the largest curvature. Few weights can afford a long memory,
which finds that curvature; and where dense features have very different sizes, the memory sees the
weights in units of their own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..array_types import Vector
from ..exceptions import CapabilityError
from ..problem import Problem
from .base import Progress, Settings, Training, check_finite
from .descent import descend
from .line_search import wolfe_search

__all__ = ["LBFGS", "SmoothDescent", "check_smooth", "memory_for"]

#: Gradient differences kept, for many weights and for few; and how many numbers are few.
_MEMORY, _LONG_MEMORY, _FEW = 10, 100, 1_000_000
#: Features whose sizes differ by more than this factor have different units, where in the mean they
#: are at half of all places: with units of their own, sparse features of different sizes take up to
#: six times as many steps.
_SAME_UNITS, _DENSE = 30.0, 0.5
#: Sums are certified up to the first of these shares of ``tol`` that can be, but no more than up
#: to this share of them.
_SHARES, _CERTAIN = (0.1, 1.0, 10.0), 1e-9


class LBFGS:
    """Limited-memory quasi-Newton.

    An iteration costs a gradient and little else: 16 bytes per weight and pair of the memory, and
    about 100 per weight.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0, l1 must be 0.
    memory : int, optional
        Number of gradient differences kept; default: 10, up to 100 where there are few weights.

    References
    ----------
    D. Liu & J. Nocedal (1989), On the limited memory BFGS method; W. Chen, Z. Wang & J. Zhou
    (2014), Large-scale L-BFGS using MapReduce.
    """

    def __init__(self, settings: Settings, *, memory: int | None = None) -> None:
        check_smooth(settings, "L-BFGS")
        if settings.l1:
            raise ValueError("L-BFGS needs a smooth objective: for l1 > 0 use OWL-QN")
        self.settings = settings
        self.memory = memory

    def run(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Minimise until the gap is small enough, or for ``max_iter`` iterations.

        Sums that cannot be exact are certified up to a share near ``tol``, which is ``bound`` in
        the history. That succeeds where few outputs have most of a sum. So the descent begins at
        the minimum over all outputs, with and without the constraints.
        """
        descent = self._certified(problem, start, progress, n_jobs)
        return descend(descent, self.settings, progress, problem.n_examples)

    def _certified(
        self, problem: Problem, start: Vector | None, progress: Progress, n_jobs: int | None
    ) -> SmoothDescent:
        """Return a descent whose start has sums, certified as far as there is room for it."""
        options: dict[str, Any] = {"memory": self.memory, "n_jobs": n_jobs}
        relaxed = problem.relaxed()
        if relaxed is None:
            return SmoothDescent(problem, self.settings, start, **options)
        tolerances = [max(_CERTAIN, share * self.settings.tol) for share in _SHARES]
        if progress.saved is not None:
            start = progress.saved["descent"]["w"]
            tolerances = [float(progress.saved["descent"]["tolerance"])]
        elif start is None:
            start = SmoothDescent(relaxed, self.settings, **options).lowest()
        for tolerance in tolerances:
            descent = SmoothDescent(
                problem.certified(tolerance), self.settings, start, tolerance=tolerance, **options
            )
            try:
                descent.begin()
                break
            except CapabilityError:
                if tolerance == tolerances[-1]:
                    raise
        return descent


def check_smooth(settings: Settings, name: str) -> None:
    """Refuse a temperature of 0."""
    if settings.temperature <= 0:
        raise ValueError(
            f"{name} needs a smooth loss: temperature > 0. For temperature 0 use solver='sgd'"
        )


def memory_for(n_weights: int) -> int:
    """Return how many gradient differences to keep: as many as cost next to nothing."""
    return max(_MEMORY, min(_LONG_MEMORY, _FEW // max(1, n_weights)))


def _units(problem: Problem, settings: Settings) -> Vector | None:
    """Return a unit for each weight, from its likely curvature; None where one suits all.

    A weight's curvature is at most 1 + C/(4ε) times the sum of squares of its feature. How often a
    feature is there makes bad units: it counts as often as features do in the mean.
    """
    squares, counts, places = problem.feature_squares()
    there = squares > 0
    if not there.any() or float((counts[there] / places[there]).mean()) < _DENSE:
        return None
    size = np.sqrt(squares[there] / counts[there])
    if size.max() <= _SAME_UNITS * size.min():
        return None
    unit = np.ones(problem.n_weights)
    times = float(counts[there].mean())
    unit[there] = 1.0 / np.sqrt(1.0 + settings.C / (4.0 * settings.temperature) * times * size**2)
    return unit


class _Point(NamedTuple):
    loss: float
    objective: float
    gap: float
    dual: float


_NOWHERE = _Point(math.inf, math.inf, math.inf, -math.inf)


class SmoothDescent:
    """Points of L-BFGS on ½‖w‖² + C·Σ loss; see :class:`~.descent.Descent`."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        start: Vector | None = None,
        *,
        memory: int | None = None,
        n_jobs: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        n = problem.n_weights
        self.tolerance = tolerance  # of sums that are certified only
        self.problem, self.settings = problem, settings
        self.n_jobs, self._threads = n_jobs, problem.threads(n_jobs)
        self.w = np.zeros(n) if start is None else start.copy()
        self._point = _NOWHERE
        self.evaluations, self.length = 0, 0.0
        self._memory = _core.CurvatureMemory(n, memory or memory_for(n))
        self._unit = _units(problem, settings)
        # A trial point and its gradient; a step swaps them with the current ones.
        self._trial, self._gradient, self._trial_gradient = np.empty(n), np.empty(n), np.empty(n)
        self._direction = np.zeros(n)
        self._found = _NOWHERE

    @property
    def loss(self) -> float:
        """Σ loss at w."""
        return self._point.loss

    @property
    def objective(self) -> float:
        """½‖w‖² + C·Σ loss."""
        return self._point.objective

    @property
    def gap(self) -> float:
        """½‖∇f(w)‖²."""
        return self._point.gap

    flatness = gap

    @property
    def dual(self) -> float:
        """C·Σ(⟨c, p⟩ + c₀) − ½‖w − ∇f(w)‖²: the dual at temperature 0 of the p(w) of this one."""
        return self._point.dual

    @property
    def pairs(self) -> int:
        """Number of gradient differences kept."""
        return self._memory.pairs

    def begin(self) -> None:
        """Evaluate the objective at the start."""
        self._evaluate(self.w, self._gradient)
        check_finite(self._found.objective)
        check_finite(self._found.gap)
        self._point = self._found

    def change(self, settings: Settings) -> None:
        """Go on with another objective from here; what the memory knows is about as true there."""
        self.settings = settings
        self.begin()
        # No move, no pair: only the products with the new gradient.
        self._remember(self.w, self._gradient)

    def step(self) -> bool:
        """Go to a lower point; False where there is none to be found."""
        first = self._memory.pairs == 0
        slope = self._aim()
        moved = self._search(slope, self._first_step(slope) if first else 1.0)
        if not moved and not first:  # the memory misleads: without it
            self._memory.forget()
            slope = self._aim()
            moved = self._search(slope, self._first_step(slope))
        if not moved and self._unit is not None:
            self._unit = None
            slope = self._aim()
            moved = self._search(slope, self._first_step(slope))
        if not moved:
            return False
        self.w, self._trial = self._trial, self.w
        self._gradient, self._trial_gradient = self._trial_gradient, self._gradient
        self._point = self._found
        self._remember(self._trial, self._trial_gradient)
        return True

    def lowest(self) -> Vector:
        """Return the weights of the minimum, as far as ``tol`` and ``max_iter`` go."""
        self.begin()
        for _ in range(self.settings.max_iter):
            if self.gap <= self.settings.tol * self.objective or not self.step():
                break
        return self.w

    def dump(self) -> dict[str, Any]:
        """Return all that later steps depend on."""
        return {
            "w": self.w,
            "gradient": self._gradient,
            "point": list(self._point),
            "evaluations": self.evaluations,
            "memory": self._memory.dump(),
            "unit": self._unit,
            "tolerance": self.tolerance,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Be where another one was when it gave this state, without :meth:`begin`."""
        self.w, self._gradient = state["w"].copy(), state["gradient"].copy()
        self._point = _Point(*state["point"])
        self.evaluations = int(state["evaluations"])
        self._memory.load(state["memory"])
        self._unit = state["unit"]

    def _aim(self) -> float:
        """Choose a direction; return the slope along it."""
        unit, g = self._unit, self._gradient
        if unit is None:
            return self._memory.direction(g, self._direction, False, self._threads)
        slope = self._memory.direction(unit * g, self._direction, False, self._threads)
        self._direction *= unit
        return slope

    def _remember(self, w_before: Vector, g_before: Vector) -> None:
        """Take note of the move to the present point."""
        w, g, unit = self.w, self._gradient, self._unit
        if unit is not None:
            w, w_before, g, g_before = w / unit, w_before / unit, unit * g, unit * g_before
        self._memory.remember(w, w_before, g, g_before, g, self._threads)

    def _first_step(self, slope: float) -> float:
        """Return a step along the gradient, of which only the order of magnitude is known."""
        return min(1.0, 1.0 / math.sqrt(-slope)) if slope < 0.0 else 1.0

    def _search(self, slope: float, step: float) -> bool:
        def phi(t: float) -> tuple[float, float]:
            _core.advance(self.w, self._direction, t, self._trial, self._threads)
            try:
                slope = self._evaluate(self._trial, self._trial_gradient)
            except CapabilityError:  # sums that cannot be certified there: too far
                self._found, slope = _NOWHERE, math.nan
            return self._found.objective, slope

        def proven() -> bool:
            s, new = self.settings, self._found
            return s.convex and new.gap <= s.tol * new.objective and new.objective <= self.objective

        trial = wolfe_search(phi, self.objective, slope, step, enough=proven)
        if trial is not None:
            self.length = trial.step
        return trial is not None

    def _evaluate(self, w: Vector, gradient: Vector) -> float:
        """Note loss, objective and gap at w, write the gradient; return its slope along d."""
        s = self.settings
        loss, cost = self.problem.total_cost(
            w, s.margin, s.temperature, out=gradient, n_jobs=self.n_jobs
        )
        self.evaluations += 1
        squared_weights, squared_gradient, squared_dual, slope = _core.finish_gradient(
            w, self._direction, s.C, gradient, self._threads
        )
        objective = 0.5 * squared_weights + s.C * loss
        dual = s.C * cost - 0.5 * squared_dual
        self._found = _Point(loss, objective, 0.5 * squared_gradient, dual)
        return float(slope)
