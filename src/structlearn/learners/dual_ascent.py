"""Dual coordinate ascent for ε > 0: one example's distribution at a time, with a certificate.

The dual of ½‖w‖² + C·Σ_i [infer(A_i w + γc, ε) + γc₀ − ⟨A_i w, μ_i*⟩] has a distribution q_i an
example. Ours stay in the family of the model: q_i is given by scores θ_i over the parts of example
i, with marginals μ_i, and

    w = C·Σ_i A_iᵀ(μ_i* − μ_i),    D = −½‖w‖² + C·Σ_i [infer(θ_i + γc, ε) + γc₀ − ⟨θ_i, μ_i⟩].

The bracket is the conjugate of infer at μ_i: entropies cost nothing, for every structure, and
primal − D is a true gap, far tighter than ½‖∇f‖² while weights that all examples share still sway.
A visit costs one infer, one scoring and one scatter (two infers the first time), memory is two
numbers per part; nothing has n × d entries.

A visit looks for the maximum over q_i alone, θ' = A_i(w − C·A_iᵀ(μ' − μ)), an implicit gradient
step. Each site has a step of its own, from the squared norm of its features and the spread of its
marginals, times a damping that every example learns from the slopes at both ends of its last step.
A step that would lower the dual is not taken; the example's next ones have one length for all
sites, along which the dual always rises at first. Orders are drawn anew for each pass: a fixed one
converges several times more slowly. Examples that hold much of the gap come up to three times in a
pass. The steps of a few visits at a time, a number that the problem alone gives, are chosen on
threads at the same weights and then taken in turn: same seed, same bits on any number of threads.

References
----------
M. Collins, A. Globerson, T. Koo, X. Carreras & P. Bartlett (2008), Exponentiated gradient
algorithms for conditional random fields and max-margin Markov networks; R. Le Priol, A. Piché &
S. Lacoste-Julien (2018), Adaptive stochastic dual coordinate ascent for conditional random fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector
from ..exceptions import CapabilityError
from ..problem import PartVector, Problem
from .base import Progress, Settings, Training, check_finite

__all__ = ["AscentState", "DualAscent"]

#: Damping of first visits and, to begin with, of later ones; the best found on text and on digits.
FIRST_DAMPING, LATER_DAMPING = 0.4, 0.7
#: Where "auto" takes it: C·λ/ε at most, and λ over the mean squared norm of a site. Inferences to a
#: gap of 1e-3, as a share of those of L-BFGS: at C·λ/ε of 29 and λ of 1.6 norms 0.3 (CoNLL-2000,
#: C = 1); of 1 to 16, 0.5 to 1.2 (words, digits and dense features); of 90 to 160, 1.1 to 11; at λ
#: of 27 norms 1.6 to 33 (100 sites of 5 dense features), of 69 norms 17 to 37 (300 sites).
STEEPEST, MOST_SHARED = 50.0, 25.0


@dataclass
class AscentState:
    """Everything that the next pass needs.

    Attributes
    ----------
    w, mean : arrays
        The weights of the dual point, and their average over the second half of the last pass.
    part_ptr : int64 array
        Where the parts of each example begin in ``theta`` and ``mu``.
    theta, mu : arrays
        Scores and marginals of each example's distribution.
    entropy, gap, damping, longest : arrays
        An example each: the conjugate (with its constant), the gap at the last visit, how much
        shorter its steps are than a diagonal model says, and the length of its steps where that is
        the same for all sites (1: it is not).
    visited : uint8 array
        0 where the distribution is still the gold output.
    passes, oracle_calls : int
        Done so far.
    rng : dict
        State of the generator that draws the orders.
    """

    w: Vector
    mean: Vector
    part_ptr: Integers
    theta: Vector
    mu: Vector
    entropy: Vector
    gap: Vector
    damping: Vector
    longest: Vector
    visited: npt.NDArray[np.uint8]
    passes: int = 0
    oracle_calls: int = 0
    rng: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def zero(problem: Problem) -> AscentState:
        """Return the point where every distribution is the gold output, and w = 0."""
        n = problem.n_examples
        ptr = _core.part_pointers(problem.native)
        parts = int(ptr[-1])
        return AscentState(
            w=np.zeros(problem.n_weights),
            mean=np.zeros(problem.n_weights),
            part_ptr=ptr,
            theta=np.zeros(parts),
            mu=np.zeros(parts),
            entropy=np.zeros(n),
            gap=np.full(n, np.inf),
            damping=np.full(n, LATER_DAMPING),
            longest=np.ones(n),
            visited=np.zeros(n, dtype=np.uint8),
        )

    def copy(self) -> AscentState:
        """Return a state that shares nothing with this one."""
        arrays = {k: v.copy() for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)


class DualAscent:
    """Dual coordinate ascent.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0, l1 zero and every label known.
    random_state : numpy Generator
        Draws the orders of the passes.
    """

    def __init__(self, settings: Settings, *, random_state: np.random.Generator) -> None:
        if settings.temperature <= 0:
            raise ValueError(
                "dual ascent needs a smooth loss: temperature > 0. For temperature 0 use "
                "solver='sgd'"
            )
        if settings.l1:
            raise ValueError("dual ascent has no l1 term: use solver='lbfgs'")
        if not settings.convex:
            raise ValueError(
                "dual ascent needs all labels to be known, because unknown ones make the loss "
                "non-convex. Use solver='lbfgs'"
            )
        self.settings = settings
        self.rng = random_state

    @staticmethod
    def suits(problem: Problem, settings: Settings) -> bool:
        """Whether few passes will do: a step of one example must not undo those of the others.

        The number of passes grows with C·λ/ε, λ the largest eigenvalue of A_i A_iᵀ, and where that
        is far above the squared norm of a site (long chains of few dense features) steps for each
        site alone are poor ones. Close to the last digits a method with curvature is better.
        """
        if not settings.convex or settings.l1 or settings.tol < 1e-6:
            return False
        largest = largest_eigenvalue(problem)
        if settings.C * largest > STEEPEST * settings.temperature:
            return False
        return bool(largest <= MOST_SHARED * _core.mean_squared_norm(problem.native))

    def run(
        self,
        problem: Problem,
        *,
        start: AscentState | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Pass over the examples ``max_iter`` times, or until the gap is small enough.

        ``start`` is the ``state`` of an earlier run on the same problem: the run goes on as if it
        had never ended.
        """
        s = self.settings
        if _core.mean_squared_norm(problem.native) < 0:
            raise CapabilityError(
                f"solver='dual' needs one norm for the features of all parts of a site, which "
                f"{problem.name} does not have: use solver='lbfgs' or 'sag'"
            )
        saved = progress.saved
        start = start if saved is None else saved["state"]
        state = AscentState.zero(problem) if start is None else start.copy()
        if start is not None:
            self.rng.bit_generator.state = start.rng or self.rng.bit_generator.state
        training = Training(state.mean, converged=False, state=state)
        # The dual's rise over a pass tells how near the end is: a look at the primal, which costs
        # half a pass, is worth it where the rise is below this share of the tolerance.
        below = 0.5 if saved is None else float(saved["below"])
        before = self._dual(problem, state)

        def snapshot() -> dict[str, Any]:
            return {"state": state, "below": below}

        try:
            for k in range(len(progress.records) + 1, s.max_iter + 1):
                report = self._pass(problem, state, n_jobs)
                training.interrupted = not report["complete"]
                dual = self._dual(problem, state)
                check_finite(dual)
                record: dict[str, Any] = {
                    "iteration": k,
                    "loss": report["loss"],
                    "oracle_calls": state.oracle_calls,
                    "dual": dual,
                    "estimated_gap": float(state.gap[np.isfinite(state.gap)].sum()),
                }
                training.weights = state.mean.copy()
                training.objective = training.gap = None
                rise, before = max(dual - before, 0.0), dual
                ready = k == s.max_iter or rise <= below * s.tol * dual
                if ready and not training.interrupted:
                    self._look(problem, training, record, n_jobs)
                    assert training.objective is not None
                    assert training.gap is not None
                    state.oracle_calls += problem.n_examples
                    training.converged = s.good_enough(training.gap, training.objective)
                    if rise <= 1e-14 * abs(dual):  # the last digits: no pass can do better
                        training.converged |= s.as_good_as_it_gets(training.gap, training.objective)
                    if not training.converged:  # wait until the rise is as much smaller
                        below = min(below, 0.8 * rise / training.gap)
                ended = training.interrupted or training.converged or k == s.max_iter
                training.stopped = progress.report(
                    lambda: training.weights,
                    state=None if ended else snapshot,
                    **record,
                )
                if training.interrupted or training.stopped or training.converged:
                    break
            if training.gap is None and not training.interrupted:
                self._look(problem, training, {}, n_jobs)
        except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
            training.interrupted = True
            training.weights = state.mean.copy()
        training.history = progress.records
        return training

    def _pass(self, problem: Problem, state: AscentState, n_jobs: int | None) -> dict[str, Any]:
        """Visit every example, in a new order; the state changes in place.

        A visit is whole or not at all, so Ctrl-C and errors leave a dual point.
        """
        s = self.settings
        examples = np.arange(problem.n_examples, dtype=np.int64)
        order = self.rng.permutation(np.repeat(examples, _visits(state)))
        settings = {
            "margin": s.margin,
            "temperature": s.temperature,
            "C": s.C,
            "first_damping": FIRST_DAMPING,
        }
        report: dict[str, Any] = _core.dual_ascent_pass(
            problem.native, order, settings, vars(state), problem.threads(n_jobs)
        )
        state.passes += bool(report["complete"])
        state.oracle_calls += int(report["inferences"])
        state.rng = dict(self.rng.bit_generator.state)
        return report

    def _dual(self, problem: Problem, state: AscentState) -> float:
        entropy = problem.weighted_sum(state.entropy)
        return self.settings.C * entropy - 0.5 * _core.dot(state.w, state.w)

    def _look(
        self, problem: Problem, training: Training, record: dict[str, Any], n_jobs: int | None
    ) -> None:
        """Evaluate the primal at the weights; note it with its gap."""
        s, w = self.settings, training.weights
        loss, _ = problem.total_loss(w, s.margin, s.temperature, gradient=False, n_jobs=n_jobs)
        training.objective = 0.5 * _core.dot(w, w) + s.C * loss
        check_finite(training.objective)
        training.gap = max(0.0, training.objective - self._dual(problem, training.state))
        record.update(loss=loss, objective=training.objective, gap=training.gap)


def largest_eigenvalue(problem: Problem, examples: int = 16, rounds: int = 8) -> float:
    """Return the largest eigenvalue of A_i A_iᵀ, the mean over some examples.

    By power iteration through scores and scatters: O(examples · rounds · features of an example).
    A bound from below, as close as it takes to choose a solver.
    """
    n = problem.n_examples
    rng = np.random.default_rng(0)
    w = np.zeros(problem.n_weights)
    found = []
    for i in np.unique(np.linspace(0, n - 1, min(n, examples)).astype(np.int64)).tolist():
        v, value = rng.normal(size=int(problem.n_parts(i))), 0.0
        for _ in range(rounds):
            norm = float(np.sqrt(_core.dot(v, v)))
            if norm == 0.0:
                break
            unit = PartVector(None, v / norm)
            problem.scatter(i, unit, 1.0, w)
            v = problem.theta(i, w)
            v = np.where(np.isfinite(v), v, 0.0)  # what is forbidden has no features to share
            problem.scatter(i, unit, -1.0, w)
            value = _core.dot(unit.value, v)
        found.append(value)
    return float(np.mean(found)) if found else 0.0


def _visits(state: AscentState) -> Integers:
    """Return how often the next pass visits each example: 1 to 3 times, by its share of the gap.

    A few examples keep most of the gap in the end; to visit all equally often costs a third more.
    """
    gap = np.where(np.isfinite(state.gap), np.maximum(state.gap, 0.0), 0.0)
    if state.passes < 2 or not gap.any():
        return np.ones(len(gap), dtype=np.int64)
    again: Integers = np.minimum(gap / (2.0 * gap.mean()), 2.0).astype(np.int64)
    return 1 + again
