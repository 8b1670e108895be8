"""The restricted problem of cutting planes with one slack: a program over joint constraints."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _core
from ..array_types import Integers, Vector
from ..problem import WeightCone

#: Rounds that a constraint may be without weight.
_PATIENCE = 20
#: Of the largest α: an interior point has no zeros.
_USED = 1e-6
#: Guesses at the rows of a cone that are violated; after the first of them by line searches.
_MOST_GUESSES, _DIRECT_GUESSES = 200, 20


@dataclass
class JointConstraints:
    """The restricted problem: max_α b·α − ½‖Σ α g‖², α ≥ 0, Σα ≤ 1.

    The rest of the weight belongs to the constraint of the gold outputs, g = 0.
    """

    n_weights: int
    gold: float
    index: list[Integers] = field(default_factory=list)
    value: list[Vector] = field(default_factory=list)
    b: Vector = field(default_factory=lambda: np.zeros(0))
    alpha: Vector = field(default_factory=lambda: np.zeros(0))
    rest: float = 1.0
    idle: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    gram: Vector = field(default_factory=lambda: np.zeros((0, 0)))
    rows: Vector = field(default_factory=lambda: np.zeros((0, 0)))

    def __len__(self) -> int:
        return len(self.b)

    def check(self) -> None:
        """Refuse constraints of a stored state that do not fit each other."""
        n = len(self)
        sizes = {len(part) for part in (self.index, self.value, self.alpha, self.idle)}
        pairs = list(zip(self.index, self.value, strict=False))
        fits = sizes == {n} and self.gram.shape == (n, n) and len(self.rows) in (0, n)
        fits = fits and all(
            i.shape == v.shape and (i >= 0).all() and (i < self.n_weights).all() for i, v in pairs
        )
        if not fits:
            raise ValueError("the joint constraints of the state do not fit each other")

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
        row = [_core.dot(v, g[i]) for i, v in zip(self.index, self.value, strict=True)]
        n = len(self)
        gram = np.empty((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gram[n, :n] = gram[:n, n] = row
        gram[n, n] = _core.dot(g[index], g[index])
        self.gram = gram
        self.index.append(index)
        self.value.append(g[index])
        self.b = np.append(self.b, b)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def solve(self, cone: WeightCone | None, gap: float, share: float) -> Vector:
        """Return w of the best α, after what has been idle for long was forgotten.

        Pairwise steps and linear systems first, exact to rounding where constraints are well
        scaled. Where they leave more than ``gap``, and more than ``share`` of the dual, an
        interior-point method: its weights are closer to the solution than −Σ α g, which rounding
        may have spoilt.
        """
        self._forget()
        self._maximise()
        w = self._pull(cone)
        left = self.gap(w, cone)
        if left > max(gap, share * self.dual(cone)):
            w = self._by_interior_point(w, left, cone, gap, share)
        self._prefer_newest(cone)
        self.idle = np.where(self.alpha > _USED * self.alpha.max(), 0, self.idle + 1)
        return w

    def _prefer_newest(self, cone: WeightCone | None) -> None:
        """Take the newest constraint alone, where rounding kept α from being as good as that."""
        alpha, rest, value = self.alpha, self.rest, self.dual(cone)
        self.alpha, self.rest = np.zeros(len(self)), 0.0
        self.alpha[-1] = 1.0
        if not self.dual(cone) > value:
            self.alpha, self.rest = alpha, rest

    def _forget(self) -> None:
        keep = self.idle <= _PATIENCE
        if keep.all():
            return
        kept = np.flatnonzero(keep)
        self.rest += float(self.alpha[~keep].sum())
        self.index = [self.index[k] for k in kept]
        self.value = [self.value[k] for k in kept]
        self.b, self.alpha, self.idle = self.b[kept], self.alpha[kept], self.idle[kept]
        self.gram = np.ascontiguousarray(self.gram[np.ix_(kept, kept)])
        self.rows = self.rows[kept] if len(self.rows) else self.rows

    def _pull(self, cone: WeightCone | None) -> Vector:
        """Return −Σ α g, or the nearest point to it in the cone."""
        w = np.zeros(self.n_weights)
        for k in np.flatnonzero(self.alpha):
            w[self.index[k]] -= self.alpha[k] * self.value[k]
        return w if cone is None else cone.project(w)

    def _by_interior_point(
        self, w: Vector, left: float, cone: WeightCone | None, gap: float, share: float
    ) -> Vector:
        """Return better weights than w, with their α, where there are some."""
        sizes = np.array([len(i) for i in self.index], dtype=np.int64)
        found = _core.joint_program(
            np.concatenate(([0], np.cumsum(sizes))),
            np.concatenate(self.index),
            np.concatenate(self.value),
            self.b,
            self.gold,
            self.n_weights,
            None if cone is None else cone.native,
            gap,
            share,
        )
        if found is None or not found[3] < left:
            return w
        alpha, self.rest, w, _ = found
        self.alpha = alpha
        return w

    def _maximise(self) -> None:
        """Find the best α.

        With a cone w is the nearest point Π(u) to u = −Σ α g. While the rows that u violates stay
        the same, Π is linear: what each g has of those rows drops out of the products. So the rows
        are guessed, the program solved, and the rows looked at again; an answer that has the rows
        it was found with is the best. Where guesses go round in circles, steps of half the way,
        which the concave dual cannot lose by for ever.
        """
        tolerance = 1e-10 * float(np.abs(self.b).max(initial=0.0))
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
        return _core.dot(self.b, alpha) + rest * self.gold - 0.5 * square

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

    def _scores(self, w: Vector) -> Vector:
        rows = zip(self.b, self.index, self.value, strict=True)
        return np.array([b + _core.dot(v, w[i]) for b, i, v in rows])

    def slack(self, w: Vector) -> float:
        """Return ξ: the largest b + ⟨g, w⟩."""
        return float(self._scores(w).max(initial=self.gold))

    def dual(self, cone: WeightCone | None) -> float:
        """Return the value of the restricted problem at α, a bound for all weights."""
        w = self._pull(cone)
        return _core.dot(self.b, self.alpha) + self.rest * self.gold - 0.5 * _core.dot(w, w)

    def gap(self, w: Vector, cone: WeightCone | None) -> float:
        """Return how far w is from the solution of the restricted problem at most."""
        return 0.5 * _core.dot(w, w) + self.slack(w) - self.dual(cone)
