"""L-BFGS for ε > 0: SciPy's optimiser over the core's threaded gradient.

The certificate costs nothing: at the dual point p(w) the gap is ½‖∇f(w)‖², for every structure (the
dual weights of p(w) are w − ∇f(w)). With an L1 term it is r(w) + r*(z) − ⟨w, z⟩, z = −C∇Σloss,
r(w) = ½w² + l1·|w|. The L1 term itself is made smooth by w = w⁺ − w⁻ with both parts ≥ 0, which
L-BFGS-B's bounds allow (R. Byrd et al. 1995).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..problem import Problem
from .base import Progress, Settings, Training, check_finite

__all__ = ["LBFGS"]

Vector = npt.NDArray[np.float64]


class _Stop(Exception):
    """Ends SciPy's loop from inside the objective."""


class LBFGS:
    """Limited-memory quasi-Newton.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0.
    memory : int
        Number of gradient differences kept.
    """

    def __init__(self, settings: Settings, *, memory: int = 10) -> None:
        if settings.temperature <= 0:
            raise ValueError(
                "L-BFGS needs a smooth loss: temperature > 0. For temperature 0 use solver='sgd'"
            )
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
        from scipy.optimize import minimize

        s = self.settings
        n = problem.n_weights
        best = Training(np.zeros(n) if start is None else start.copy(), objective=np.inf)
        latest: dict[str, Any] = {}

        def evaluate(x: Vector) -> tuple[float, Vector]:
            w = x[:n] - x[n:] if s.l1 else x
            loss, gradient = problem.total_loss(w, s.margin, s.temperature, n_jobs=n_jobs)
            assert gradient is not None
            gradient *= s.C
            norm1 = float(np.abs(w).sum()) if s.l1 else 0.0
            objective = 0.5 * float(w @ w) + s.l1 * norm1 + s.C * loss
            check_finite(objective)
            if s.l1:
                z = -gradient  # the dual's weights
                soft = np.maximum(np.abs(z) - s.l1, 0.0)
                gap = 0.5 * float(w @ w) + s.l1 * norm1 + 0.5 * float(soft @ soft) - float(w @ z)
            gradient += w
            smooth = gradient
            if not s.l1:
                gap = 0.5 * float(smooth @ smooth)
            latest.update(loss=loss, objective=objective, gap=max(gap, 0.0))
            if objective < best.objective:  # type: ignore[operator]
                best.weights, best.objective = w.copy(), objective
                best.gap = max(gap, 0.0) if s.convex else None
            if s.convex and max(gap, 0.0) <= s.tol * objective:
                best.weights, best.objective, best.gap = w.copy(), objective, max(gap, 0.0)
                raise _Stop
            if not s.l1:
                return objective, smooth
            # With both halves ≥ 0, l1·(w⁺ + w⁻) is linear; at the optimum one of them is 0.
            value = 0.5 * float(w @ w) + s.l1 * float(x.sum()) + s.C * loss
            return value, np.concatenate([smooth + s.l1, -smooth + s.l1])

        iteration = 0

        def callback(intermediate_result: Any) -> None:
            nonlocal iteration
            iteration += 1
            shown = {k: latest[k] for k in ("loss", "objective")}
            if s.convex:
                shown["gap"] = latest["gap"]
            if progress.report(lambda: best.weights, iteration=iteration, **shown):
                best.stopped = True
                raise _Stop

        x0 = best.weights
        if s.l1:
            x0 = np.concatenate([np.maximum(x0, 0.0), np.maximum(-x0, 0.0)])
        finished = None
        try:
            finished = minimize(
                evaluate,
                x0,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, None)] * len(x0) if s.l1 else None,
                callback=callback,
                options={
                    "maxcor": self.memory,
                    "maxiter": s.max_iter,
                    "maxfun": 10 * s.max_iter + 20,
                    # The gap decides; SciPy's own tests only stop a run that no longer moves.
                    "ftol": 1e-15,
                    "gtol": 1e-12 if s.convex else 1e-6,
                },
            )
        except _Stop:
            if not best.stopped:  # the step that reached the tolerance
                progress.report(lambda: best.weights, iteration=iteration + 1, **latest)
        except KeyboardInterrupt:
            best.interrupted = True
            if best.objective == np.inf:
                best.objective = None
        best.history = progress.records
        if s.convex:
            best.converged = best.gap is not None and best.gap <= s.tol * float(
                best.objective or 0.0
            )
            # The last digit of the objective is the best that any step can do.
            if finished is not None and not best.converged and finished.status == 0:
                best.converged = bool((best.gap or 0.0) <= 1e-9 * abs(float(best.objective or 0.0)))
        elif finished is not None:
            best.converged = finished.status == 0
        best.state = best.weights
        return best
