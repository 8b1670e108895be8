"""What the solvers of the structural SVM's dual share.

    max_α  −½‖w‖² + Σ_i C_i ℓ_i,   w = Σ_i C_i A_iᵀ(μ_i − p_i),   p_i = Σ_y α_i(y) μ(y),
    ℓ_i = Σ_y α_i(y) Δ_i(y),   C_i = C · weight_i,   α_i on a simplex.

Where the weights have to stay in a cone ⟨b_r, w⟩ ≥ 0 (``problem.cone``), its inequalities have
multipliers λ_r ≥ 0, w = Σ_i C_i A_iᵀ(μ_i − p_i) + Σ_r λ_r b_r, and the same value is the dual's: λ
is one more block for coordinate ascent, with a closed form, and every gap is proven as before.

A dual point lives in part space: for each example the few outputs that have weight, as sparse
differences to the gold output (``_core.WorkingSets``), never a matrix of examples × weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..array_types import Vector
from ..problem import Problem
from .base import Settings

#: Steps from 1 towards the best multiple of the weights and beyond it, where unknown outputs wait.
_FURTHER = (1.0, 2.0, 4.0)


@dataclass
class DualState:
    """A dual point that can be saved and gone on from: arrays and numbers only.

    It belongs to one problem, C and margin, and proves nothing about another: whoever keeps it
    keeps :func:`~structlearn.problem.digest.problem_digest` with it.

    Attributes
    ----------
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
    multipliers : array
        λ ≥ 0 of the inequalities that keep the weights in a cone, if there is one.
    """

    weights: Vector
    sets: dict[str, Any]
    iteration: int
    oracle_calls: int
    more: dict[str, Any]
    multipliers: Vector = field(default_factory=lambda: np.zeros(0))


def check_hinge(settings: Settings, solver: str) -> None:
    """Refuse losses that have no such dual."""
    if settings.temperature != 0 or settings.margin == 0 or settings.l1:
        raise ValueError(
            f"solver={solver!r} is for the structured hinge: margin > 0, temperature 0, no l1; "
            f"got margin={settings.margin:g}, temperature={settings.temperature:g}, "
            f"l1={settings.l1:g}. Use solver='sgd' or, for temperature > 0, 'lbfgs'"
        )


def native_cone(problem: Problem) -> Any:
    """Return the cone of the weights as the core takes it, None where there is none."""
    return None if problem.cone is None else problem.cone.native


class Proven(NamedTuple):
    """Weights with their losses, objective and a bound on its distance from the optimum."""

    weights: Vector
    loss: float
    objective: float
    gap: float


def prove(
    problem: Problem,
    settings: Settings,
    sets: Any,
    state: DualState,
    losses: Vector,
    bound: float,
    n_threads: int,
) -> Proven:
    """Return the weights of a state, or a multiple of them where only that reaches the tolerance.

    Where C is large and the data are separable, weights may be right to several digits, and yet
    have an objective of many times the optimum: all margins are a little too small, and C
    multiplies what is missing. A slightly larger multiple of the weights has nothing missing.
    Which, the outputs known tell; it is looked at where they promise that it is good enough.

    Parameters
    ----------
    losses : array
        Of the examples, at the weights.
    bound : float
        A value that no objective is below.
    """

    def at(weights: Vector, losses: Vector) -> Proven:
        loss = problem.weighted_sum(losses)
        objective = 0.5 * _core.dot(weights, weights) + settings.C * loss
        return Proven(weights, loss, objective, max(0.0, objective - bound))

    w = state.weights
    found = at(w, losses)
    if settings.good_enough(found.gap, found.objective) or not np.isfinite(found.objective):
        return found
    best, value = sets.best_multiple(w)
    for further in _FURTHER:
        multiple = 1.0 + further * (best - 1.0)
        expected = value + 0.5 * (multiple**2 - best**2) * _core.dot(w, w)
        if not settings.good_enough(expected - bound, expected):
            break
        survey = sets.survey(multiple * w, np.inf, False, n_threads)
        state.oracle_calls += problem.n_examples
        trial = at(multiple * w, survey["loss"])
        if settings.good_enough(trial.gap, trial.objective):
            return trial
    return found


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

    ``start`` may be a state of the same problem, which is continued bit for bit; weights, whose
    most violated outputs fill the working sets; or None.
    """
    sets = _core.WorkingSets(problem.native, settings.C, settings.margin, most)
    if isinstance(start, DualState):
        if len(start.weights) != problem.n_weights:
            raise ValueError(
                f"a state with {len(start.weights)} weights does not belong to this problem, which "
                f"has {problem.n_weights}: start from weights"
            )
        sets.load(start.sets)
        if products and len(start.sets["cost"]) and not len(start.sets["product"]):
            raise ValueError("a state without products of outputs does not belong to this solver")
        more = {k: v.copy() if hasattr(v, "copy") else v for k, v in start.more.items()}
        return sets, DualState(
            start.weights.copy(),
            {},
            start.iteration,
            start.oracle_calls,
            more,
            start.multipliers.copy(),
        )
    rows = 0 if problem.cone is None else problem.cone.n_rows
    state = DualState(np.zeros(problem.n_weights), {}, 0, 0, {}, np.zeros(rows))
    if start is not None:
        sets.survey(np.ascontiguousarray(start, dtype=np.float64), 0.0, products, n_threads)
        state.oracle_calls += problem.n_examples
    return sets, state
