"""Block-coordinate Frank-Wolfe for the structural SVM: the default solver of the hinge.

One visit of an example is an exact step of the dual in that example's variables:

1. find the most violated output (loss-augmented inference) and put it into the working set;
2. move weight between the outputs of the working set, pairwise and with exact line search, until
   their scores differ by a tenth of what they did;
3. w follows by one sparse update.

The block gap g_i = C_i (loss_i − mean score of the working set) adds up to the duality gap. It
rules three things: how often an example is visited (a share g_i / Σg, mixed with a uniform one);
whether inference is called at all (not where the outputs already known promise half of the last
gap); and when the gap is measured: in a pass with w held still, once the sum of the gaps as last
seen says that the tolerance may be reached, or ten passes have gone by.

Visits are slow where features are badly scaled. Where ten passes leave over three quarters of the
gap, a pass ends with a corrective step: all working sets at once, as in cutting planes
(:mod:`~structlearn.learners.cutting_planes`), without inference. They stop where they bring less
than a tenth of the gap.

The weights are those of the last step: with exact blocks their averages took at best a fifth off
the gap (letters-like and CoNLL-2000), which is less than the passes that keeping them costs.

A visit costs O(inference + k · features of the parts that differ) for k outputs in the working set,
memory is O(outputs kept · parts that differ); there is no matrix of examples × weights.

References
----------
S. Lacoste-Julien, M. Jaggi, M. Schmidt & P. Pletscher (2013), Block-coordinate Frank-Wolfe
optimization for structural SVMs; A. Osokin, J.-B. Alayrac, I. Lukasewitz, P. Dokania &
S. Lacoste-Julien (2016), Minding the gaps for block Frank-Wolfe optimization of structured SVMs,
and S. Lacoste-Julien & M. Jaggi (2015), On the global linear convergence of Frank-Wolfe
optimization variants, for the corrective steps;
P. Balamurugan, S. Shevade, S. Sundararajan & S. Keerthi (2011), A sequential dual method for
structural SVMs.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Integers, Vector
from ..problem import Problem
from ..problem.problem import n_threads
from .base import Progress, Settings, Training, check_finite
from .hinge_dual import DualState, begin, check_hinge, native_cone, prove

__all__ = ["FrankWolfe"]

#: How a visit goes, by measurement on the letters-like problem and CoNLL-2000.
_VISIT = {"steps": 10, "inner": 0.1, "cached_share": 0.5, "patience": 5}
#: Share of the visits that do not go by the gaps: what was solved long ago is seen again.
_UNIFORM = 0.2
#: Numbers that a state holds besides the weights.
_NUMBERS = ("random", "measured", "judged", "judged_gap", "best_objective", "bound")
#: Outputs that an example may keep.
_MOST_OUTPUTS = 50
#: Passes between two measurements of the gap at most.
_PASSES = 10
#: What that many passes have to leave of the gap, or corrective steps begin; and what one of those
#: has to leave for another one.
_SLOW, _WORTH = 0.75, 0.9
#: A corrective step is for this share of the gap, or of the tolerance; passes that it may take.
_SHARE, _OF_TOLERANCE, _CORRECTIVE_PASSES = 0.1, 0.3, 200


class FrankWolfe:
    """The learner.

    Parameters
    ----------
    settings : Settings
        Margin, C, number of passes, tolerance; the temperature is 0.
    random_state : numpy Generator
        For the order of the visits.
    shuffle : bool
        False: every example once per pass, in order.
    """

    def __init__(
        self, settings: Settings, *, random_state: np.random.Generator, shuffle: bool = True
    ) -> None:
        check_hinge(settings, "frank-wolfe")
        self.settings = settings
        self.rng = random_state
        self.shuffle = shuffle

    def run(
        self,
        problem: Problem,
        *,
        start: DualState | Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Make passes until the gap is small enough, ``max_iter`` of them at most."""
        s = self.settings
        threads = n_threads(n_jobs)
        training = Training(np.zeros(problem.n_weights), converged=False)
        if progress.saved is not None:
            start = progress.saved["state"]
        sets, state = begin(problem, s, _MOST_OUTPUTS, start, threads)
        if not state.more:
            state.more = {
                "gap": np.ones(problem.n_examples),
                "random": int(self.rng.integers(2**63)),
                "measured": 0,
                "judged": 0,
                "judged_gap": np.inf,
                "corrective": False,
                "best": np.zeros(problem.n_weights),
                "best_objective": np.inf,
                "bound": -np.inf,
            }
        if not all(isinstance(state.more[name], Real) for name in _NUMBERS):
            raise ValueError("the state of another solver")
        w, gap, cone = state.weights, state.more["gap"], native_cone(problem)
        try:
            for k in range(len(progress.records), s.max_iter):
                order = self._order(state)
                report = sets.frank_wolfe(w, gap, order, _VISIT, cone, state.multipliers)
                state.oracle_calls += report["oracle_calls"]
                training.interrupted = not report["complete"]
                if training.interrupted:
                    break
                state.iteration += 1
                if state.more["corrective"]:
                    goal = (_SHARE * state.more["judged_gap"], _OF_TOLERANCE * s.tol)
                    sets.solve(w, *goal, _CORRECTIVE_PASSES, cone, state.multipliers)
                last = k + 1 == s.max_iter
                record = self._look(problem, sets, state, training, last, threads)
                ended = last or s.good_enough(training.gap, training.objective)
                training.stopped = progress.report(
                    training.weights.copy,
                    state=None if ended else lambda: {"state": replace(state, sets=sets.dump())},
                    iteration=k + 1,
                    **record,
                )
                if training.stopped or ended:
                    break
            if training.stopped and training.gap is None:
                self._measure(problem, sets, state, training, threads, learn=False)
        except KeyboardInterrupt:
            training.interrupted = True
        if training.interrupted:
            training.weights, training.objective, training.gap = w, None, None
        training.weights = training.weights.copy()
        training.history = progress.records
        training.converged = s.good_enough(training.gap, training.objective)
        state.sets = sets.dump()
        training.state = state
        return training

    def _order(self, state: DualState) -> Integers:
        """Return the examples to visit in the next pass."""
        gap = state.more["gap"]
        if not self.shuffle:
            return np.arange(len(gap))
        uniform = 1.0 if state.iteration == 0 else _UNIFORM
        order: Integers
        order, state.more["random"] = _core.gap_sampled_order(gap, uniform, state.more["random"])
        return order

    def _look(
        self,
        problem: Problem,
        sets: Any,
        state: DualState,
        training: Training,
        last: bool,
        threads: int,
    ) -> dict[str, Any]:
        """Return the record of a pass; measure the gap where it is worth it."""
        s = self.settings
        dual = sets.dual(state.weights)
        gap = float(state.more["gap"].sum())
        check_finite(dual + gap)
        training.weights, training.objective, training.gap = state.weights, None, None
        due = state.iteration - state.more["measured"] >= _PASSES or state.more["corrective"]
        if due or gap <= s.tol * (dual + gap):
            self._measure(problem, sets, state, training, threads, learn=True)
        elif last:  # changes nothing, so that going on from here is going on as if never stopped
            self._measure(problem, sets, state, training, threads, learn=False)
        square = 0.5 * _core.dot(training.weights, training.weights)
        primal = dual + gap if training.objective is None else training.objective
        record = {
            "loss": (primal - square) / s.C,  # an estimate where no objective is given
            "dual": dual,
            "estimated_gap": gap,  # of the last visits, each at the weights that it met
            "oracle_calls": state.oracle_calls,
        }
        if training.objective is not None and training.gap is not None:
            bound = training.objective - training.gap
            record |= {"objective": training.objective, "gap": training.gap, "dual": bound}
        return record

    def _measure(
        self,
        problem: Problem,
        sets: Any,
        state: DualState,
        training: Training,
        threads: int,
        *,
        learn: bool,
    ) -> None:
        """Prove the gap in a pass with the weights held still; with ``learn``, keep what it finds.

        The gaps add up to primal − dual; the difference is taken of the sums themselves. The best
        weights and the best bound so far make it, which need not be the last ones.
        """
        s, w, more = self.settings, state.weights, state.more
        found = sets.survey(w, 0.0 if learn else np.inf, True, threads)
        state.oracle_calls += problem.n_examples
        bound = max(more["bound"], sets.bound(native_cone(problem), state.multipliers))
        here = prove(problem, s, sets, state, found["loss"], bound, threads)
        better = here.objective < more["best_objective"]
        training.weights = here.weights if better else more["best"]
        training.objective = min(here.objective, more["best_objective"])
        training.gap = max(0.0, training.objective - bound)
        if learn:
            more["gap"][:] = np.maximum(found["gap"], 0.0)
            more["measured"], more["bound"] = state.iteration, bound
            if better:
                more["best"], more["best_objective"] = here.weights.copy(), here.objective
            self._judge(state, training.gap)

    def _judge(self, state: DualState, gap: float) -> None:
        """Decide whether passes end with corrective steps, by how the gap has come down."""
        more = state.more
        passes = state.iteration - more["judged"]
        if more["corrective"]:
            more["corrective"] = gap <= _WORTH * more["judged_gap"]
        elif passes >= _PASSES:
            more["corrective"] = gap > _SLOW ** (passes / _PASSES) * more["judged_gap"]
        else:
            return  # too early to tell
        more["judged"], more["judged_gap"] = state.iteration, gap
