"""Growth of the time to a proven gap with the examples, labels, length and features of chains."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from structlearn import CRF, StructuredSVM
from structlearn.learners.base import Progress, Settings
from structlearn.learners.dual_ascent import DualAscent
from structlearn.learners.frank_wolfe import FrankWolfe
from structlearn.plotting import growth_slope
from structlearn.problem import Problem

from ..registry import Context, Result, Row, benchmark

__all__ = ["growth"]

#: The growing quantities, with their start and name.
BASE = {"n": 300, "K": 8, "L": 12, "d": 50}
SIZES = {
    "n": [200, 400, 800, 1600, 3200, 6400],
    "K": [4, 8, 16, 32, 64],
    "L": [6, 12, 24, 48, 96, 192],
    "d": [25, 50, 100, 200, 400, 800],
}
NAMES = {"n": "examples n", "K": "labels K", "L": "length L", "d": "features d"}
TOLERANCE = {"frank-wolfe": 1e-2, "dual": 1e-3}


def chains(n: int, K: int, L: int, d: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Return noisy chains: labels from a peaked Markov chain, unit features by the label."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(K, d)) / np.sqrt(d)
    step = rng.choice([0, 1], p=[0.3, 0.7], size=(n, L))
    labels = (rng.integers(K, size=(n, 1)) + np.cumsum(step, axis=1)) % K
    X = centres[labels] + rng.normal(size=(n, L, d)) / np.sqrt(d)
    X /= np.linalg.norm(X, axis=-1, keepdims=True)
    return list(X), [row.tolist() for row in labels]


def _train(problem: Problem, solver: str) -> tuple[float, int]:
    """Return the processor time of one training and its number of iterations."""
    random = np.random.default_rng(0)
    tol = TOLERANCE[solver]
    learner: Any
    if solver == "dual":
        s = Settings(margin=0.0, temperature=1.0, C=1.0, max_iter=10_000, tol=tol)
        learner = DualAscent(s, random_state=random)
    else:
        s = Settings(margin=1.0, temperature=0.0, C=1.0, max_iter=10_000, tol=tol)
        learner = FrankWolfe(s, random_state=random)
    begin = time.process_time()
    training = learner.run(problem, progress=Progress(), n_jobs=1)
    seconds = time.process_time() - begin
    if not training.converged:
        raise RuntimeError(f"{solver} did not reach a gap of {tol:g}")
    return seconds, len(training.history)


@benchmark
def growth(context: Context) -> Result:
    """Chains: slope of log(time to tolerance) against log n, K, L and d; 1 is linear."""
    result = Result()
    repeats = context.times(2, 1)
    for quantity, sizes in SIZES.items():
        measured = sizes[:3] if context.quick else sizes
        times: dict[str, list[float]] = {solver: [] for solver in TOLERANCE}
        iterations: dict[str, list[int]] = {solver: [] for solver in TOLERANCE}
        for size in measured:
            X, y = chains(**{**BASE, quantity: size})
            problems = {
                "frank-wolfe": StructuredSVM().problem(X, y),
                "dual": CRF().problem(X, y),
            }
            for solver, problem in problems.items():
                runs = [_train(problem, solver) for _ in range(repeats)]
                times[solver].append(min(seconds for seconds, _ in runs))
                iterations[solver].append(runs[0][1])
        for solver, seconds in times.items():
            slope, _ = growth_slope(measured, seconds)
            limit = 1.25 if quantity == "n" and not context.quick else None
            result.rows.append(
                Row.amounts(
                    f"{NAMES[quantity]}, {solver}", "", slope, None, unit="slope", below=limit
                )
            )
        result.details[quantity] = {
            "sizes": measured, "seconds": times, "iterations": iterations,
        }  # fmt: skip
    result.details["base"] = BASE
    result.details["tolerance"] = TOLERANCE
    result.notes.append(
        "processor time until the gap is 1 % (frank-wolfe) and 0.1 % (dual) of the objective; the "
        f"others stay at {', '.join(f'{k} = {v}' for k, v in BASE.items())}. "
        "The picture: python -m benchmarks.draw_growth FOLDER"
    )
    return result
