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

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..problem import Problem
from .base import Progress, Settings, Training

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
    def at(w: Vector, *, average: bool) -> OnlineState:
        """Return a fresh state that begins at w."""
        return replace(OnlineState.zero(len(w), average=average), v=w.copy())

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
        """Whether the steps carry a dual point along."""
        s = self.settings
        return self.step == "decaying" and s.temperature == 0 and s.convex and not s.l1

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
                f"the constant step shrinks the weights by 1 - 1/(2CN) = {1 - 1 / (2 * self.settings.C * n):.3g}"
                " a step, which is not positive: raise C, or use step='decaying'"
            )
        state = start.copy() if start else OnlineState.zero(problem.n_weights, average=self.average)
        best: Training | None = None
        dual = -np.inf
        training = Training(state.last)
        for epoch in range(1, self.settings.max_iter + 1):
            order = self.rng.permutation(n) if self.shuffle else np.arange(n)
            report = self._pass(problem, state, order.astype(np.int64))
            training.interrupted = not report["complete"]
            if not training.interrupted:
                state.epochs += 1
            record = {"iteration": state.epochs, "loss": report["loss"], "updates": report["updates"]}
            if self.certifies and not training.interrupted:
                w = state.last
                dual = max(dual, state.cost - 0.5 * float(w @ w))
                # A look at the primal costs half a pass: at passes 1, 2, 4, 8, ... and the last.
                if _is_power_of_two(epoch) or epoch == self.settings.max_iter:
                    best = self._certify(problem, state, dual, best, n_jobs)
                    record["objective"], record["gap"] = best.objective, best.gap
            stop = progress.report(**record)
            if stop and best is not None:
                best = self._certify(problem, state, dual, None, n_jobs)
            if training.interrupted or stop or self._good_enough(best):
                break
            if self.step == "unit" and report["updates"] == 0:
                # Every later pass would be the same: the rest of the average in one go.
                left = (self.settings.max_iter - epoch) * n
                state.ahead += left * state.scale if self.average else 0.0
                state.total += left if self.average else 0.0
                state.steps += left
                break
        training.history = progress.records
        training.state = state
        training.weights = state.mean if self.average else state.last
        if best is not None and not training.interrupted:
            training.weights, training.objective = best.weights, best.objective
            training.gap, training.converged = best.gap, self._good_enough(best)
        return training

    def _good_enough(self, found: Training | None) -> bool:
        if found is None or found.gap is None or found.objective is None:
            return False
        return found.gap <= self.settings.tol * found.objective

    def _pass(
        self, problem: Problem, state: OnlineState, order: npt.NDArray[np.int64]
    ) -> dict[str, float]:
        s = self.settings
        names = ("scale", "ahead", "total", "steps", "cost")
        shared = {"v": state.v, "behind": state.behind, **{k: getattr(state, k) for k in names}}
        options = {
            "step": self.step,
            "margin": s.margin,
            "temperature": s.temperature,
            "C": s.C,
            "average": self.average,
        }
        report: dict[str, float] = problem._core.online(order, options, shared)
        for k in names:
            setattr(state, k, shared[k])
        return report

    def _certify(
        self,
        problem: Problem,
        state: OnlineState,
        dual: float,
        before: Training | None,
        n_jobs: int | None,
    ) -> Training:
        """Return the best weights by the primal — averaged, last, or those found before."""
        s = self.settings
        candidates = [] if before is None else [before]
        for w in [state.mean, state.last] if self.average else [state.last]:
            loss, _ = problem.total_loss(w, s.margin, s.temperature, gradient=False, n_jobs=n_jobs)
            candidates.append(Training(w, objective=0.5 * float(w @ w) + s.C * loss))
        best = min(candidates, key=lambda found: float(found.objective or 0.0))
        best.gap = max(0.0, float(best.objective or 0.0) - dual)
        return best


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
