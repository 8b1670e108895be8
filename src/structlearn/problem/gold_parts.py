"""The gold outputs of a problem as parts, in the form that the core reads."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..array_types import Integers, Vector
from ..structures.parts import flatten
from .gold import GoldOutputs

if TYPE_CHECKING:
    from .array_problem import ArrayProblem


def gold_parts(problem: ArrayProblem, core: Any, gold: GoldOutputs) -> dict[str, Any]:
    """Return the parts of the gold outputs, and the labels allowed in partly labelled ones.

    Parameters
    ----------
    core : _core.Problem
        The problem in the core, without gold outputs.
    """
    partial = gold.partial
    native = problem.native_structure
    counted = True
    if native is not None:
        ptr = gold.ptr
        labels = gold.labels
        if partial.any():  # partial examples have no gold parts, only allowed labels
            keep = np.repeat(~partial, np.diff(ptr))
            sizes = np.where(partial, 0, np.diff(ptr))
            labels, ptr = labels[keep], np.concatenate(([0], np.cumsum(sizes)))
        labels, ptr = native._gold_rows(gold.outputs, labels, ptr)
        part_ptr, parts = core.encode_all(labels.astype(np.int32), ptr.astype(np.int64))
    else:
        rows: list[Integers] = []
        counts: list[Vector] = []
        for i, y in enumerate(gold.outputs):
            if partial[i]:
                rows.append(np.empty(0, dtype=np.int64))
                counts.append(np.empty(0))
                continue
            scores = problem.as_arguments(i, np.zeros(core.parts(i)))
            try:
                encoded = problem.structure.encode(y, **scores)
            except (ValueError, IndexError) as error:
                raise ValueError(f"example {i}: {error}") from None
            flat = flatten({name: encoded[name] for name in problem.shapes(i)})
            used = np.flatnonzero(flat)
            rows.append(used)
            counts.append(flat[used])
        value = np.concatenate(counts)
        # Repeat parts by their counts; add values if these are not counts (Potts terms).
        counted = bool((value > 0).all() and (value == np.rint(value)).all())
        if counted:
            pairs = zip(rows, counts, strict=True)
            rows = [np.repeat(used, count.astype(np.int64)) for used, count in pairs]
        part_ptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(r) for r in rows], out=part_ptr[1:])
        parts = np.concatenate(rows).astype(np.uint32)
    spec: dict[str, Any] = {"ptr": part_ptr, "part": parts}
    if not counted:
        spec["value"] = value
    if partial.any():
        spec.update(_allowed(problem, gold, partial))
    return spec


def _allowed(
    problem: ArrayProblem, gold: GoldOutputs, partial: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the labels that each site of a partly labelled example may take."""
    pointers = np.full(problem.n_examples, -1, dtype=np.int64)
    tables, at = [], 0
    for i in np.flatnonzero(partial).tolist():
        shape = problem.shapes(i)[problem.structure.label_block]
        try:
            table = problem.structure.allowed(gold.outputs[i], shape).astype(np.uint8)
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from None
        pointers[i] = at
        at += table.size
        tables.append(table.ravel())
    return {"allowed_ptr": pointers, "allowed": np.concatenate(tables)}


def refuse_forbidden(problem: ArrayProblem, gold: dict[str, Any]) -> None:
    """Refuse a gold output that a mask forbids: no learner could ever reach it."""
    # A mask is the same at every site.
    masks = {n: b.mask.ravel() for n, b in problem.layout.present().items() if b.mask is not None}
    if not masks:
        return
    for i in range(problem.n_examples):
        used = gold["part"][gold["ptr"][i] : gold["ptr"][i + 1]].astype(np.int64)
        at = 0
        for name, shape in problem.shapes(i).items():
            size = prod(shape)
            if name in masks:
                local = used[(used >= at) & (used < at + size)] - at
                bad = local[masks[name][local % len(masks[name])] == -np.inf]
                if len(bad):
                    raise ValueError(f"example {i}: {_describe(problem, i, at + int(bad[0]))}")
            at += size


def _describe(problem: ArrayProblem, i: int, part: int) -> str:
    """Describe the constraint that a gold part breaks."""
    names = problem.label_names
    for name, shape in problem.shapes(i).items():
        size = int(np.prod(shape))
        if part >= size:
            part -= size
            continue
        block = problem.layout.blocks[name]
        assert block is not None
        place = np.unravel_index(part, shape)
        outcome = [int(k) for k in place[len(shape) - len(block.outcomes) :]]
        labels = outcome if names is None else [names[k] for k in outcome]
        text = " -> ".join(map(str, labels))
        position = f" at position {place[0]}" if len(shape) > len(block.outcomes) else ""
        return f"the gold output uses {name} {text}{position}, which a constraint forbids"
    return "a constraint forbids the gold output"
