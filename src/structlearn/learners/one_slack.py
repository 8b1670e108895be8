"""Cutting planes with one slack for all examples.

A constraint is joint: one output for every example,

    ξ ≥ b + ⟨g, w⟩,   b = Σ_i C_i Δ_i(ŷ_i),   g = Σ_i C_i A_iᵀ(μ(ŷ_i) − μ_i),

and the problem is ½‖w‖² + ξ. Whatever the number of examples, O(1/ε) rounds find a solution that
violates no constraint by more than ε, and the restricted problem has one variable per round. Its
products ⟨g, g'⟩ are computed once, when a constraint enters; constraints that have been without
weight for some rounds leave.

Each example keeps the last outputs found for it. The joint constraint of the best of those needs
no inference, and is taken as long as it is violated by a good part of the last gap.

The restricted problem (:mod:`~structlearn.learners.joint_constraints`) has a few dozen variables on
one simplex. On badly scaled features each round brings little: where the gap has not halved in ten
of them, the outputs kept are solved with one slack per example
(:mod:`~structlearn.learners.cutting_planes`), and the mean output of each, by the weights that
this finds, makes the next joint constraint: of all that are means of those outputs the best.

References
----------
T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Vector
from ..problem import Problem
from ..problem.problem import n_threads
from .base import Progress, Settings, Training, check_finite
from .cutting_planes import Round, checked_rounds, not_solved
from .hinge_dual import DualState, begin, check_hinge, native_cone, prove
from .joint_constraints import JointConstraints
from .summed_planes import SummedPlanes

__all__ = ["OneSlack"]

#: Outputs that an example keeps, and constraints that a round may make of them.
_MOST_OUTPUTS, _MOST_CACHED = 200, 10
#: A constraint without inference is taken where it is violated by this share of the last gap.
_CACHED_SHARE = 0.3
#: A violation that rounding errors may explain, as a share of the objective.
_ROUNDING = 1e-11
#: Rounds in which the gap has to come down to this share, or the kept outputs are solved at once.
_ROUNDS, _SLOW = 10, 0.5
#: A round that leaves this share of the gap, with nothing violated, brings nothing.
_STUCK = 0.9
#: Relative gap of the restricted problem where violations decide; where the gap does: this share of
#: the last one, or of the tolerance.
_EXACT, _SHARE, _OF_TOLERANCE = 1e-8, 0.1, 0.1


class OneSlack:
    """The learner.

    Parameters
    ----------
    settings : Settings
        Margin, C, number of rounds, tolerance of the gap; the temperature is 0.
    violation_tol : float, optional
        ε: stop where no joint constraint is violated by more than this in the mean of the examples
        (weighted as they are). None: the gap alone decides.
    """

    def __init__(self, settings: Settings, *, violation_tol: float | None = None) -> None:
        check_hinge(settings, "one-slack")
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
        """Add one joint constraint per round."""
        if problem.sharded:
            planes = SummedPlanes(self.settings, violation_tol=self.violation_tol)
            start = start.weights if isinstance(start, DualState) else start
            return planes.run(problem, start=start, progress=progress, n_jobs=n_jobs)
        s = self.settings
        threads = n_threads(n_jobs)
        training = Training(np.zeros(problem.n_weights), converged=False)
        mass = s.C * problem.total_weight
        saved = progress.saved
        if saved is not None:
            start = saved["state"]
        sets, state = begin(problem, s, _MOST_OUTPUTS, start, threads, products=False)
        if not state.more:
            empty = _core.WorkingSets(problem.native, s.C, s.margin, 1)
            gold = empty.cached(state.weights, np.zeros(problem.n_weights))
            joint = JointConstraints(problem.n_weights, gold)
            state.more = {"constraints": joint, "gaps": [], "at_once": False, "too_large": False}
        joint = state.more["constraints"]
        joint.check()
        gaps: list[float] = state.more["gaps"]
        rounds = [] if saved is None else checked_rounds(saved["rounds"])

        def snapshot() -> dict[str, Any]:
            return {"state": replace(state, sets=sets.dump()), "rounds": rounds}

        try:
            for k in range(len(progress.records), s.max_iter):
                if gaps:  # of the rounds before: the constraint of the last one waits
                    state.weights = self._next(problem, sets, state)
                w = state.weights
                found = sets.survey(w, 0.0, False, threads)
                state.iteration += 1
                state.oracle_calls += problem.n_examples
                total = problem.weighted_sum(found["loss"])
                dual = joint.dual(problem.cone)
                best = prove(problem, s, sets, state, found["loss"], dual, threads)
                primal = best.objective
                check_finite(primal)
                slack = joint.slack(w)
                seen = _round(k + 1, slack / mass, (s.C * total - slack) / mass,
                              primal, dual, len(joint))  # fmt: skip
                rounds.append(seen)
                training.objective, training.gap = primal, best.gap
                training.weights = best.weights
                training.converged = s.good_enough(training.gap, primal) or (
                    self.violation_tol is not None
                    and seen.violation <= self.violation_tol
                    and joint.gap(w, problem.cone) <= _EXACT * dual
                )
                # What only rounding violates would be added for ever.
                nothing_new = s.C * total - slack <= _ROUNDING * abs(primal)
                slow = len(gaps) == _ROUNDS and training.gap > _SLOW * gaps[0]
                at_a_loss = state.more["at_once"] or state.more["too_large"]
                stuck = nothing_new and at_a_loss and training.gap > _STUCK * gaps[-1]
                if stuck and not training.converged:
                    training.converged = s.as_good_as_it_gets(training.gap, primal)
                    training.unfinished = not_solved(training, s)
                state.more["at_once"] |= (slow or nothing_new) and not state.more["too_large"]
                gaps[:] = [*gaps[-_ROUNDS + 1 :], training.gap]
                ended = training.converged or stuck or k + 1 == s.max_iter
                training.stopped = progress.report(
                    training.weights.copy,
                    state=None if ended else snapshot,
                    iteration=k + 1,
                    loss=best.loss,
                    objective=primal,
                    dual=dual,
                    gap=training.gap,
                    violation=seen.violation,
                    constraints=len(joint),
                    oracle_calls=state.oracle_calls,
                )
                if training.stopped or training.converged or stuck:
                    break
        except KeyboardInterrupt:
            training.interrupted = True
            training.objective = training.gap = None
        training.weights = (state if training.interrupted else training).weights.copy()
        training.history = progress.records
        training.rounds = rounds
        state.sets = sets.dump()
        training.state = state
        return training

    def _next(self, problem: Problem, sets: Any, state: DualState) -> Vector:
        """Return the weights after the constraint just found, and some that cost no inference."""
        joint: JointConstraints = state.more["constraints"]
        w, cone, last = state.weights, problem.cone, state.more["gaps"][-1]
        precision = (0.0, _EXACT)
        if self.violation_tol is None:
            precision = (_SHARE * last, _OF_TOLERANCE * self.settings.tol)
        if state.more["at_once"]:
            best, g = np.zeros_like(w), np.zeros_like(w)
            b = sets.mean_constraint(best, g, *precision, native_cone(problem))
            if b is not None:
                joint.add(g, b, cone)
                joint.solve(cone, *precision)
                return best
            state.more["at_once"], state.more["too_large"] = False, True
        for k in range(_MOST_CACHED):
            g = np.zeros(len(w))
            b = sets.cached(w, g)
            if k and b + _core.dot(g, w) - joint.slack(w) <= _CACHED_SHARE * last:
                break
            joint.add(g, b, cone)
            w = joint.solve(cone, *precision)
        return w


def _round(
    iteration: int, slack: float, violation: float, primal: float, dual: float, size: int
) -> Round:
    none = np.zeros(0, dtype=np.int64)
    return Round(
        iteration, np.array([slack]), none, none, np.zeros(0), violation, primal, dual, size
    )
