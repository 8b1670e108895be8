"""Latent and partial labels by the concave-convex procedure (CCCP), around any convex learner.

Where labels are unknown, the objective is a difference of convex functions,

    F(w) = ½‖w‖² + l1·‖w‖₁ + C·Σ_i [infer(θ_i + γc_i, ε) + γc₀ − infer(θ_i where allowed, ε)].

A round replaces what is subtracted by its tangent at w_t, ⟨p_clamp(w_t), θ⟩ + const: at ε = 0 it
fills in the best labels that are allowed, above it their marginals. What is left is convex, lies
above F and touches it at w_t, so whatever lowers it lowers F at least as much. With γ = 1, ε = 0 it
is the latent structural SVM; with γ = 0, ε = 1, the CRF, it is expectation maximisation.

F has many local optima, and nothing is proven about the one that is found: there is no certificate,
only the gap of each round's convex problem, which is in the history.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem
from .base import Learner, Progress, Settings, Training

__all__ = ["CCCP", "NOISE"]

Vector = npt.NDArray[np.float64]

#: Size of the noise that fills in the first labels, as a share of the other weights' size.
NOISE = 0.01


class CCCP:
    """Rounds of filling in labels and learning from them.

    The first labels are filled in by given weights or else by those that the learner finds with
    the completely labelled examples alone (0 where there are none) plus noise, a hundredth of their
    size. The noise decides where nothing else does: between hidden states that no example tells
    apart. Examples may be latent altogether.

    A round costs a run of the learner, one inference per example for the labels and two for F. The
    end is where a round lowers F by no more than ``tol`` times F, or after ``max_iter`` rounds. F
    never rises: a round that would raise it is undone and is the last one; the learner has then
    shown, to its own tolerance, that there was nothing to gain.

    Parameters
    ----------
    learner : Learner
        For complete labels. At ε > 0 it must take gold parts with values (``problem.soft_gold``),
        as all do that see losses through the problem alone.
    settings : Settings
        Those of the learner.
    random_state : numpy Generator
        Makes the noise.
    resume : callable, optional
        From weights, and the last :class:`Training` or None, to what the learner should start
        from; default: the weights.

    References
    ----------
    A. Yuille & A. Rangarajan (2003), The concave-convex procedure; C.-N. Yu & T. Joachims (2009),
    Learning structural SVMs with latent variables; P. Felzenszwalb et al. (2010), Object detection
    with discriminatively trained part-based models.
    """

    def __init__(
        self,
        learner: Learner,
        settings: Settings,
        *,
        random_state: np.random.Generator,
        resume: Callable[[Vector, Training | None], Any] = lambda weights, last: weights,
    ) -> None:
        self.learner = learner
        self.settings = settings
        self.rng = random_state
        self.resume = resume

    def run(
        self,
        problem: Problem,
        *,
        start: Vector | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Learn, from ``start``, weights; with every label known it is the learner's own run."""
        if not problem.has_unknown:
            near = None if start is None else self.resume(start, None)
            return self.learner.run(problem, start=near, progress=progress, n_jobs=n_jobs)
        found = Training(np.zeros(problem.n_weights), converged=False)
        try:
            self._rounds(problem, start, found, progress, n_jobs)
        except KeyboardInterrupt:
            found.interrupted = True
        found.history = progress.records
        return found

    def _rounds(
        self,
        problem: Problem,
        start: Vector | None,
        found: Training,
        progress: Progress,
        n_jobs: int | None,
    ) -> None:
        s = self.settings
        last: Training | None = None
        loss = 0.0
        calls = 0
        filled_by: Vector | None = None  # the labels that found.state belongs to

        def learn(filled: Problem, near: Vector | None) -> Training:
            nonlocal calls
            inner = Progress(max(0, progress.verbose - 1), name=f"{progress.name} round")
            begin = None if near is None else self.resume(near, last)
            training = self.learner.run(filled, start=begin, progress=inner, n_jobs=n_jobs)
            passes = len(training.history)
            seen = training.history[-1].get("oracle_calls") if passes else 0
            calls += passes * problem.n_examples if seen is None else seen
            return training

        saved = progress.saved
        if saved is not None:
            start = found.weights = saved["weights"]
            found.state, found.objective = saved["state"], saved["objective"]
            found.rounds, filled_by = saved["rounds"], saved["filled_by"]
            if filled_by is not None:
                found.filled = problem.completed(filled_by, s.temperature, n_jobs=n_jobs)
            loss, calls = saved["loss"], saved["calls"]
            last = Training(found.weights, state=found.state)
            self._set_generators(saved["rng"])
        elif start is not None:
            found.weights = start.copy()
            loss, found.objective = self._objective(problem, start, n_jobs)
            calls += 2 * problem.n_examples
        near, by = start, found.weights
        if start is None:
            weights = _weights_of_complete(problem)
            if weights.any():
                last = learn(problem.completed(by, 0.0, sample_weight=weights), None)
                near = by = found.weights = last.weights
                found.interrupted = last.interrupted
            size = float(np.sqrt(np.mean(by**2))) or 1.0
            by = by + NOISE * size * problem.random_weights(self.rng)
        for iteration in range(len(progress.records) + 1, s.max_iter + 1):
            if found.interrupted:
                return
            # Marginals of weights that are mostly noise are alike for all hidden states, and would
            # stay so: the first labels are whole outputs at any temperature.
            temperature = 0.0 if found.objective is None else s.temperature
            filled = problem.completed(by, temperature, n_jobs=n_jobs)
            last = learn(filled, near)
            found.interrupted = last.interrupted
            before = found.objective
            if before is None:
                found.weights = last.weights
            if before is None or found.state is None:
                found.state, found.rounds, found.filled = last.state, last.rounds, filled
                filled_by = by if temperature == s.temperature else None
            if last.interrupted:
                return
            new_loss, objective = self._objective(problem, last.weights, n_jobs)
            calls += 3 * problem.n_examples
            if before is None or objective < before:
                found.weights, found.state = last.weights, last.state
                found.rounds, found.filled = last.rounds, filled
                filled_by = by if temperature == s.temperature else None
                loss, found.objective = new_loss, objective
            near = by = found.weights
            settled = before is not None and before - objective <= s.tol * abs(before)
            snapshot = {
                "weights": found.weights,
                "state": found.state,
                "rounds": found.rounds,
                "filled_by": filled_by,
                "objective": found.objective,
                "loss": loss,
                "calls": calls,
                "rng": self._generators(),
            }
            found.stopped = progress.report(
                lambda: found.weights,
                state=None if settled or iteration == s.max_iter else partial(dict, snapshot),
                lasting=True,  # a round begins with copies
                iteration=iteration,
                loss=loss,
                objective=found.objective,
                inner_objective=last.objective,
                inner_gap=last.gap,
                inner_iterations=len(last.history),
                oracle_calls=calls,
            )
            if settled:
                found.converged, found.stopped = last.converged, False
                found.unfinished = _not_solved(last, s)
                return
            if found.stopped:
                return

    def _generators(self) -> list[dict[str, Any]]:
        """Return the states of the generators, of the rounds and of the learner where it has one.

        What else a learner keeps belongs to one round.
        """
        owners = [o for o in (self, self.learner) if hasattr(o, "rng")]
        return [dict(o.rng.bit_generator.state) for o in owners]

    def _set_generators(self, states: list[dict[str, Any]]) -> None:
        owners = [o for o in (self, self.learner) if hasattr(o, "rng")]
        for owner, state in zip(owners, states, strict=True):
            owner.rng.bit_generator.state = state

    def _objective(self, problem: Problem, w: Vector, n_jobs: int | None) -> tuple[float, float]:
        """Return Σ loss and F."""
        s = self.settings
        loss, _ = problem.total_loss(w, s.margin, s.temperature, gradient=False, n_jobs=n_jobs)
        norms = 0.5 * _core.dot(w, w) + (s.l1 * float(np.abs(w).sum()) if s.l1 else 0.0)
        return loss, norms + s.C * loss


def _not_solved(last: Training, settings: Settings) -> str:
    """Say why a round that brought nothing does not show that there was nothing to gain."""
    told = "for a round that brought nothing, but was not solved to tol itself"
    if last.gap is None or last.objective is None:
        return f"{told}; raise max_iter or tol"
    return (
        f"{told}: its gap was {last.gap:.3g} at {last.objective:.6g}, above tol={settings.tol:g} "
        "times that; raise max_iter or tol"
    )


def _weights_of_complete(problem: Problem) -> Vector:
    """Return the weights of the examples, 0 for those with unknown labels."""
    weights = np.where(problem.partial, 0.0, 1.0)
    return weights if problem.sample_weight is None else weights * problem.sample_weight
