"""What the solvers of the structural SVM's dual share.

    max_α  −½‖w‖² + Σ_i C_i ℓ_i,   w = Σ_i C_i A_iᵀ(μ_i − p_i),   p_i = Σ_y α_i(y) μ(y),
    ℓ_i = Σ_y α_i(y) Δ_i(y),   C_i = C · weight_i,   α_i on a simplex.

A dual point lives in part space: for each example the few outputs that have weight, as sparse
differences to the gold output (``_core.WorkingSets``), never a matrix of examples × weights.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem
from .base import Settings, Training

__all__ = ["DualState", "begin", "check_hinge", "fingerprint", "good_enough"]

Vector = npt.NDArray[np.float64]


@dataclass
class DualState:
    """A dual point that can be saved and gone on from: arrays and numbers only.

    Attributes
    ----------
    key : str
        Of the problem that it belongs to (:func:`fingerprint`).
    weights : array
        w.
    sets : dict of arrays
        The working sets with their α, as ``_core.WorkingSets.dump`` gives them.
    iteration : int
        Passes or rounds done.
    oracle_calls : int
        Examples for which a most violated output was looked for.
    more : dict
        What one solver alone needs: gaps and the generator's state of Frank-Wolfe, the joint
        constraints of one-slack.
    """

    key: str
    weights: Vector
    sets: dict[str, Any]
    iteration: int
    oracle_calls: int
    more: dict[str, Any]


def check_hinge(settings: Settings, solver: str) -> None:
    """Refuse losses that have no such dual."""
    if settings.temperature != 0 or settings.margin == 0 or settings.l1:
        raise ValueError(
            f"solver={solver!r} is for the structured hinge: margin > 0, temperature 0, no l1; "
            f"got margin={settings.margin:g}, temperature={settings.temperature:g}, "
            f"l1={settings.l1:g}. Use solver='sgd' or, for temperature > 0, 'lbfgs'"
        )


def fingerprint(problem: Problem, settings: Settings) -> str:
    """Return a name for the problem: examples, weights, gold outputs, costs, C and margin."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{problem.n_weights} {settings.C!r} {settings.margin!r}".encode())
    gold = problem.gold
    assert gold is not None
    for array in (gold.labels, gold.ptr, problem.sample_weight):
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    # Losses of some examples at one point stand for features, structure and cost.
    rng = np.random.default_rng(0)
    w = rng.normal(size=problem.n_weights)
    for i in range(0, problem.n_examples, max(1, problem.n_examples // 8)):
        digest.update(np.float64(problem._core.loss(i, w, settings.margin, 0.0)[0]).tobytes())
    return digest.hexdigest()


def begin(
    problem: Problem,
    settings: Settings,
    most: int,
    start: Any,
    n_threads: int,
    *,
    products: bool = True,
) -> tuple[Any, DualState]:
    """Return the working sets and the state to begin with.

    ``start`` may be a state of the same problem, which is continued bit for bit; a state of
    another one, or weights, whose most violated outputs fill the working sets; or None.
    """
    sets = _core.WorkingSets(problem._core, settings.C, settings.margin, most)
    key = fingerprint(problem, settings)
    if isinstance(start, DualState) and start.key == key:
        sets.load(start.sets)
        more = {k: v.copy() if hasattr(v, "copy") else v for k, v in start.more.items()}
        return sets, DualState(
            key, start.weights.copy(), {}, start.iteration, start.oracle_calls, more
        )
    state = DualState(key, np.zeros(problem.n_weights), {}, 0, 0, {})
    before = start.weights if isinstance(start, DualState) else start
    if before is not None and len(before) == problem.n_weights:
        sets.survey(np.ascontiguousarray(before, dtype=np.float64), 0.0, products, n_threads)
        state.oracle_calls += problem.n_examples
    return sets, state


def good_enough(training: Training, settings: Settings) -> bool:
    """Tell whether the proven gap has reached the tolerance."""
    if training.gap is None or training.objective is None:
        return False
    return training.gap <= settings.tol * training.objective
