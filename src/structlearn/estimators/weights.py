"""The weights of a fitted model by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array_types import Vector
from ..exceptions import CapabilityError
from ..problem.parts import PartVector
from ..structures.parts import flatten
from .array_model import Contributions


def label_weights(model: Any) -> tuple[Vector, Sequence[str]]:
    """Return the (K, d) weights of the block that scores labels, and its feature names."""
    block = model.structure_.label_block
    layout = model._layout.present().get(block)
    if layout is None or layout.shared:
        raise CapabilityError(f"{model.structure_!r} has no features of labels")
    weights = layout.to_dense(model._weights[layout.offset : layout.offset + layout.size])
    table = weights.reshape(-1, layout.n_features)
    names = model.feature_names_.get(block) or [f"feature {j}" for j in range(layout.n_features)]
    return table, names


def pair_weights(model: Any) -> dict[str, Vector]:
    """Return the weights of "start", "end" and "transition", if they do not depend on the input."""
    blocks = model._layout.present()
    pairs = "transition1" if "transition1" in blocks else "transition"
    weights = {}
    for name, table in (("start", "start"), ("end", "end"), ("transition", pairs)):
        block = blocks.get(table)
        if block is not None and block.shared:
            weights[name] = block.to_dense(model._weights[block.offset : block.offset + block.size])
    return weights


def weight_contributions(model: Any, problem: Any) -> Contributions:
    """Return a function for each feature's contribution to the difference of two outputs.

    That difference is ⟨w, Aᵀ(μ(y) − μ(z))⟩: a sum over weights, added up here by feature, or for
    pairs of labels by pair.
    """
    classes = list(map(str, model.classes_))
    names = model.feature_names_
    blocks = model._layout.present()
    places: dict[str, Any] = {}

    def name_of(block: str, f: int, column: int) -> str:
        layout = blocks[block]
        if layout.shared:
            feature = ""
        elif block in names:
            feature = names[block][f]
        else:
            feature = f"feature {f}"
        words = [] if block == model.structure_.label_block and feature else [block]
        if len(layout.outcomes) > 1 and not layout.hierarchy:
            words += [classes[k] for k in np.unravel_index(column, layout.outcomes)]
        return " ".join([*words, feature] if feature else words)

    def contributions(i: int, scores: dict[str, Any], parts: dict[str, Vector]) -> Any:
        flat = flatten({name: parts[name] for name in problem.shapes(i)})
        used = np.flatnonzero(flat)
        moved = np.zeros(problem.n_weights)
        problem.scatter(i, PartVector(used.astype(np.uint32), flat[used]), 1.0, moved)
        contribution: dict[str, float] = {}
        for block, layout in blocks.items():
            part = slice(layout.offset, layout.offset + layout.size)
            values = moved[part] * model._weights[part]
            at = np.flatnonzero(values)
            if layout.column is None:
                positions = at
            else:
                if block not in places:
                    places[block] = layout._positions()
                positions = places[block][at]
            for position, value in zip(positions.tolist(), values[at].tolist(), strict=True):
                name = name_of(block, *divmod(position, layout.n_columns))
                contribution[name] = contribution.get(name, 0.0) + value
        return contribution

    return contributions
