"""Stochastic average gradient for ε > 0: one example's gradient at a time, the others remembered.

For ½‖w‖² + C·Σ_i weight_i·L_i(w) over n examples, λ = 1/(C·n), a visit of example i does

    m_i ← p_i(w) − μ_i*,    g = Σ_i weight_i·A_iᵀm_i,    w ← (1 − ηλ)·w − (η/n)·g.

The memory m_i is a vector over the example's parts, g one over the weights; nothing has n × d
entries. With w = a·v − b·g a step costs what the example's features cost: two scorings, one infer
and one scatter (the dense term only moves a and b; where g changes, v does too).

The step is η = ½(1/max ℓ + 1/mean ℓ), with an estimate ℓ_i of each gradient's Lipschitz constant
that a line search halves and doubles, the less often the longer it has been right. From the second
pass on half of the visits are uniform and half in proportion to ℓ.

The memory is a dual point and its entropies are known from the visits, so that

    D = C·Σ_i weight_i·[infer(θ_i + γc, ε) + γc₀ − ⟨θ_i, p_i⟩] − ½‖C·g‖²

costs nothing. The gap is that to the better of D and the dual at p(w), where it is ½‖∇f(w)‖².

References
----------
M. Schmidt, R. Babanezhad, M. Ahmed, A. Defazio, A. Clifton & A. Sarkar (2015), Non-uniform
stochastic average gradient method for training conditional random fields; M. Schmidt, N. Le Roux &
F. Bach (2017), Minimizing finite sums with the stochastic average gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector
from ..problem import Problem
from .base import Progress, Settings, Training, check_finite

__all__ = ["SAG", "SAGState"]


@dataclass
class SAGState:
    """Everything that the next pass needs.

    Attributes
    ----------
    w, g : arrays
        The weights, and the sum of the remembered gradients (without the regulariser and C).
    part_ptr : int64 array
        Where the parts of each example begin in ``memory``.
    memory : array
        p_i − μ_i* of each example's last visit.
    entropy, loss, lipschitz : arrays
        An example each: the conjugate of infer (with its constant) and the loss at the last visit,
        and the estimate of the gradient's Lipschitz constant.
    patience, streak : int32 arrays
        Visits until the estimate is tried again, and how often in a row it was right.
    visited : uint8 array
        0 where there is no memory yet.
    step_factor : float
        Below 1 after steps that were too long.
    passes, oracle_calls : int
        Done so far.
    looked : int
        The pass of the last look at the objective.
    below : float
        The next look waits until the estimated gap is at most this multiple of the tolerance.
    objective : float
        The objective at the last look.
    rng : dict
        State of the generator that draws the examples.
    """

    w: Vector
    g: Vector
    part_ptr: Integers
    memory: Vector
    entropy: Vector
    loss: Vector
    lipschitz: Vector
    patience: npt.NDArray[np.int32]
    streak: npt.NDArray[np.int32]
    visited: npt.NDArray[np.uint8]
    step_factor: float = 1.0
    passes: int = 0
    oracle_calls: int = 0
    looked: int = 4
    below: float = 1.0
    objective: float = np.inf
    rng: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def begin(problem: Problem, w: Vector | None = None) -> SAGState:
        """Return the state before any visit, at the given weights or at zero."""
        n = problem.n_examples
        ptr = _core.part_pointers(problem.native)
        return SAGState(
            w=np.zeros(problem.n_weights) if w is None else np.array(w, dtype=np.float64),
            g=np.zeros(problem.n_weights),
            part_ptr=ptr,
            memory=np.zeros(int(ptr[-1])),
            entropy=np.zeros(n),
            loss=np.zeros(n),
            lipschitz=np.zeros(n),
            patience=np.zeros(n, dtype=np.int32),
            streak=np.zeros(n, dtype=np.int32),
            visited=np.zeros(n, dtype=np.uint8),
        )

    def copy(self) -> SAGState:
        """Return a state that shares nothing with this one."""
        arrays = {k: v.copy() for k, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)


class SAG:
    """Stochastic average gradient with a line search and non-uniform sampling.

    Parameters
    ----------
    settings : Settings
        The temperature must be above 0, l1 zero and every label known.
    random_state : numpy Generator
        Draws the examples.
    """

    def __init__(self, settings: Settings, *, random_state: np.random.Generator) -> None:
        if settings.temperature <= 0:
            raise ValueError(
                "SAG needs a smooth loss: temperature > 0. For temperature 0 use solver='sgd'"
            )
        if settings.l1:
            raise ValueError("SAG has no l1 term: use solver='lbfgs'")
        if not settings.convex:
            raise ValueError(
                "SAG needs all labels to be known, because unknown ones make the loss non-convex. "
                "Use solver='lbfgs'"
            )
        self.settings = settings
        self.rng = random_state

    def run(
        self,
        problem: Problem,
        *,
        start: SAGState | Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Make ``max_iter`` passes, n visits each, or stop where the gap is small enough.

        ``start`` is the ``state`` of an earlier run on the same problem, and the run goes on as if
        it had never ended; or weights to begin at.
        """
        s = self.settings
        if progress.saved is not None:
            start = progress.saved["state"]
        if isinstance(start, SAGState):
            state = start.copy()
            self.rng.bit_generator.state = start.rng or self.rng.bit_generator.state
        else:
            state = SAGState.begin(problem, start)
        training = Training(state.w, converged=False, state=state)
        try:
            for k in range(len(progress.records) + 1, s.max_iter + 1):
                report = self._pass(problem, state)
                training.interrupted = not report["complete"]
                training.weights = state.w.copy()
                training.objective = training.gap = None
                dual = self._dual(problem, state)
                check_finite(dual)
                loss = problem.weighted_sum(state.loss)
                record: dict[str, Any] = {
                    "iteration": k,
                    "loss": loss,
                    "oracle_calls": state.oracle_calls,
                    "dual": dual,
                }
                if not training.interrupted:
                    primal = 0.5 * _core.dot(state.w, state.w) + s.C * loss
                    error = state.w + s.C * state.g
                    guess = max(primal - dual, 0.5 * _core.dot(error, error))
                    record["estimated_gap"] = guess
                    due = guess <= state.below * s.tol * primal or state.passes >= 2 * state.looked
                    if due:
                        self._look(problem, training, record, n_jobs)
                        self._learn_from(training, state, guess)
                    elif k == s.max_iter:  # a look that a longer run would not have had
                        self._look(problem, training, record, n_jobs)
                    training.converged = s.good_enough(training.gap, training.objective)
                ended = training.interrupted or training.converged or k == s.max_iter
                training.stopped = progress.report(
                    lambda: training.weights,
                    state=None if ended else lambda: {"state": state},
                    **record,
                )
                if training.interrupted or training.stopped or training.converged:
                    break
            if training.gap is None and not training.interrupted:
                self._look(problem, training, {}, n_jobs)
                training.converged = s.good_enough(training.gap, training.objective)
        except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
            training.interrupted = True
            training.weights = state.w.copy()
        training.history = progress.records
        return training

    def _pass(self, problem: Problem, state: SAGState) -> dict[str, Any]:
        """Visit n examples; the state changes in place.

        A visit is whole or not at all, so Ctrl-C and errors leave weights and a dual point.
        """
        s = self.settings
        n = problem.n_examples
        seen = bool(state.visited.all()) or state.passes > 0
        order = np.empty(0, dtype=np.int64) if seen else self.rng.permutation(n).astype(np.int64)
        draws = self.rng.random(n) if seen else np.empty(0)
        state.rng = dict(self.rng.bit_generator.state)
        settings = {"margin": s.margin, "temperature": s.temperature, "C": s.C}
        report: dict[str, Any] = _core.sag_pass(problem.native, order, draws, settings, vars(state))
        state.passes += bool(report["complete"])
        state.oracle_calls += int(report["inferences"])
        return report

    def _dual(self, problem: Problem, state: SAGState) -> float:
        """Return the dual at the memory."""
        C = self.settings.C
        return C * problem.weighted_sum(state.entropy) - 0.5 * C * C * _core.dot(state.g, state.g)

    def _look(
        self, problem: Problem, training: Training, record: dict[str, Any], n_jobs: int | None
    ) -> None:
        """Evaluate objective and gradient at the weights; note them with the gap."""
        s, w, state = self.settings, training.weights, training.state
        loss, gradient = problem.total_loss(w, s.margin, s.temperature, n_jobs=n_jobs)
        assert gradient is not None
        state.oracle_calls += problem.n_examples
        gradient *= s.C
        gradient += w
        training.objective = 0.5 * _core.dot(w, w) + s.C * loss
        check_finite(training.objective)
        gap = 0.5 * _core.dot(gradient, gradient)
        training.gap = max(0.0, min(gap, training.objective - self._dual(problem, state)))
        record.update(
            loss=loss,
            oracle_calls=state.oracle_calls,
            objective=training.objective,
            gap=training.gap,
            dual=training.objective - training.gap,
        )

    def _learn_from(self, training: Training, state: SAGState, guess: float) -> None:
        """Note what a look has told for later passes."""
        assert training.objective is not None
        assert training.gap is not None
        state.looked = state.passes
        if training.objective > state.objective:
            state.step_factor *= 0.5
        state.objective = training.objective
        if training.gap > 0.0:  # wait until the guess is as much smaller
            wanted = self.settings.tol * training.objective
            state.below = min(state.below, 0.8 * guess / training.gap) if wanted > 0.0 else 0.0
