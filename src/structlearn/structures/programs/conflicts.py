"""Explanations of infeasible programs: a smallest set of contradicting constraints.

An irreducible infeasible subset: its constraints together have no solution, and without any one of
them they have one. Divide and conquer over the constraints (QuickXplain) takes O(k log(n/k))
programs for k constraints out of n; for a linear program, the dual ray excludes most of them
beforehand. References: J. Gleeson & J. Ryan (1990), Identifying minimally infeasible subsystems of
inequalities; U. Junker (2004), QuickXplain.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...array_types import Integers, Vector
from .highs import HighsModel

if TYPE_CHECKING:
    from .search import ProgramSearch

#: Time limit of an explanation, in seconds; the constraints left by then are named.
_PATIENCE = 10.0

#: The most names in a message.
_MOST_NAMES = 12


def describe_conflict(
    program: ProgramSearch, theta: Vector, integer: bool
) -> tuple[str, list[str]]:
    """Return a message, and the names of a minimal set of contradicting constraints."""
    rows = program.rows
    free = (rows.column_lower != 0) | (rows.column_upper != 0)
    forbidden = np.flatnonzero((theta == -np.inf) & free[: program.n_parts])
    # Rows with one name are one constraint: an automaton has a row for each state and position.
    numbers: dict[str, int] = {}
    constraint = np.array(
        [numbers.setdefault(rows.name(i), len(numbers)) for i in range(rows.n_rows)], dtype=np.int64
    )
    n_constraints = len(numbers)
    names = list(numbers)
    names += [f"{program.part_name(int(p))} is forbidden (its score is -inf)" for p in forbidden]
    model = HighsModel(rows)
    deadline = time.perf_counter() + _PATIENCE
    minimal = True

    def possible(subset: list[int]) -> bool:
        """Tell whether these constraints have a solution (or time is out)."""
        nonlocal minimal
        left = deadline - time.perf_counter()
        if left <= 0:
            minimal = False
            return True  # keeps the tested constraints in the set
        mask = np.isin(constraint, subset)
        lower, upper = rows.column_lower.copy(), rows.column_upper.copy()
        for i in subset:
            if i >= n_constraints:
                lower[forbidden[i - n_constraints]] = upper[forbidden[i - n_constraints]] = 0.0
        answer = model.feasible(mask, lower, upper, integer=integer, time_limit=left)
        minimal = minimal and answer is not None
        return answer is not False

    every = _suspects(program, constraint, len(names), integer, possible)
    conflict = sorted(_quick_explain([], every, False, possible))
    named = [names[i] for i in conflict]
    if not named:
        return "no legal output is left: the bounds of the parts contradict each other", []
    listed = "; ".join(named[:_MOST_NAMES])
    n_unlisted = len(named) - _MOST_NAMES
    if n_unlisted > 0:
        listed += f"; and {n_unlisted} more"
    lead = "these constraints contradict each other" if minimal else "the conflict is among these"
    return f"no legal output is left: {lead}: {listed}", named


def _suspects(
    program: ProgramSearch,
    constraint: Integers,
    n: int,
    integer: bool,
    possible: Callable[[list[int]], bool],
) -> list[int]:
    """Return constraints that already contradict each other, by the dual ray if there is one."""
    every = list(range(n))
    if integer:
        return every
    ray = program._model_of("highs").dual_ray()
    if ray is None or len(ray) != program.rows.n_rows:
        return every
    used = np.unique(constraint[np.abs(ray) > 1e-9]).tolist()
    suspects = used + every[int(constraint.max(initial=-1)) + 1 :]
    return every if possible(suspects) else suspects


def _quick_explain(
    background: list[int],
    constraints: list[int],
    changed: bool,
    possible: Callable[[list[int]], bool],
) -> list[int]:
    """Return a minimal subset of the constraints that contradicts the background."""
    if changed and not possible(background):
        return []
    if len(constraints) <= 1:
        return constraints
    half = len(constraints) // 2
    first, second = constraints[:half], constraints[half:]
    from_second = _quick_explain(background + first, second, bool(first), possible)
    from_first = _quick_explain(background + from_second, first, bool(from_second), possible)
    return from_first + from_second
