"""Sums over all outputs but one, as sums of positive terms.

Subtracting one output from log Z loses all precision if that output has nearly all of the mass.
Here the output is excluded before anything is summed: by a dynamic program without its derivation,
or by masks that divide the other outputs into classes: those that differ from it at the first
place, those that agree there and differ at the second, and so on (Lawler 1972).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array_types import Array, Integers
from ..exceptions import CapabilityError, InfeasibleError

if TYPE_CHECKING:
    from .base import Structure
    from .hypergraph import Hyperedges
    from .parts import Parts

#: The most derivations to try for one that has all parts of an output.
_MOST_DERIVATIONS = 256


def differing(
    theta: Parts, block: str, places: Iterable[tuple[Integers, int]]
) -> Iterator[dict[str, Any]]:
    """Iterate over scores with parts forbidden that cover all outputs but one, each once.

    Parameters
    ----------
    block : str
        The block that distinguishes outputs.
    places : iterable of (indices, index)
        For each place of the excluded output: the parts possible there, and the one that it has, as
        flat indices into the block. An output with none of the others has that one.
    """
    fixed = theta[block].copy()
    for possible, own in places:
        masked = fixed.copy()
        masked.flat[own] = -np.inf
        yield {**theta, block: masked}
        original = fixed.flat[own]
        fixed.flat[possible] = -np.inf
        fixed.flat[own] = original


def differing_labels(theta: Parts, block: str, labels: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Iterate over masked scores that cover all outputs but one: each row has one label."""
    rows = np.arange(theta[block].size).reshape(-1, theta[block].shape[-1])
    places = ((row, int(row[int(k)])) for row, k in zip(rows, labels, strict=True))
    return differing(theta, block, places)


def sum_classes(
    structure: Structure,
    classes: Iterable[Mapping[str, Any]],
    temperature: float,
    topology: Mapping[str, Any],
) -> tuple[float, Parts]:
    """Return ε log Σ exp(score/ε) over disjoint classes of outputs, and its gradient."""
    results: list[tuple[float, Parts]] = []
    for scores in classes:
        try:
            results.append(structure.infer(temperature=temperature, **scores, **topology))
        except InfeasibleError:  # this class is empty
            continue
    if not results:
        return -math.inf, {}
    values = np.array([value for value, _ in results])
    weights = np.exp((values - values.max()) / temperature)
    total = float(weights.sum())
    p = {
        name: sum(w * parts[name] for w, (_, parts) in zip(weights / total, results, strict=True))
        for name in results[0][1]
    }
    return float(values.max() + temperature * math.log(total)), p


def without_output(edges: Hyperedges, counts: Array, structure: Structure) -> Hyperedges:
    """Return the dynamic program of all outputs but the one with these parts."""
    used = np.where(counts > 0, 1.0, -np.inf)
    program = edges.compile(len(counts))
    for n in (1, 16, _MOST_DERIVATIONS):
        for _, derivation, parts in program.kbest(used, n):
            if np.array_equal(np.bincount(parts, minlength=len(counts)), counts):
                return edges.without(derivation.tolist())
    raise CapabilityError(
        f"the dynamic program of {structure!r} has no derivation with the parts of this output"
    )
