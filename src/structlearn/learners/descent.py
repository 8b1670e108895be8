"""What L-BFGS and OWL-QN share: points, when to stop, and what is told on the way."""

from __future__ import annotations

import math
from typing import Any, Protocol

from ..array_types import Vector
from .base import Progress, Settings, Training

#: Without convexity there is no gap: stop where ½‖∇f‖² is this share of the objective,
FLAT = 1e-12
#: or where a step gains no more than this share of it.
NO_PROGRESS = 1e-15


class Descent(Protocol):
    """A point that goes down.

    Attributes
    ----------
    w : array
        The weights; replaced, not changed in place, by a step.
    loss, objective : float
        Σ loss and the objective at w.
    gap : float
        A bound on objective − optimum, where the problem is convex.
    flatness : float
        Half of the squared norm of the (pseudo-)gradient.
    evaluations : int
        Number of times that all losses were computed.
    pairs : int
        Number of gradient differences kept.
    tolerance : float or None
        At most which share of any sum is of outputs that constraints rule out; None: all are exact.
    """

    w: Vector
    evaluations: int
    tolerance: float | None

    @property
    def loss(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def gap(self) -> float: ...
    @property
    def flatness(self) -> float: ...
    @property
    def pairs(self) -> int: ...

    def begin(self) -> None:
        """Evaluate the objective at the start."""
        ...

    def step(self) -> bool:
        """Go to a lower point; False where there is none to be found."""
        ...

    def dump(self) -> dict[str, Any]:
        """Return all that later steps depend on."""
        ...

    def load(self, state: dict[str, Any]) -> None:
        """Be where another one was when it gave this state, without :meth:`begin`."""
        ...


def descend(descent: Descent, settings: Settings, progress: Progress, n_examples: int) -> Training:
    """Take steps until the gap is small enough, or ``max_iter`` of them.

    Where the problem is not convex (partial labels): until the gradient is nearly 0, or nothing is
    gained any more.
    """
    s = settings
    found = Training(descent.w, converged=False)
    saved = progress.saved
    dual = -math.inf if saved is None else float(saved["dual"])

    def gap() -> float:
        """Return the distance from the best dual value so far: any point's is a bound."""
        nonlocal dual
        dual = max(dual, descent.objective - descent.gap)
        return max(0.0, min(descent.gap, descent.objective - dual))  # rounding

    def record() -> dict[str, Any]:
        shown = {
            "loss": descent.loss,
            "objective": descent.objective,
            "oracle_calls": descent.evaluations * n_examples,
        }
        if s.convex:
            shown.update(dual=dual, gap=gap())
        if descent.tolerance is not None:
            shown["bound"] = descent.tolerance
        return shown

    def good_enough() -> bool:
        if s.convex:
            return s.good_enough(gap(), descent.objective)
        return descent.flatness <= FLAT * abs(descent.objective)

    def report(iteration: int) -> bool:
        ended = found.converged or iteration == s.max_iter
        w, pairs, evaluations = descent.w, descent.pairs, descent.evaluations

        def snapshot() -> dict[str, Any] | None:
            # Until a step is taken, or gives up the memory, it changes nothing but its trial.
            if descent.w is not w or descent.pairs != pairs:
                return None
            return {"dual": dual, "descent": {**descent.dump(), "evaluations": evaluations}}

        return progress.report(
            lambda: descent.w.copy(),
            state=None if ended else snapshot,
            lasting=True,
            iteration=iteration,
            **record(),
        )

    begun = False
    try:
        if saved is None:
            descent.begin()
            found.converged = good_enough()
            if found.converged:
                found.stopped = report(1)
        else:
            descent.load(saved["descent"])
        begun = True
        for iteration in range(len(progress.records) + 1, s.max_iter + 1):
            if found.converged:
                break
            before = descent.objective
            if not descent.step():
                found.converged = not s.convex or s.as_good_as_it_gets(gap(), descent.objective)
                break
            found.converged = good_enough() or (
                not s.convex and before - descent.objective <= NO_PROGRESS * abs(before)
            )
            if report(iteration):
                found.stopped = not found.converged
                break
    except KeyboardInterrupt:
        found.interrupted = True
    found.weights = found.state = descent.w
    found.history = progress.records
    if begun:
        found.objective = descent.objective
        found.gap = gap() if s.convex else None
    return found
