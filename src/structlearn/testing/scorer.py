"""The conformance check of a scorer: scores, their transpose, and gradients of losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..array_types import Vector
from ..exceptions import CapabilityError
from ..problem import PartVector, Problem
from .report import Report


def check_scorer(
    problem: Problem,
    *,
    examples: Sequence[int] | None = None,
    losses: Sequence[tuple[float, float]] = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)),
    scale: float = 0.1,
    tolerance: float = 1e-9,
    step: float = 1e-5,
    random_state: int = 0,
) -> Report:
    """Check the operator of a problem; raise ``AssertionError`` if it is wrong.

    For random weights w and part vectors v, sparse with repeats and dense, of each example:

    * ⟨A w, v⟩ = ⟨w, Aᵀ v⟩, so that ``scatter`` is the transpose of the scores;
    * ``sqnorm`` is ‖Aᵀ v‖², with repeated features of an example added up;
    * along a random direction d the loss changes by ⟨Aᵀ(p − p_clamp), d⟩, by finite differences.

    Parameters
    ----------
    problem : Problem
        The problem of an estimator (``CRF().problem(X, y)``) or of a task.
    examples : sequence of int, optional
        Numbers of the examples to check; by default eight, spread over all.
    losses : sequence of (margin, temperature)
        Losses whose gradients are checked. One that the problem does not support
        (``CapabilityError``) is noted in the report.
    scale : float
        Standard deviation of the random weights.
    tolerance : float
        Allowed difference of ⟨A w, v⟩ and ⟨w, Aᵀ v⟩, relative to the size of their terms.
    step : float
        Step of the finite differences.
    random_state : int
        Seed of all random draws.

    Returns
    -------
    Report
        The number of comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> from structlearn import CRF
    >>> X, y = [np.eye(3), np.ones((2, 3))], [[0, 1, 0], [1, 0]]
    >>> check_scorer(CRF().problem(X, y)).checked["adjoint"]
    4
    """
    rng = np.random.default_rng(random_state)
    report = Report(problem.name)
    if examples is None:
        examples = np.unique(np.linspace(0, problem.n_examples - 1, 8).astype(int)).tolist()
    for i in examples:
        report.n_inputs += 1
        w = scale * problem.random_weights(rng)
        theta = problem.theta(i, w)
        for v in _part_vectors(theta, rng):
            _check_adjoint(problem, i, w, theta, v, tolerance, report)
        for margin, temperature in losses:
            try:
                _check_gradient(problem, i, w, margin, temperature, step, rng, report)
            except CapabilityError as error:
                report.missing[f"loss({margin:g}, {temperature:g})"] = str(error)
    return report


def _part_vectors(theta: Vector, rng: np.random.Generator) -> list[PartVector]:
    """Return a sparse and a dense vector over the parts that are not forbidden."""
    legal = np.flatnonzero(np.isfinite(theta))
    picked = rng.choice(legal, size=min(len(legal), 20), replace=True).astype(np.uint32)
    dense = np.zeros(len(theta))
    dense[legal] = rng.normal(size=len(legal))
    return [PartVector(picked, rng.normal(size=len(picked))), PartVector(None, dense)]


def _check_adjoint(
    problem: Problem,
    i: int,
    w: Vector,
    theta: Vector,
    v: PartVector,
    tolerance: float,
    report: Report,
) -> None:
    kind = "dense" if v.index is None else "sparse"
    back = np.zeros(problem.n_weights)
    problem.scatter(i, v, 1.0, back)
    forward, transposed = problem.dot(theta, v), float(w @ back)
    used = theta if v.index is None else theta[v.index]
    size = float(np.abs(np.where(v.value != 0, used, 0.0)) @ np.abs(v.value)) + 1e-300
    assert abs(forward - transposed) <= tolerance * size, (
        f"example {i}, a {kind} part vector: ⟨A w, v⟩ = {forward!r}, ⟨w, Aᵀ v⟩ = {transposed!r}: "
        "scatter is not the transpose of the scores"
    )
    report.count("adjoint")
    square, sqnorm = float(back @ back), problem.sqnorm(i, v)
    assert abs(sqnorm - square) <= 1e-9 * square + 1e-300, (
        f"example {i}, a {kind} part vector: sqnorm gives {sqnorm!r}, ‖Aᵀ v‖² is {square!r}"
    )
    report.count("sqnorm")


def _check_gradient(
    problem: Problem,
    i: int,
    w: Vector,
    margin: float,
    temperature: float,
    step: float,
    rng: np.random.Generator,
    report: Report,
) -> None:
    value, r = problem.loss(i, w, margin, temperature)
    g = np.zeros(problem.n_weights)
    problem.scatter(i, r, 1.0, g)
    d = problem.random_weights(rng)
    d /= max(1.0, float(np.abs(problem.theta(i, d)[np.isfinite(problem.theta(i, d))]).max()))
    ends = [problem.loss(i, w + sign * step * d, margin, temperature)[0] for sign in (1.0, -1.0)]
    if temperature == 0 and abs(ends[0] + ends[1] - 2 * value) > 1e-8 * (1 + abs(value)):
        return  # a corner of a piecewise linear loss
    slope, expected = (ends[0] - ends[1]) / (2 * step), float(g @ d)
    rounding = 1e-13 * (1 + abs(value)) / step
    assert abs(slope - expected) <= 1e-4 * (abs(expected) + abs(slope)) + rounding + step, (
        f"example {i}, margin {margin:g}, temperature {temperature:g}: the loss changes by "
        f"{slope!r} along a direction, its gradient says {expected!r}"
    )
    report.count(f"gradient({margin:g}, {temperature:g})")
