"""The structured SVM by annealing: L-BFGS on smoothed hinges, ε → 0.

At temperature ε the loss lies above the hinge, by at most ε times the entropy of p(w). Each stage
begins where the one before ended. Every point on the way proves something about the SVM itself:
the p(w) of any temperature are distributions over outputs, feasible in the SVM's dual, with the
value

    D = C·Σ_i (⟨c_i, p_i⟩ + c₀) − ½‖z‖²,   z = C·Σ_i A_iᵀ(μ_i − p_i) = w − ∇f_ε(w),

which the gradient gives away. With f_ε the smoothed primal and H the entropies, f_ε(w) − D =
½‖∇f_ε(w)‖² + C·ε·ΣH: a stage ends where the first term, what is left of its own work, is no longer
the larger one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Vector
from ..problem import Problem
from .base import Progress, Settings, Training
from .lbfgs import SmoothDescent

__all__ = ["Annealing"]

#: A stage ends where ½‖∇f‖² is this share of C·ε·ΣH.
STAGE_END = 0.5
#: Below this temperature (in units of the first) the smoothed loss is the hinge in floating point.
COLDEST = 1e-9


class Annealing:
    """Minimise ½‖w‖² + C·Σ hinge through a sequence of temperatures.

    Parameters
    ----------
    settings : Settings
        Temperature 0, the objective's own; l1 must be 0, and all labels known. ``max_iter`` counts
        the iterations of all stages together.
    memory : int, optional
        Number of gradient differences kept; default: as L-BFGS.
    hottest : float
        The first temperature, in units of the margin.
    cooling : float
        Factor from one temperature to the next.

    References
    ----------
    Y. Nesterov (2005), Smooth minimization of non-smooth functions; S. Lacoste-Julien et al.
    (2013), Block-coordinate Frank-Wolfe optimization for structural SVMs, for the dual.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        memory: int | None = None,
        hottest: float = 1.0,
        cooling: float = 0.3,
    ) -> None:
        if settings.temperature != 0:
            raise ValueError(
                f"annealing ends at temperature 0, not {settings.temperature:g}: for a smooth loss "
                "use solver='lbfgs'"
            )
        if settings.l1:
            raise ValueError("annealing has no l1 term: use temperature > 0 and solver='lbfgs'")
        if not settings.convex:
            raise ValueError("annealing needs all labels to be known: use solver='sgd'")
        if not settings.margin > 0:
            raise ValueError("annealing needs a margin > 0: without one, weights of 0 are optimal")
        if not (hottest > 0 and 0 < cooling < 1):
            raise ValueError("annealing needs hottest > 0 and cooling between 0 and 1")
        self.settings = settings
        self.memory = memory
        self.hottest = hottest
        self.cooling = cooling

    def run(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Minimise until the gap is small enough, or for ``max_iter`` iterations."""
        if problem.zero_one_cost:
            # The mass of all outputs but the gold one is found by subtraction, and multiplied by
            # exp(margin/ε).
            raise ValueError(
                "annealing cannot follow the zero-one cost: its gradients have no digits left at "
                "low temperatures; use solver='frank-wolfe'"
            )
        s = self.settings
        found = _Certified(problem, s, start, n_jobs)
        hottest = self.hottest * s.margin
        smooth = replace(s, temperature=hottest, tol=0.0)
        descent = SmoothDescent(problem, smooth, start, memory=self.memory, n_jobs=n_jobs)
        training = Training(found.w, converged=False)
        ended = False  # a stage

        def snapshot() -> dict[str, Any]:
            return {
                "temperature": descent.settings.temperature,
                "ended": ended,
                "descent": descent.dump(),
                "found": found.dump(),
            }

        def record(last: bool) -> bool:
            calls = (descent.evaluations + found.evaluations) * problem.n_examples
            return progress.report(
                lambda: (descent if descent.objective < found.objective else found).w.copy(),
                state=None if last else snapshot,
                iteration=len(progress.records) + 1,
                temperature=descent.settings.temperature,
                oracle_calls=calls,
                **found.record(descent.loss),
            )

        looked = start is not None  # whether the hinges at descent.w are known
        try:
            saved = progress.saved
            if saved is None:
                descent.begin()
                found.note(descent)
                if start is not None:  # 0 is where to begin, not a model
                    found.look(descent.w)
            else:
                descent.settings = replace(smooth, temperature=saved["temperature"])
                descent.load(saved["descent"])
                found.load(saved["found"])
                ended = saved["ended"]
                looked = False
            for k in range(len(progress.records), s.max_iter):
                if ended:
                    colder = self.cooling * descent.settings.temperature
                    if colder < COLDEST * hottest:
                        break
                    descent.change(replace(smooth, temperature=colder))
                    found.note(descent)
                moved = descent.step()
                if moved:
                    found.note(descent)
                entropy = descent.objective - descent.dual - descent.gap
                ended = not moved or descent.gap <= STAGE_END * entropy
                # The smoothed objective is an upper bound of the primal: look where it proves that
                # there is something to see; and in the end.
                last = k + 1 == s.max_iter
                looked = ended or last or descent.objective - found.dual <= s.tol * found.dual
                if looked:
                    found.look(descent.w)
                training.converged = s.good_enough(found.gap, found.objective)
                stop = record(training.converged or last)
                if stop or training.converged:
                    training.stopped = stop and not training.converged
                    break
            if training.stopped and not looked:
                found.look(descent.w)
        except KeyboardInterrupt:
            training.interrupted = True
        known = True
        if training.interrupted and descent.objective < found.objective:
            # Better for certain, by a bound; how much better would take a pass to say.
            found.w, known = descent.w.copy(), False
        training.weights = training.state = found.w
        training.history = progress.records
        if known and math.isfinite(found.objective):
            training.objective = found.objective
            training.gap = found.gap if math.isfinite(found.gap) else None
        return training


class _Certified:
    """The best weights and the best dual bound so far."""

    def __init__(
        self, problem: Problem, settings: Settings, start: Vector | None, n_jobs: int | None
    ) -> None:
        self.problem, self.settings, self.n_jobs = problem, settings, n_jobs
        self.w = np.zeros(problem.n_weights) if start is None else start.copy()
        self.loss = self.objective = math.inf
        # The dual where every distribution is the gold output; 0 where that costs nothing.
        none = _core.WorkingSets(problem.native, settings.C, settings.margin, 1)
        self.dual = float(none.dual(np.zeros(problem.n_weights)))
        self.evaluations = 0

    @property
    def gap(self) -> float:
        return max(0.0, self.objective - self.dual)

    def record(self, smoothed: float) -> dict[str, Any]:
        """Return what to tell; before the first look the loss is the smoothed one, an estimate."""
        if not math.isfinite(self.objective):
            return {"loss": smoothed, "dual": self.dual}
        return {
            "loss": self.loss,
            "objective": self.objective,
            "dual": self.dual,
            "gap": self.gap,
        }

    def dump(self) -> dict[str, Any]:
        """Return what is known so far."""
        return {k: getattr(self, k) for k in ("w", "loss", "objective", "dual", "evaluations")}

    def load(self, known: dict[str, Any]) -> None:
        """Go on with what another run knew."""
        for name, value in known.items():
            setattr(self, name, value)

    def note(self, descent: SmoothDescent) -> None:
        """Take the dual value of a point, which is there for nothing."""
        self.dual = max(self.dual, descent.dual)

    def look(self, w: Vector) -> None:
        """Compute the hinges at w, and keep it where it is better than what there was."""
        s = self.settings
        loss, _ = self.problem.total_loss(w, s.margin, 0.0, gradient=False, n_jobs=self.n_jobs)
        self.evaluations += 1
        objective = 0.5 * _core.dot(w, w) + s.C * loss
        if objective < self.objective:
            self.w, self.loss, self.objective = w.copy(), loss, objective
