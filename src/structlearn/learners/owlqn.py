"""OWL-QN: L-BFGS for an objective with l1·‖w‖₁, whose optimum has many weights at exactly 0.

Inside an orthant ‖w‖₁ is linear. Each step stays in the orthant that the pseudo-gradient (the
subgradient of least norm) points into; the memory sees the smooth part only.

The certificate is r(w) + r*(z) − ⟨w, z⟩ with z = −C·∇Σloss the dual weights and r(w) = ½‖w‖² +
l1·‖w‖₁, so that r*(z) = ½‖(|z| − l1)₊‖².
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Vector
from ..problem import Problem
from .base import Progress, Settings, Training, check_finite
from .descent import descend
from .lbfgs import check_smooth, memory_for

__all__ = ["OWLQN", "OrthantDescent"]

#: Sufficient decrease, as a share of what the pseudo-gradient promises; shrinking of the step.
DECREASE, SHRINK = 1e-4, 0.5
MOST_TRIALS = 40
#: Values of which the difference is a rounding error, relative to the value.
NOISE = 1e-14


class OWLQN:
    """Orthant-wise limited-memory quasi-Newton.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0; l1 ≥ 0.
    memory : int, optional
        Number of gradient differences kept; default: 10, up to 100 where there are few weights.

    References
    ----------
    G. Andrew & J. Gao (2007), Scalable training of L1-regularized log-linear models.
    """

    def __init__(self, settings: Settings, *, memory: int | None = None) -> None:
        check_smooth(settings, "OWL-QN")
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
        """Minimise until the gap is small enough, or for ``max_iter`` iterations."""
        descent = OrthantDescent(problem, self.settings, start, memory=self.memory, n_jobs=n_jobs)
        return descend(descent, self.settings, progress, problem.n_examples)


class OrthantDescent:
    """Points of OWL-QN on ½‖w‖² + l1·‖w‖₁ + C·Σ loss; see :class:`~.descent.Descent`."""

    tolerance: float | None = None

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        start: Vector | None = None,
        *,
        memory: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        n = problem.n_weights
        self.problem, self.settings = problem, settings
        self.n_jobs, self._threads = n_jobs, problem.threads(n_jobs)
        self.w = np.zeros(n) if start is None else start.copy()
        self.loss = self.objective = self.gap = self.flatness = math.inf
        self.evaluations, self.length = 0, 0.0
        self._memory = _core.CurvatureMemory(n, memory or memory_for(n))
        # A trial point, its gradient and pseudo-gradient; a step swaps them with the current ones.
        self._trial, self._gradient, self._trial_gradient = np.empty(n), np.empty(n), np.empty(n)
        self._pseudo, self._trial_pseudo = np.zeros(n), np.empty(n)
        self._direction = np.zeros(n)
        self._found = (0.0, 0.0, 0.0, 0.0)

    @property
    def pairs(self) -> int:
        """Number of gradient differences kept."""
        return self._memory.pairs

    def begin(self) -> None:
        """Evaluate the objective at the start."""
        self._evaluate(self.w, self._gradient, self._trial_pseudo)
        check_finite(self._found[1])
        check_finite(self._found[3])
        self._pseudo, self._trial_pseudo = self._trial_pseudo, self._pseudo
        self.loss, self.objective, self.gap, self.flatness = self._found

    def step(self) -> bool:
        """Go to a lower point; False where there is none to be found."""
        first = self._memory.pairs == 0
        moved = self._search(self._first_step() if first else 1.0)
        if not moved and not first:  # the memory misleads: without it
            self._memory.forget()
            moved = self._search(self._first_step())
        if not moved:
            return False
        self.w, self._trial = self._trial, self.w
        self._gradient, self._trial_gradient = self._trial_gradient, self._gradient
        self._pseudo, self._trial_pseudo = self._trial_pseudo, self._pseudo
        self.loss, self.objective, self.gap, self.flatness = self._found
        self._memory.remember(
            self.w, self._trial, self._gradient, self._trial_gradient, self._pseudo, self._threads
        )
        return True

    def dump(self) -> dict[str, Any]:
        """Return all that later steps depend on."""
        return {
            "w": self.w,
            "gradient": self._gradient,
            "pseudo": self._pseudo,
            "point": [self.loss, self.objective, self.gap, self.flatness],
            "evaluations": self.evaluations,
            "memory": self._memory.dump(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Be where another one was when it gave this state, without :meth:`begin`."""
        self.w, self._gradient = state["w"].copy(), state["gradient"].copy()
        self._pseudo = state["pseudo"].copy()
        self.loss, self.objective, self.gap, self.flatness = state["point"]
        self.evaluations = int(state["evaluations"])
        self._memory.load(state["memory"])

    def _first_step(self) -> float:
        """Return a step along the gradient, of which only the order of magnitude is known."""
        return min(1.0, 1.0 / math.sqrt(2.0 * self.flatness)) if self.flatness else 1.0

    def _search(self, step: float) -> bool:
        """Shrink the step until the value at the projected point has gone down enough."""
        slope = self._memory.direction(self._pseudo, self._direction, True, self._threads)
        if not slope < 0.0:
            return False
        s = self.settings
        for _ in range(MOST_TRIALS):
            _core.advance_in_orthant(
                self.w, self._direction, self._pseudo, step, self._trial, self._threads
            )
            promised = self._evaluate(self._trial, self._trial_gradient, self._trial_pseudo)
            _, objective, gap, flatness = self._found
            gain, self.length = self.objective - objective, step
            if gain > 0.0 and gain >= -DECREASE * promised:
                return True
            if s.convex and objective <= self.objective and gap <= s.tol * objective:
                return True
            # Where values no longer tell, the slopes do.
            if abs(gain) <= NOISE * abs(self.objective) and flatness < self.flatness:
                return True
            step *= SHRINK
        return False

    def _evaluate(self, w: Vector, gradient: Vector, pseudo: Vector) -> float:
        """Note what is found at w, write both gradients; return ⟨pseudo-gradient before, move⟩."""
        s = self.settings
        loss, _ = self.problem.total_loss(
            w, s.margin, s.temperature, out=gradient, n_jobs=self.n_jobs
        )
        self.evaluations += 1
        squared, absolute, squared_pseudo, promised, gap = _core.finish_pseudo_gradient(
            w, self.w, self._pseudo, s.C, s.l1, gradient, pseudo, self._threads
        )
        objective = 0.5 * squared + s.l1 * absolute + s.C * loss
        self._found = (loss, objective, max(gap, 0.0), 0.5 * squared_pseudo)
        return float(promised)
