"""Cutting planes with one slack for all examples.

A constraint is joint: one output for every example,

    ξ ≥ b + ⟨g, w⟩,   b = Σ_i C_i Δ_i(ŷ_i),   g = Σ_i C_i A_iᵀ(μ(ŷ_i) − μ_i),

and the problem is ½‖w‖² + ξ. Whatever the number of examples, O(1/ε) rounds find a solution that
violates no constraint by more than ε, and the restricted problem has a variable a round. Its
products ⟨g, g'⟩ are computed once, when a constraint enters; constraints that have been without
weight for some rounds leave.

Each example keeps the last outputs found for it. The joint constraint of the best of those needs
no inference, and is taken as long as it is violated by a good part of the last gap.

The restricted problem has a few dozen variables on one simplex: pairwise steps, then the linear
system of the constraints in use (``_core.simplex``), exact to rounding.

References
----------
T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem, WeightCone, n_threads
from .base import Progress, Settings, Training, check_finite
from .cutting_planes import Round
from .hinge_dual import DualState, begin, check_hinge

__all__ = ["JointConstraints", "OneSlack"]

Vector = npt.NDArray[np.float64]

#: Outputs that an example keeps.
_MOST_OUTPUTS = 10
#: Rounds that a constraint may be without weight.
_PATIENCE = 20
#: A constraint without inference is taken where it is violated by this share of the last gap.
_CACHED_SHARE = 0.3
#: Guesses at the rows of a cone that are violated; after the first of them by line searches.
_MOST_GUESSES, _DIRECT_GUESSES = 200, 20
#: A violation that rounding errors may explain, as a share of the objective.
_ROUNDING = 1e-11


@dataclass
class JointConstraints:
    """The restricted problem: max_α b·α − ½‖Σ α g‖², α ≥ 0, Σα ≤ 1.

    The rest of the weight belongs to the constraint of the gold outputs, g = 0.
    """

    n_weights: int
    gold: float
    index: list[npt.NDArray[np.int64]] = field(default_factory=list)
    value: list[Vector] = field(default_factory=list)
    b: Vector = field(default_factory=lambda: np.zeros(0))
    alpha: Vector = field(default_factory=lambda: np.zeros(0))
    rest: float = 1.0
    idle: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    gram: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    rows: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.b)

    def copy(self) -> JointConstraints:
        """Return one that shares nothing that changes."""
        other = JointConstraints(self.n_weights, self.gold)
        other.index, other.value, other.rest = list(self.index), list(self.value), self.rest
        for name in ("b", "alpha", "idle", "gram", "rows"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def add(self, g: Vector, b: float, cone: WeightCone | None = None) -> None:
        """Take a constraint: O(d · constraints) for its products with the others."""
        if cone is not None:  # with the rows of the cone too, made to have length 1
            products = cone.products(g) / np.sqrt(cone.squares)
            self.rows = np.vstack((self.rows.reshape(-1, cone.n_rows), products))
        index = np.flatnonzero(g)
        row = [float(v @ g[i]) for i, v in zip(self.index, self.value, strict=True)]
        n = len(self)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gram[n, :n] = gram[:n, n] = row
        gram[n, n] = float(g[index] @ g[index])
        self.gram = gram
        self.index.append(index)
        self.value.append(g[index])
        self.b = np.append(self.b, b)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def solve(self, cone: WeightCone | None = None) -> Vector:
        """Return w of the best α; forget what has been idle for long."""
        self._maximise()
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)
        keep = self.idle <= _PATIENCE
        if not keep.all():
            kept = np.flatnonzero(keep)
            self.index = [self.index[k] for k in kept]
            self.value = [self.value[k] for k in kept]
            self.b, self.alpha, self.idle = self.b[kept], self.alpha[kept], self.idle[kept]
            self.gram = np.ascontiguousarray(self.gram[np.ix_(kept, kept)])
            self.rows = self.rows[kept] if len(self.rows) else self.rows
        w = np.zeros(self.n_weights)
        for k in np.flatnonzero(self.alpha):
            w[self.index[k]] -= self.alpha[k] * self.value[k]
        return w if cone is None else cone.project(w)

    def _maximise(self) -> None:
        """Find the best α.

        With a cone w is the nearest point Π(u) to u = −Σ α g. While the rows that u violates stay
        the same, Π is linear: what each g has of those rows drops out of the products. So the rows
        are guessed, the program solved, and the rows looked at again; an answer that has the rows
        it was found with is the best. Where guesses go round in circles, steps of half the way,
        which the concave dual cannot lose by for ever.
        """
        tolerance = 1e-10 * max(1e-300, float(np.abs(self.b).max()))
        if not self.rows.size:
            self.rest, _ = _core.simplex(self.gram, self.b, self.gold, self.alpha, tolerance)
            return
        best: tuple[float, Vector, float] | None = None
        for k in range(_MOST_GUESSES):
            out = self.alpha @ self.rows > 0.0  # ⟨row, u⟩ < 0
            violated = np.ascontiguousarray(self.rows[:, out])
            gram = np.ascontiguousarray(self.gram - violated @ violated.T)
            alpha = self.alpha.copy()
            rest, _ = _core.simplex(gram, self.b, self.gold, alpha, tolerance)
            if k >= _DIRECT_GUESSES:
                alpha, rest = self._line(alpha, rest)
            self.alpha, self.rest = alpha, rest
            value = self._value(alpha, rest)
            improved = best is None or value > best[0] + 1e-14 * abs(best[0])
            if best is None or value > best[0]:
                best = value, alpha.copy(), rest
            if np.array_equal(out, alpha @ self.rows > 0.0) and k < _DIRECT_GUESSES:
                break
            if k > _DIRECT_GUESSES and not improved:
                break
        assert best is not None
        _, self.alpha, self.rest = best

    def _value(self, alpha: Vector, rest: float) -> float:
        """Return the dual at α, the cone's multipliers the best ones."""
        out = np.maximum(alpha @ self.rows, 0.0)
        square = float(alpha @ self.gram @ alpha - out @ out)
        return float(self.b @ alpha) + rest * self.gold - 0.5 * square

    def _line(self, alpha: Vector, rest: float) -> tuple[Vector, float]:
        """Return the best point between the present one and another, by golden sections."""
        low, high = 0.0, 1.0
        ratio = 0.5 * (5.0**0.5 - 1.0)

        def at(t: float) -> tuple[Vector, float]:
            return self.alpha + t * (alpha - self.alpha), self.rest + t * (rest - self.rest)

        for _ in range(60):
            first, second = high - ratio * (high - low), low + ratio * (high - low)
            if self._value(*at(first)) >= self._value(*at(second)):
                high = second
            else:
                low = first
        return at(0.5 * (low + high))

    def slack(self, w: Vector) -> float:
        """Return ξ: the largest b + ⟨g, w⟩."""
        rows = zip(self.b, self.index, self.value, strict=True)
        return max([self.gold, *(float(b + v @ w[i]) for b, i, v in rows)])

    def dual(self, w: Vector) -> float:
        """Return the value of the restricted problem at α."""
        return float(self.b @ self.alpha) + self.rest * self.gold - 0.5 * float(w @ w)


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
        """Add a joint constraint a round."""
        s = self.settings
        threads = n_threads(n_jobs)
        training = Training(np.zeros(problem.n_weights), converged=False)
        mass = s.C * problem.weighted_sum(np.ones(problem.n_examples))
        saved = progress.saved
        if saved is not None:
            start = saved["state"]
        sets, state = begin(problem, s, _MOST_OUTPUTS, start, threads, products=False)
        if not state.more:
            empty = _core.WorkingSets(problem._core, s.C, s.margin, 1)
            gold = empty.cached(state.weights, np.zeros(problem.n_weights))
            state.more = {"constraints": JointConstraints(problem.n_weights, gold), "gap": None}
        joint: JointConstraints = state.more["constraints"]
        rounds: list[Round] = [] if saved is None else saved["rounds"]

        def snapshot() -> dict[str, Any]:
            return {"state": replace(state, sets=sets.dump()), "rounds": rounds}

        try:
            for k in range(len(progress.records), s.max_iter):
                if state.more["gap"] is not None:  # of the round before: its constraint waits
                    state.weights = self._next(
                        sets, joint, state.weights, state.more["gap"], problem.cone
                    )
                w = state.weights
                found = sets.survey(w, 0.0, False, threads)
                state.iteration += 1
                state.oracle_calls += problem.n_examples
                total = problem.weighted_sum(found["loss"])
                primal, dual = 0.5 * float(w @ w) + s.C * total, joint.dual(w)
                check_finite(primal)
                slack = joint.slack(w)
                seen = _round(k + 1, slack / mass, (s.C * total - slack) / mass,
                              primal, dual, len(joint))  # fmt: skip
                rounds.append(seen)
                training.objective, training.gap = primal, max(0.0, primal - dual)
                state.more["gap"] = training.gap
                # What only rounding violates would be added for ever.
                least = _ROUNDING * abs(primal) / mass if mass else 0.0
                small = seen.violation <= max(least, self.violation_tol or 0.0)
                training.converged = s.good_enough(training.gap, training.objective) or small
                ended = training.converged or k + 1 == s.max_iter
                training.stopped = progress.report(
                    lambda w=w: w.copy(),  # type: ignore[misc]
                    state=None if ended else snapshot,
                    iteration=k + 1,
                    loss=total,
                    objective=primal,
                    dual=dual,
                    gap=training.gap,
                    violation=seen.violation,
                    constraints=len(joint),
                    oracle_calls=state.oracle_calls,
                )
                if training.stopped or training.converged:
                    break
        except KeyboardInterrupt:
            training.interrupted = True
            training.objective = training.gap = None
        training.weights = state.weights.copy()
        training.history = progress.records
        training.rounds = rounds
        state.sets = sets.dump()
        training.state = state
        return training

    def _next(
        self, sets: Any, joint: JointConstraints, w: Vector, gap: float, cone: WeightCone | None
    ) -> Vector:
        """Return the weights after the constraint just found, and some that cost no inference."""
        for k in range(_MOST_OUTPUTS):
            g = np.zeros(len(w))
            value = sets.cached(w, g)
            if k and value - joint.slack(w) <= _CACHED_SHARE * gap:
                break
            joint.add(g, value - float(g @ w), cone)
            w = joint.solve(cone)
        return w


def _round(
    iteration: int, slack: float, violation: float, primal: float, dual: float, size: int
) -> Round:
    none = np.zeros(0, dtype=np.int64)
    return Round(
        iteration, np.array([slack]), none, none, np.zeros(0), violation, primal, dual, size
    )
