"""Which learner gets outputs with unknown labels, and where it begins."""

from __future__ import annotations

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from ..array_types import Array
    from ..learners.base import Learner, Settings, Training
    from ..learners.solvers import Solver
    from ..problem import Problem

    Vector = Array


def fills_in(problem: Problem, name: str, solver: Solver, latent: str) -> bool:
    """Tell whether unknown labels are filled in round by round, or left to the solver."""
    if not problem.has_unknown:
        return False
    needed = solver.needs_labels
    if latent == "direct" and needed:
        raise ValueError(
            f"solver={name!r} needs all labels to be known: use latent='cccp', or "
            "solver='sgd', or 'lbfgs' for temperature > 0"
        )
    if latent == "cccp" and not solver.minimises:
        raise ValueError(f"latent='cccp' needs a solver with an objective, which {name!r} is not")
    return latent == "cccp" or needed


def around(learner: Learner, settings: Settings, rng: np.random.Generator, start: Any) -> Any:
    """Return the learner with CCCP around it, and the weights to begin at."""
    from ..learners.cccp import CCCP
    from ..learners.dual_ascent import DualAscent
    from ..learners.online import Online
    from ..problem.online_state import OnlineState

    def resume(weights: Vector, last: Training | None) -> Any:
        if isinstance(learner, DualAscent):
            return None  # no weights: each round begins with the labels just filled in
        if not isinstance(learner, Online):
            return weights
        # A learner whose steps shrink goes on with small ones.
        steps = last.state.steps if last is not None and last.state is not None else 1.0
        return OnlineState.at(weights, average=learner.average, steps=steps)

    if start is not None:
        start = start.last if isinstance(start, OnlineState) else getattr(start, "weights", start)
    return CCCP(learner, settings, random_state=rng, resume=resume), start


def random_start(problem: Problem, rng: np.random.Generator, *, average: bool | None) -> Any:
    """Return small random weights, for a learner that takes unknown labels as they are.

    Zero may be a saddle point where labels are sets: hidden states that are alike stay so.
    ``average`` is that of an online learner, None for others.
    """
    from ..learners.cccp import NOISE
    from ..problem.online_state import OnlineState

    w = NOISE * problem.random_weights(rng)
    if average is None:
        return w
    return OnlineState.at(w, average=average, steps=float(problem.n_examples))
