"""Perceptron and stochastic subgradient: one example, one step (Algorithms 39, 40 and 41).

========== ==================================== ==================================================
step       update                               what it is
========== ==================================== ==================================================
unit       w ← w − r                            perceptron (Algorithms 39, 40), r = ∇loss
constant   w ← (w − r) · (1 − λ/N), λ = 1/(2C)  Algorithm 41 as printed
decaying   w ← (1 − 1/t) w − (C·N/t) r          subgradient of ½‖w‖² + C Σ loss, steps 1/(λt)
========== ==================================== ==================================================

Averaging is lazy: its cost is that of the update, whatever the number of weights. The decaying step
at ε = 0 proves how far it is from the optimum for nothing: after whole passes w is C·Σ_i A_iᵀ(μ_i −
p̄_i), p̄_i the mean of the outputs found for example i, a feasible dual point with value
−½‖w‖² + C·Σ_i Δ̄_i (S. Lacoste-Julien et al. 2013, §4).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..problem import Problem
from .base import Progress, Settings, Training, check_finite

__all__ = ["Online", "OnlineState"]

Vector = npt.NDArray[np.float64]


@dataclass
class OnlineState:
    """Everything that the next step needs: w = scale·v, average = (ahead·v + behind) / total."""

    v: Vector
    behind: Vector
    scale: float = 1.0
    ahead: float = 0.0
    total: float = 0.0
    steps: float = 0.0
    cost: float = 0.0
    epochs: int = 0

    @staticmethod
    def zero(n_weights: int, *, average: bool) -> OnlineState:
        """Return the state before the first step."""
        return OnlineState(np.zeros(n_weights), np.zeros(n_weights if average else 0))

    @staticmethod
    def at(w: Vector, *, average: bool, steps: float) -> OnlineState:
        """Return a state that begins at w, as small as steps are after that many of them."""
        return replace(OnlineState.zero(len(w), average=average), v=w.copy(), steps=steps)

    def copy(self) -> OnlineState:
        """Return a state that shares nothing with this one."""
        return replace(self, v=self.v.copy(), behind=self.behind.copy())

    def moved(self, move: Callable[[Vector], Vector]) -> OnlineState:
        """Return the state in another layout of the weights."""
        behind = move(self.behind) if len(self.behind) else self.behind.copy()
        return replace(self, v=move(self.v), behind=behind)

    @property
    def last(self) -> Vector:
        """The weights after the last step."""
        return self.scale * self.v

    @property
    def mean(self) -> Vector:
        """The averaged weights."""
        if self.total == 0.0:
            return self.last
        return (self.ahead * self.v + self.behind) / self.total


class Online:
    """The online learner.

    Parameters
    ----------
    settings : Settings
        Margin, temperature, C, number of passes, tolerance.
    step : {"unit", "constant", "decaying"}
        See the module.
    average : bool
        Return the average of the weights over all steps.
    shuffle : bool
        A new order for each pass.
    random_state : numpy Generator
        Makes the orders.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        step: str,
        average: bool,
        shuffle: bool,
        random_state: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.step = step
        self.average = average
        self.shuffle = shuffle
        self.rng = random_state

    @property
    def certifies(self) -> bool:
        """Whether there is a proof: always at ε > 0, else where the steps carry a dual point."""
        s = self.settings
        return s.convex and not s.l1 and (s.temperature > 0 or self.step == "decaying")

    def run(
        self,
        problem: Problem,
        *,
        start: OnlineState | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Pass over the examples ``max_iter`` times, or until the gap is small enough."""
        n = problem.n_examples
        if self.step == "constant" and 2 * self.settings.C * n <= 1:
            raise ValueError(
                f"the constant step multiplies the weights by 1 - 1/(2CN), which is not positive "
                f"for C = {self.settings.C:g}, N = {n}: raise C, or use step='decaying'"
            )
        state = start.copy() if start else OnlineState.zero(problem.n_weights, average=self.average)
        certificate = _Certificate(self.settings, problem, state)
        best: Training | None = None
        training = Training(state.last)
        try:
            for epoch in range(1, self.settings.max_iter + 1):
                order = self.rng.permutation(n) if self.shuffle else np.arange(n)
                state, report = self._pass(problem, state, order.astype(np.int64))
                training.interrupted = not report["complete"]
                check_finite(report["loss"])
                if not training.interrupted:
                    state.epochs += 1
                record: dict[str, float | None] = {
                    "iteration": state.epochs,
                    "loss": report["loss"],
                    "updates": report["updates"],
                }
                last = epoch == self.settings.max_iter
                if self.certifies and not training.interrupted:
                    certificate.look(state)
                    # A look at the primal costs half a pass: at passes 1, 2, 4, ... and the last.
                    if _is_power_of_two(epoch) or last:
                        best = certificate.at(self._chosen(state), n_jobs)
                        record["objective"], record["gap"] = best.objective, best.gap
                training.stopped = progress.report(functools.partial(self._chosen, state), **record)
                if training.interrupted or training.stopped or self._good_enough(best):
                    break
                if self.step == "unit" and report["updates"] == 0:
                    # Every later pass would be the same: the rest of the average in one go.
                    left = (self.settings.max_iter - epoch) * n
                    state.ahead += left * state.scale if self.average else 0.0
                    state.total += left if self.average else 0.0
                    state.steps += left
                    break
            ended_early = training.stopped or not self.certifies
            if self.step != "unit" and ended_early and not training.interrupted:
                best = certificate.at(self._chosen(state), n_jobs)
        except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
            training.interrupted = True
        training.history = progress.records
        training.state = state
        training.weights = self._chosen(state)
        if best is not None and not training.interrupted:
            training.objective, training.gap = best.objective, best.gap
            training.converged = self._good_enough(best) or not self.certifies
        return training

    def _chosen(self, state: OnlineState) -> Vector:
        return state.mean if self.average else state.last

    def _good_enough(self, found: Training | None) -> bool:
        if found is None or found.gap is None or found.objective is None:
            return False
        return found.gap <= self.settings.tol * found.objective

    def _pass(
        self, problem: Problem, state: OnlineState, order: npt.NDArray[np.int64]
    ) -> tuple[OnlineState, dict[str, float]]:
        """Return the state after one pass, and what the pass was like."""
        s = self.settings
        after = state.copy()  # an error or Ctrl-C in the middle must not tear the state
        names = ("scale", "ahead", "total", "steps", "cost")
        shared = {"v": after.v, "behind": after.behind, **{k: getattr(after, k) for k in names}}
        options = {
            "step": self.step,
            "margin": s.margin,
            "temperature": s.temperature,
            "C": s.C,
            "average": self.average,
        }
        report: dict[str, float] = problem._core.online(order, options, shared)
        for k in names:
            setattr(after, k, shared[k])
        return after, report


class _Certificate:
    """A bound on how far weights are from the optimum, from the passes of one run.

    At ε > 0 it is ½‖∇f(w)‖², for any w. At ε = 0 the steps since the run began are a dual point u:
    with w₀ the weights after t₀ steps, t·w = t₀·w₀ + (t − t₀)·u. What came before the run may have
    been other data and proves nothing.
    """

    def __init__(self, settings: Settings, problem: Problem, start: OnlineState) -> None:
        self.settings = settings
        self.problem = problem
        self.origin = start.last if start.steps else None
        self.begin, self.cost = start.steps, start.cost
        self.dual = -np.inf

    def look(self, state: OnlineState) -> None:
        """Take note of the dual point after a whole pass."""
        if self.settings.temperature > 0:
            return
        u, cost = state.last, state.cost
        if self.origin is not None:
            taken = state.steps - self.begin
            u = (state.steps * u - self.begin * self.origin) / taken
            cost = (state.steps * cost - self.begin * self.cost) / taken
        # No loss is negative, so 0 is a bound too, and the better one after a wild start.
        self.dual = max(0.0, self.dual, cost - 0.5 * float(u @ u))

    def at(self, w: Vector, n_jobs: int | None) -> Training:
        """Return the weights with their objective, and their gap where there is a proof."""
        s = self.settings
        smooth = s.temperature > 0 and s.convex
        loss, gradient = self.problem.total_loss(
            w, s.margin, s.temperature, gradient=smooth, n_jobs=n_jobs
        )
        objective = 0.5 * float(w @ w) + s.C * loss
        if gradient is not None:
            slope = w + s.C * gradient
            self.dual = max(0.0, self.dual, objective - 0.5 * float(slope @ slope))
        gap = None if self.dual == -np.inf else max(0.0, objective - self.dual)
        return Training(w, objective=objective, gap=gap)


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
