"""One-slack cutting planes for problems that have nothing but sums over all examples.

The joint constraint of the most violated outputs is ξ ≥ b + ⟨g, w⟩ with b the sum of their costs
and g the gradient of the summed losses, both times C: sums are all that it takes. No output of an
example is kept, so that what is found depends on the weights alone, whoever computes it.

The restricted problem's weights go back and forth while there are few constraints. So the next
constraint is looked for nearer to the best weights so far, which takes a third fewer rounds.

References
----------
T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs; V. Franc &
S. Sonnenburg (2009), Optimized cutting plane algorithm for large-scale risk minimization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem
from .base import Progress, Settings, Training, check_finite
from .joint_constraints import JointConstraints

Vector = npt.NDArray[np.float64]

#: How far from the best weights towards those of the restricted problem the next constraint is.
_AHEAD = 0.3
#: The restricted problem is solved to this share of the last gap, or of the tolerance.
_SHARE = 0.1
#: A gap that has not become smaller by this share in so many rounds is left to rounding.
_STUCK, _ROUNDS = 1e-3, 50


class SummedPlanes:
    """The learner.

    Parameters
    ----------
    settings : Settings
        Of the structured hinge.
    violation_tol : float, optional
        Stop where the joint constraint is violated by no more than this in the mean of the
        examples. None: the gap alone decides.
    """

    def __init__(self, settings: Settings, *, violation_tol: float | None = None) -> None:
        self.settings = settings
        self.violation_tol = violation_tol

    def run(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Add one joint constraint per round."""
        s, cone, n = self.settings, problem.cone, problem.n_weights
        w = np.zeros(n) if start is None else np.array(start, dtype=np.float64)
        state: dict[str, Any] = {
            "w": w if cone is None else cone.project(w),
            "best": np.zeros(n),
            "objective": np.inf,
            "loss": np.inf,
            "dual": 0.0,
            "gaps": [],
            "joint": JointConstraints(n, 0.0),
        }
        if progress.saved is not None:
            state = dict(progress.saved)
        joint: JointConstraints = state["joint"]
        training = Training(state["best"], converged=False)
        mass = s.C * problem.total_weight
        try:
            for k in range(len(progress.records), s.max_iter):
                w, gradient = state["w"], np.empty(n)
                loss, cost = problem.total_cost(w, s.margin, 0.0, out=gradient, n_jobs=n_jobs)
                objective = 0.5 * _core.dot(w, w) + s.C * loss
                check_finite(objective)
                if objective < state["objective"]:
                    state.update(best=w, objective=objective, loss=loss)
                violation = (s.C * loss - joint.slack(w)) / mass
                joint.add(s.C * gradient, s.C * cost, cone)
                left = max(0.0, state["objective"] - state["dual"])
                ahead = joint.solve(cone, _SHARE * left, _SHARE * s.tol)
                # No loss is negative, so 0 is a bound too.
                state["dual"] = max(0.0, state["dual"], joint.dual(cone))
                training.gap = max(0.0, state["objective"] - state["dual"])
                training.objective = state["objective"]
                training.converged = s.good_enough(training.gap, training.objective) or (
                    self.violation_tol is not None and violation <= self.violation_tol
                )
                step = state["best"] + _AHEAD * (ahead - state["best"])
                state["w"] = step if cone is None else cone.project(step)
                gaps = state["gaps"] = [*state["gaps"][1 - _ROUNDS :], training.gap]
                stuck = len(gaps) == _ROUNDS and training.gap > (1.0 - _STUCK) * gaps[0]
                if stuck and not training.converged:
                    training.converged = s.as_good_as_it_gets(training.gap, training.objective)
                ended = training.converged or stuck or k + 1 == s.max_iter
                training.stopped = progress.report(
                    state["best"].copy,
                    state=None if ended else state.copy,
                    iteration=k + 1,
                    loss=state["loss"],
                    objective=training.objective,
                    dual=state["dual"],
                    gap=training.gap,
                    violation=violation,
                    constraints=len(joint),
                    oracle_calls=(k + 1) * problem.n_examples,
                )
                if training.stopped or training.converged or stuck:
                    break
        except KeyboardInterrupt:
            training.interrupted = True
        training.weights = state["best"].copy()
        training.history = progress.records
        return training
