"""Traces of learners: online steps, rounds of cutting planes, passes of dual ascent."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import clone

from ..array_types import Vector
from ..losses.costs import as_cost
from ..problem import PartVector
from .trace import Trace, check_size

#: The most outputs of an example that a table of constraints lists.
MOST_OUTPUTS = 64
#: The most steps of a trace: more are not worth stepping through.
MOST_STEPS = 5_000


def online_steps(model: Any, X: Any, y: Any) -> Trace:
    """Return the trace of an online learner: a step for each example of each pass.

    Written by the fit itself, which makes its passes one example at a time: the final weights are
    those of ``fit``, bit for bit.

    Parameters
    ----------
    model : StructuredPerceptron, StructuredSVM(solver="sgd"), PassiveAggressive or AROW
        Not fitted; it is cloned and not changed.

    Returns
    -------
    Trace
        Steps of kind "example": ``iteration``, ``example``, ``gold``, ``guess`` (the
        loss-augmented one where the loss has a margin), ``loss``, ``before``, ``after`` (the
        weights by block, as in ``coef_``) and ``change``, Δφ: the features of gold minus those of
        the guess. ``answer`` is ``coef_``.
    """
    model = clone(model)
    prepared = model._prepare(X, y)
    problem, layout = prepared.problem, prepared.layout
    check_size(problem.n_examples * int(model.max_iter) * problem.n_weights)
    if problem.n_examples * int(model.max_iter) > MOST_STEPS:
        raise ValueError(f"a trace holds at most {MOST_STEPS:,} steps: lower max_iter")
    watcher = _Watcher()
    model.set_params(callbacks=[watcher])
    model.fit(X, y)
    reader = problem.output_reader()
    margin, temperature = float(model.margin), float(model.temperature)
    steps = []
    for step in watcher.steps:
        i = step["example"]
        loss, r = problem.loss(i, step["before"], margin, temperature)
        change = np.zeros(problem.n_weights)
        problem.scatter(i, r, -1.0, change)
        guess = reader.output(i, r) if temperature == 0 else None
        steps.append(
            {
                "kind": "example",
                "iteration": step["iteration"],
                "example": i,
                "gold": _named(
                    model, reader.output(i, PartVector(np.zeros(0, np.int64), np.zeros(0)))
                ),
                "guess": None if guess is None else _named(model, guess),
                "loss": float(loss),
                "before": layout.coef(step["before"]),
                "after": layout.coef(step["after"]),
                "change": layout.coef(change),
            }
        )
    return Trace(
        type(model).__name__,
        steps,
        layout.coef(model._weights),
        model.loss_curve_[-1] if model.objective_ is None else model.objective_,
        {"classes": model.classes_.tolist(), "average": bool(model.average)},
    )


class _Watcher:
    """A callback that receives every example."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.iteration = 1

    def __call__(self, record: dict[str, Any]) -> None:
        self.iteration = int(record["iteration"]) + 1

    def step(self, step: dict[str, Any]) -> None:
        self.steps.append({**step, "iteration": self.iteration})


def _named(model: Any, output: Any) -> Any:
    name = model._name(output)
    return name.tolist() if hasattr(name, "tolist") else name


def cutting_planes(model: Any, X: Any, y: Any) -> Trace:
    """Return the trace of cutting planes: a step for each round, as the tables of the lectures.

    The rounds are those recorded by ``fit`` (``rounds_``), with the weights from its callbacks.

    Parameters
    ----------
    model : StructuredSVM(solver="n-slack")
        Not fitted; it is cloned and not changed. With ``tol=0`` only ``violation_tol`` stops it.

    Returns
    -------
    Trace
        Steps of kind "round": ``weights`` by block, ``slack``, ``working_set`` before the round,
        the constraints it ``added`` (example, output, violation), ``primal``, ``dual``, ``gap``,
        and for each example with at most 64 outputs its ``table``: output, score F, lead F(gold) −
        F, loss, violation = loss − slack − lead. ``answer`` is ``coef_``.
    """
    model = clone(model)
    if model.solver != "n-slack":
        raise ValueError(f'a trace of cutting planes needs solver="n-slack", got {model.solver!r}')
    prepared = model._prepare(X, y)
    problem, layout = prepared.problem, prepared.layout
    weights: list[Vector] = []
    model.set_params(callbacks=[lambda record: weights.append(np.array(record["weights"]()))])
    model.fit(X, y)
    cost = as_cost(model.cost)
    steps: list[dict[str, Any]] = []
    working: list[dict[str, Any]] = []
    for w, seen in zip(weights, model.rounds_, strict=True):
        added = [
            {"example": c.example, "output": _plain(c.output), "violation": c.violation}
            for c in seen.constraints
        ]
        tables = []
        for i in range(problem.n_examples):
            rows = _table(model, problem, i, w, cost, float(seen.slack[i]))
            tables.append(rows)
        steps.append(
            {
                "kind": "round",
                "iteration": seen.iteration,
                "weights": layout.coef(w),
                "slack": seen.slack.tolist(),
                "working_set": [dict(c) for c in working],
                "added": added,
                "tables": tables,
                "violation": seen.violation,
                "primal": seen.primal,
                "dual": seen.dual,
                "gap": seen.gap,
            }
        )
        working += [{"example": c["example"], "output": c["output"]} for c in added]
    about = {"classes": model.classes_.tolist(), "tolerance": model.violation_tol}
    return Trace("cutting planes", steps, layout.coef(model._weights), model.objective_, about)


def _plain(output: Any) -> Any:
    return output.tolist() if hasattr(output, "tolist") else output


def _table(
    model: Any, problem: Any, i: int, w: Vector, cost: Any, slack: float
) -> list[dict[str, Any]] | None:
    """Return every output with its constraint; None if there are too many."""
    scores = problem.scores(i, w)
    structure, gold = problem.structure, problem.gold.outputs[i]
    outputs = list(islice(structure.outputs(**scores), MOST_OUTPUTS + 1))
    if len(outputs) > MOST_OUTPUTS:
        return None
    reference = structure.score(gold, **scores)
    c, constant = cost.parts(structure, gold, **scores)
    rows = []
    for output in outputs:
        score = structure.score(output, **scores)
        counts = structure.encode(output, **scores)
        loss = constant + sum(float((c[name] * counts[name]).sum()) for name in c)
        lead = reference - score
        rows.append(
            {
                "output": _named(model, output),
                "score": score,
                "lead": lead,
                "loss": loss,
                "violation": loss - slack - lead,
            }
        )
    return rows


def dual_ascent(model: Any, X: Any, y: Any) -> Trace:
    """Return the trace of dual coordinate ascent: a step for each pass.

    The passes are those of ``fit``; its callbacks write the trace.

    Parameters
    ----------
    model : CRF(solver="dual")
        Or another solver that reports a dual: "frank-wolfe", "one-slack".

    Returns
    -------
    Trace
        Steps of kind "pass": ``weights`` by block, ``loss``, and, if the pass computes them,
        ``dual``, a lower bound, ``objective`` and their ``gap``. ``answer`` is ``coef_``.
    """
    model = clone(model)
    prepared = model._prepare(X, y)
    layout = prepared.layout
    steps: list[dict[str, Any]] = []

    def look(record: dict[str, Any]) -> None:
        numbers = {
            name: record[name]
            for name in ("iteration", "loss", "dual", "objective", "gap", "estimated_gap")
            if record.get(name) is not None
        }
        weights = layout.coef(np.array(record["weights"]()))
        steps.append({"kind": "pass", **numbers, "weights": weights})

    model.set_params(callbacks=[look])
    model.fit(X, y)
    return Trace(
        "dual ascent",
        steps,
        layout.coef(model._weights),
        model.objective_,
        {"classes": model.classes_.tolist(), "gap": model.duality_gap_},
    )
