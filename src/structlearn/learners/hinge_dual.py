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
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..problem import Problem
from .base import Settings

__all__ = ["DualState", "begin", "check_hinge", "native_cone"]

Vector = npt.NDArray[np.float64]


@dataclass
class DualState:
    """A dual point that can be saved and gone on from: arrays and numbers only.

    It belongs to one problem, C and margin, and proves nothing about another: whoever keeps it
    keeps :func:`~structlearn.problem.problem_digest` with it.

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
    sets = _core.WorkingSets(problem._core, settings.C, settings.margin, most)
    if isinstance(start, DualState):
        if len(start.weights) != problem.n_weights:
            raise ValueError(
                f"a state with {len(start.weights)} weights is none of this problem, which has "
                f"{problem.n_weights}: begin at weights"
            )
        sets.load(start.sets)
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
