"""Checks of maxima: argmax, solve, k-best."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..structures import Solution
from ..structures.canonical import canonical
from .trial import MISSING, Trial


def is_exact(trial: Trial) -> bool:
    """Return whether the structure claims that its argmax is the best output."""
    solution = trial.ask("solve")
    return solution is MISSING or bool(solution.exact)


def check_argmax(trial: Trial) -> None:
    """Check that the argmax is legal and, unless ``solve`` says otherwise, the best."""
    solution = trial.ask("solve")
    if solution is not MISSING:
        _check_solution(trial, solution)
    y = trial.ask("argmax")
    if y is not MISSING:
        value = float(trial.truth.values[trial.row("argmax", y)])
        if solution is MISSING or solution.exact:
            _check_best(trial, "argmax", y, value)


def _check_solution(trial: Trial, solution: Any) -> None:
    if not isinstance(solution, Solution):
        trial.fail("solve", "a Solution", solution)
    value = float(trial.truth.values[trial.row("solve", solution.output)])
    trial.number("solve: value", value, solution.value, trial.value_slack())
    if solution.exact:
        _check_best(trial, "solve", solution.output, value)
    if not solution.bound >= trial.truth.best - trial.value_slack():
        trial.fail("solve: bound", f"at least {trial.truth.best}", solution.bound)


def _check_best(trial: Trial, query: str, y: Any, value: float) -> None:
    if value < trial.truth.best - trial.value_slack():
        best = trial.truth.outputs[int(np.argmax(trial.truth.values))]
        trial.fail(
            query,
            f"an output with score {trial.truth.best}, such as {best!r}",
            f"{y!r} with score {value}",
        )


def check_kbest(trial: Trial, limit: int) -> None:
    """Check that the k best have the k highest scores, in order, without repeats."""
    scores = np.sort(trial.truth.values[np.isfinite(trial.truth.values)])[::-1]
    sizes = {1, 2, min(5, limit)}
    if len(scores) <= limit:
        sizes |= {len(scores), len(scores) + 3}
    for n in sorted(sizes):
        ranked = trial.ask("kbest", n)
        if ranked is MISSING:
            return
        query = f"kbest({n})"
        if len(ranked) != min(n, len(scores)):
            trial.fail(query, f"{min(n, len(scores))} outputs", ranked)
        seen = set()
        for rank, (value, y) in enumerate(ranked):
            row = trial.row(query, y)
            if row in seen:
                trial.fail(query, "no output twice", [canonical(other) for _, other in ranked])
            seen.add(row)
            slack = trial.value_slack()
            trial.number(f"{query}: score of {y!r}", float(trial.truth.values[row]), value, slack)
            trial.number(f"{query}: score number {rank + 1}", float(scores[rank]), value, slack)
        values = [value for value, _ in ranked]
        if values != sorted(values, reverse=True):
            trial.fail(query, "best first", values)
