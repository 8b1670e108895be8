"""Cutting planes with one slack per example: the working sets of the structural SVM lectures.

0. Choose a tolerance ε; every working set W_i is empty.
1. Solve the SVM with the constraints of the working sets alone: w and slacks ξ_i ≥ 0.
2. For each example find the output y' whose constraint is most violated, by loss-augmented
   inference; it is violated by Δ(y_i, y') − ξ_i − (F(y_i) − F(y')).
3. Where that is more than ε, put y' into W_i. Go on with 1 until nothing is added.

Then ξ_i + ε bounds the loss of the prediction. The lectures' C is C·N here. Every round knows the
primal at w (the losses are what step 2 finds) and the restricted problem's dual, so its gap is a
proof, and the rounds may end by it as well.

Step 1 is solved in the dual, warm-started, by block-coordinate ascent with an exact solution of
each block (products inside a working set are computed once, when an output enters it), and by
conjugate gradients on the face of the outputs in use where ascent slows down: to a relative gap of
1e-8 where ε decides, to a tenth of the last gap where the gap alone does. Where badly scaled
features keep both from it, an interior-point method gets there. Rounds end by ε only where step 1
was solved: weights that are not its solution violate nothing by accident. A general solver agrees
to eight digits and does not scale: on 50 sequences of the letters-like problem HiGHS (active set,
the matrix of all products made for it) takes 35 ms for 300 constraints, 180 for 650 and 630 for
1,050; this one 32, 99 and 88 from scratch, without that matrix.

References
----------
I. Tsochantaridis, T. Joachims, T. Hofmann & Y. Altun (2005), Large margin methods for structured
and interdependent output variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..array_types import Integers, Vector
from ..problem import Problem
from ..problem.problem import n_threads
from .base import Progress, Settings, Training, check_finite
from .hinge_dual import DualState, Proven, begin, check_hinge, native_cone, prove

__all__ = ["NSlack", "Round", "checked_rounds", "not_solved"]

#: Relative gap of the restricted problem, and where ``tol`` asks for more than that.
_EXACT, _FINEST = 1e-8, 1e-10
#: A round that leaves this share of the gap, with nothing violated, brings nothing.
_STUCK = 0.9
#: Share of the last gap, where that is larger.
_SHARE = 0.1
_MOST_PASSES = 1000


@dataclass
class Round:
    """One round of cutting planes.

    Attributes
    ----------
    iteration : int
        From 1.
    slack : array
        ξ at the solution of the restricted problem: one per example, or the one there is.
    examples, places, violations : arrays
        The constraints that the round adds: of which example, where in its working set, violated
        by how much. Empty for a joint constraint.
    violation : float
        The largest violation found, whether added or not.
    primal, dual : float
        ½‖w‖² + C·Σ loss, and the value of the restricted problem.
    constraints_before : int
        How many constraints the restricted problem had.
    """

    iteration: int
    slack: Vector
    examples: Integers
    places: Integers
    violations: Vector
    violation: float
    primal: float
    dual: float
    constraints_before: int


def checked_rounds(rounds: list[Any]) -> list[Round]:
    """Return the rounds of a stored state, if that is what they are."""
    if not all(isinstance(one, Round) for one in rounds):
        raise ValueError("rounds that are none")
    return rounds


class NSlack:
    """The learner.

    Parameters
    ----------
    settings : Settings
        Margin, C, number of rounds, tolerance of the gap; the temperature is 0.
    violation_tol : float, optional
        ε. None: the gap alone ends the rounds.
    """

    def __init__(self, settings: Settings, *, violation_tol: float | None = None) -> None:
        check_hinge(settings, "n-slack")
        self.settings = settings
        self.violation_tol = violation_tol

    def run(
        self,
        problem: Problem,
        *,
        start: DualState | Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Add constraints round by round."""
        s = self.settings
        threads = n_threads(n_jobs)
        training = Training(np.zeros(problem.n_weights), converged=False)
        saved = progress.saved
        sets, state = begin(problem, s, 0, start if saved is None else saved["state"], threads)
        w = state.weights
        size = len(sets.dump()["alpha"])
        epsilon = self.violation_tol or 0.0
        solved = not size  # without constraints w = 0 is the solution
        cone = native_cone(problem)
        rounds = [] if saved is None else checked_rounds(saved["rounds"])
        try:
            for k in range(len(progress.records), s.max_iter):
                exact = self.violation_tol is not None or state.more.get("gap") is None
                reached = solved
                if not solved:
                    gap, share = self._precision(state)
                    report = sets.solve(w, gap, share, _MOST_PASSES, cone, state.multipliers)
                    reached = report["solved"]
                found = sets.survey(w, max(epsilon, 0.0), True, threads)
                solved = False
                state.iteration += 1
                state.oracle_calls += problem.n_examples
                bound = sets.bound(cone, state.multipliers)
                best = prove(problem, s, sets, state, found["loss"], bound, threads)
                check_finite(best.objective)
                seen = _round(k + 1, best, bound, found, size)
                rounds.append(seen)
                size += len(seen.examples)
                training.objective, training.gap = best.objective, best.gap
                training.weights = best.weights
                state.more["gap"] = training.gap
                done = len(seen.examples) == 0
                training.converged = s.good_enough(training.gap, training.objective) or (
                    done and reached and self.violation_tol is not None
                )
                stuck = done and exact and (reached or not _smaller(rounds))
                if stuck and not training.converged:
                    training.converged = s.as_good_as_it_gets(training.gap, training.objective)
                    training.unfinished = not_solved(training, s)
                ended = training.converged or stuck or k + 1 == s.max_iter
                # Where nothing is violated, but the weights are not the best yet:
                target = None if done else training.gap

                def snapshot(target: float | None = target) -> dict[str, Any]:
                    kept = replace(state, sets=sets.dump(), more={**state.more, "gap": target})
                    return {"state": kept, "rounds": rounds}

                training.stopped = progress.report(
                    training.weights.copy,
                    state=None if ended else snapshot,
                    iteration=k + 1,
                    loss=best.loss,
                    objective=seen.primal,
                    dual=seen.dual,
                    gap=training.gap,
                    violation=seen.violation,
                    constraints=size,
                    oracle_calls=state.oracle_calls,
                )
                if training.stopped or training.converged or stuck:
                    break
                state.more["gap"] = target
        except KeyboardInterrupt:
            training.interrupted = True
            training.objective = training.gap = None
        training.weights = w.copy() if training.interrupted else training.weights.copy()
        training.history = progress.records
        training.rounds = rounds
        state.sets = sets.dump()
        training.state = state
        return training

    def _precision(self, state: DualState) -> tuple[float, float]:
        """Return the gap to which the restricted problem is solved, and as a share of its value.

        To the last digits where violations decide; a small part of the last gap where that does.
        """
        if self.violation_tol is not None:
            return 0.0, _EXACT
        share = _EXACT if self.settings.tol > 10 * _EXACT else _FINEST
        return _SHARE * (state.more.get("gap") or 0.0), share


def _round(
    iteration: int, best: Proven, bound: float, found: dict[str, Any], constraints: int
) -> Round:
    violations = found["loss"] - found["slack"]
    examples = np.flatnonzero(found["added"] >= 0)
    return Round(
        iteration,
        found["slack"],
        examples,
        found["added"][examples],
        violations[examples],
        float(violations.max(initial=0.0)),
        best.objective,
        bound,
        constraints,
    )


def _smaller(rounds: list[Round]) -> bool:
    """Tell whether the last round has made the gap smaller."""
    gaps = [r.primal - r.dual for r in rounds[-2:]]
    return len(gaps) < 2 or gaps[1] <= _STUCK * gaps[0]


def not_solved(training: Training, settings: Settings) -> str:
    """Say why a round without violations is not the solution."""
    return (
        f"with nothing violated, but a gap of {training.gap:.3g} at objective "
        f"{training.objective:.6g}, above tol={settings.tol:g} times that: rounding hides the "
        "rest. Scale the features, lower C or raise tol"
    )
