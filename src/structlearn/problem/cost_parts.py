"""The costs of a problem's parts, in the form that the core reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array_types import Vector
from ..losses.costs import Cost
from ..structures.parts import Parts, flatten
from .gold import GoldOutputs

if TYPE_CHECKING:
    from .array_problem import ArrayProblem


def cost_parts(
    problem: ArrayProblem, core: Any, gold: GoldOutputs, cost: Cost | None
) -> dict[str, Any]:
    """Return the costs of the parts: a table over labels if possible, else part by part."""
    if cost is None:
        return {}
    if cost.zero_one:
        if gold.partial.any():
            i = int(np.flatnonzero(gold.partial)[0])
            raise ValueError(f"example {i}: the zero-one cost needs all labels to be known")
        return {"zero_one": True}
    block = problem.layout.blocks.get(problem.structure.label_block)
    table = None
    if problem.structure.has_labels and not problem.structure.judges_outputs and block is not None:
        table = cost.label_table(block.outcomes[-1])
    if table is None:
        return _by_example(
            problem,
            core,
            lambda i, scores: cost.parts(problem.structure, gold.outputs[i], **scores),
        )
    weights = _site_weights(problem, gold, cost) if cost.weighs_sites else None
    table, rows = gold.least_costs(table)
    if not problem.examples.blocks[problem.structure.label_block].inner:
        spec: dict[str, Any] = {
            "delta": np.ascontiguousarray(table),
            "label": rows.astype(np.int32),
        }
        return spec if weights is None else {**spec, "site_weight": weights}

    # If a site is more than one label, the structure turns label costs into part costs.
    def spread(i: int, scores: dict[str, Any]) -> tuple[Parts, float]:
        at = slice(gold.ptr[i], gold.ptr[i + 1])
        labels = rows[at]
        costs = np.where((labels >= 0)[:, np.newaxis], table[labels], 0.0)
        if weights is not None:
            costs *= weights[at, np.newaxis]
        return problem.structure.label_costs(costs, **scores), 0.0

    return _by_example(problem, core, spread)


def _site_weights(problem: ArrayProblem, gold: GoldOutputs, cost: Cost) -> Vector:
    """Return the weight of each label under a cost, by the names of the labels."""
    names, rows = problem.label_names, gold.labels
    every: list[Any] = []
    if names is not None:
        rows = gold._rows(len(names))
        every = [*names.tolist(), *(frozenset(names[s].tolist()) for s in gold.sets), None]
    weights = np.ones(len(gold.labels))
    for i in range(problem.n_examples):
        begin, end = gold.ptr[i], gold.ptr[i + 1]
        named = [every[k] for k in rows[begin:end]] if every else rows[begin:end].tolist()
        weights[begin:end] = cost.site_weights(named, i)
    return weights


def _by_example(
    problem: ArrayProblem,
    core: Any,
    cost_of: Callable[[int, dict[str, Any]], tuple[Parts, float]],
) -> dict[str, Any]:
    """Return the costs of the parts, from a function of the example and its (zero) scores."""
    ptr, parts, values, constants = [0], [], [], []
    for i in range(problem.n_examples):
        c, constant = cost_of(i, problem.as_arguments(i, np.zeros(core.parts(i))))
        zeros = {name: np.zeros(shape) for name, shape in problem.shapes(i).items()}
        flat = flatten({name: np.asarray(c.get(name, z)) for name, z in zeros.items()})
        used = np.flatnonzero(flat)
        parts.append(used.astype(np.uint32))
        values.append(flat[used])
        constants.append(float(constant))
        ptr.append(ptr[-1] + len(used))
    return {
        "ptr": np.array(ptr, dtype=np.int64),
        "part": np.concatenate(parts),
        "value": np.concatenate(values),
        "constant": np.array(constants),
    }
