"""Smooth losses with weights in a cone: spectral projected gradients.

    w ← w + t (Π(w − a·∇f(w)) − w),   a = ⟨s, s⟩ / ⟨s, y⟩,

with Π the nearest point of the cone, s and y the last differences of weights and gradients, and t
the first of 1, ½, ... (by interpolation) that ends below the largest of the last ten objectives.

The certificate: u = w − ∇f(w) is the pull of the examples at p(w), and p(w) a dual point whose best
weights are Π(u), so that f(w) − optimum ≤ ½‖w‖² − ⟨w, u⟩ + ½‖Π(u)‖². Without a cone this is
½‖∇f(w)‖².

References
----------
E. Birgin, J. Martínez & M. Raydan (2000), Nonmonotone spectral projected gradient methods on convex
sets.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem, WeightCone
from .base import Progress, Settings, Training, check_finite
from .descent import descend
from .lbfgs import check_smooth

Vector = npt.NDArray[np.float64]

#: Objectives that a step is compared with.
_REMEMBERED = 10
#: Sufficient decrease; and how much longer a step may be than the last one where that showed no
#: curvature.
_DECREASE, _STRETCH = 1e-4, 1e3
_MOST_TRIALS = 40


def gap_in_cone(w: Vector, gradient: Vector, cone: WeightCone | None) -> float:
    """Return a bound of f(w) − optimum for f = ½‖w‖² + C·Σ loss with this gradient, w in the cone.

    ½‖∇f‖², less half the squared distance of w − ∇f from the cone.
    """
    gap = 0.5 * _core.dot(gradient, gradient)
    if cone is None:
        return gap
    u = w - gradient
    outside = u - cone.project(u)
    return max(0.0, gap - 0.5 * _core.dot(outside, outside))


class ProjectedGradient:
    """The learner.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0, l1 must be 0.
    """

    def __init__(self, settings: Settings) -> None:
        check_smooth(settings, "the projected gradient")
        if settings.l1:
            raise ValueError("solver='projected' has no l1 term; solver='lbfgs' has")
        self.settings = settings

    def run(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Minimise until the gap is small enough, or for ``max_iter`` iterations."""
        descent = _Point(problem, self.settings, start, n_jobs)
        return descend(descent, self.settings, progress, problem.n_examples)


class _Point:
    """Points on the way; see :class:`~.descent.Descent`."""

    tolerance: float | None = None

    pairs = 0

    def __init__(
        self, problem: Problem, settings: Settings, start: Vector | None, n_jobs: int | None
    ) -> None:
        self.problem, self.settings, self.n_jobs = problem, settings, n_jobs
        self.w = self._project(np.zeros(problem.n_weights) if start is None else start)
        self.loss = self.objective = math.inf
        self.evaluations = 0
        self._gradient = np.zeros(problem.n_weights)
        self._spectral = 0.0
        self._recent: list[float] = []

    @property
    def gap(self) -> float:
        """A bound of objective − optimum; no loss is negative, so the objective is one too."""
        return min(gap_in_cone(self.w, self._gradient, self.problem.cone), self.objective)

    @property
    def flatness(self) -> float:
        """½‖Π(w − ∇f) − w‖²."""
        move = self._project(self.w - self._gradient) - self.w
        return 0.5 * _core.dot(move, move)

    def begin(self) -> None:
        """Evaluate the objective at the start."""
        self.loss, self.objective, self._gradient = self._evaluate(self.w)
        check_finite(self.objective)
        self._recent = [self.objective]

    def step(self) -> bool:
        """Go on; False where nothing lower than the last ten points is found."""
        g = self._gradient
        scale = float(np.sqrt(_core.dot(g, g)))
        if scale == 0.0:
            return False
        move = self._project(self.w - (self._spectral or min(1.0, 1.0 / scale)) * g) - self.w
        slope = _core.dot(g, move)
        if not slope < 0.0:
            return False
        reference, t = max(self._recent), 1.0
        for _ in range(_MOST_TRIALS):
            trial = self.w + t * move
            loss, objective, gradient = self._evaluate(trial)
            if objective <= reference + _DECREASE * t * slope:
                break
            # The parabola through what is known; not too short, not too long a step.
            bend = objective - self.objective - t * slope
            guess = -0.5 * slope * t * t / bend if math.isfinite(bend) and bend > 0.0 else 0.1 * t
            t = min(max(guess, 0.1 * t), 0.5 * t)
        else:
            return False
        s, y = trial - self.w, gradient - g
        curvature = _core.dot(s, y)
        longest = _STRETCH * (self._spectral or min(1.0, 1.0 / scale))
        self._spectral = _core.dot(s, s) / curvature if curvature > 0.0 else longest
        self.w, self.loss, self.objective, self._gradient = trial, loss, objective, gradient
        self._recent = [*self._recent[1 - _REMEMBERED :], objective]
        return True

    def dump(self) -> dict[str, Any]:
        """Return all that later steps depend on."""
        return {
            "w": self.w,
            "gradient": self._gradient,
            "loss": self.loss,
            "objective": self.objective,
            "evaluations": self.evaluations,
            "spectral": self._spectral,
            "recent": list(self._recent),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Be where another one was when it gave this state, without :meth:`begin`."""
        self.w, self._gradient = state["w"].copy(), state["gradient"].copy()
        self.loss, self.objective = state["loss"], state["objective"]
        self.evaluations = int(state["evaluations"])
        self._spectral, self._recent = state["spectral"], list(state["recent"])

    def _project(self, w: Vector) -> Vector:
        return w.copy() if self.problem.cone is None else self.problem.cone.project(w)

    def _evaluate(self, w: Vector) -> tuple[float, float, Vector]:
        s = self.settings
        loss, gradient = self.problem.total_loss(w, s.margin, s.temperature, n_jobs=self.n_jobs)
        assert gradient is not None
        self.evaluations += 1
        return loss, 0.5 * _core.dot(w, w) + s.C * loss, w + s.C * gradient
