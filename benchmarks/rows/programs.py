"""Integer programs: one sentence's tagging as an ILP, against SciPy's solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from structlearn.structures import Chain, Program

from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["tagging_program"]

#: Sentences that are tagged one after another.
SENTENCES = 5


@benchmark
def tagging_program(context: Context) -> Result:
    """A sentence of 30 words and 12 tags as an integer program, with and without a constraint."""
    result = Result()
    length, n_labels = (10, 6) if context.quick else (30, 12)
    rng = np.random.default_rng(0)
    scores = [
        {
            "label": rng.normal(size=(length, n_labels)),
            "transition": rng.normal(size=(n_labels, n_labels)),
        }
        for _ in range(SENTENCES)
    ]
    plain = Chain().as_program(**scores[0])
    plain.solver = "highs"  # the rival's solver, whatever else is installed
    # A budget over all labels: the relaxation is not integral.
    prices = rng.integers(1, 20, size=(length, n_labels)).astype(float)
    row = np.zeros((1, plain.n_parts))
    row[0, : prices.size] = prices.ravel()
    least, usual = prices.min(axis=1).sum(), prices.mean(axis=1).sum()
    budget = plain.with_rows(row, 0, np.floor(0.7 * least + 0.3 * usual))
    for name, program, target in (("tagging", plain, 1.5), ("with a budget", budget, None)):
        thetas = [program._flat(theta) for theta in scores]
        case = f"{name}, {length} words, {n_labels} tags"
        _compare(context, result, case, program, thetas, target)
    return result


def _compare(
    context: Context,
    result: Result,
    case: str,
    program: Program,
    thetas: list[Any],
    target: float | None,
) -> None:
    """Add the rows of one program, with a new model for each call and with a kept one."""
    rows = program.rows
    constraint = LinearConstraint(rows.matrix, rows.lower, rows.upper)
    # The rival at its best: integral labels imply integral pairs.
    integrality = rows.integer.astype(int)

    def scipy_milp() -> list[float]:
        solutions = [
            milp(
                -theta,
                constraints=constraint,
                integrality=integrality,
                bounds=Bounds(0, 1),
                options={"mip_rel_gap": 0},
            )
            for theta in thetas
        ]
        return [-solution.fun for solution in solutions]

    def new() -> list[float]:
        return [_from_matrix(program).solve(part=theta).value for theta in thetas]

    def kept() -> list[float]:
        return [program.solve(**program._unflat(theta)).value for theta in thetas]

    if not all(np.allclose(scipy_milp(), ours(), atol=1e-6) for ours in (new, kept)):
        raise AssertionError("SciPy finds another value than structlearn")
    timings = interleave(
        {"new": new, "kept": kept, "SciPy": scipy_milp},
        repeats=context.times(5, 2),
    )
    for name in ("new", "kept"):
        row = Row.times(
            f"{case}, model {name}",
            "scipy.optimize.milp",
            timings[name],
            timings["SciPy"],
            at_least=target,
        )
        result.rows.append(row)
    result.details[case] = {
        "sentences": len(thetas),
        "columns": rows.n_columns,
        "rows": rows.n_rows,
        **{name: timing.summary() for name, timing in timings.items()},
    }


def _from_matrix(program: Program) -> Program:
    """Return the same program from its sparse matrix, the rival's form."""
    rows = program.rows
    return Program(
        rows.matrix,
        rows.lower,
        rows.upper,
        n_parts=program.n_parts,
        integer=rows.integer,
        solver="highs",
    )
