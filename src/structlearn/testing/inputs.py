"""Inputs for checks of structures, and variations of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..array_types import Array
from ..exceptions import CapabilityError, InfeasibleError
from ..structures import Structure
from .enumeration import Enumeration

MakeScores = Callable[[np.random.Generator], Mapping[str, Any]]


def given_inputs(
    structure: Structure,
    scores: Mapping[str, Any] | MakeScores | None,
    n_inputs: int,
    n_labels: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return the inputs a check starts from."""
    if scores is None:
        return _draw_from_blocks(structure, n_inputs, n_labels, rng)
    return [dict(scores(rng)) for _ in range(n_inputs)] if callable(scores) else [dict(scores)]


def _draw_from_blocks(
    structure: Structure, n_inputs: int, n_labels: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Draw scores in the shapes of ``blocks``, with 1 to 4 sites if the structure allows."""
    blocks = structure.blocks(n_labels)
    inputs: list[dict[str, Any]] = []
    refused: ValueError | None = None
    tries = itertools.product((True, False), range(4 * n_inputs))
    for sites, i in tries:
        if len(inputs) == n_inputs:
            break
        theta: dict[str, Any] = {}
        for name, block in blocks.items():
            if block.optional and inputs and rng.random() < 0.3:
                continue
            alone = block.shared or not sites
            axes = () if alone else (i % 4 + 1, *block.inner)
            theta[name] = rng.normal(size=(*axes, *block.outcomes))
        try:
            structure.argmax(**theta)
        except (InfeasibleError, CapabilityError):
            pass
        except (ValueError, IndexError, KeyError) as error:
            refused = ValueError(str(error))
            continue
        inputs.append(theta)
    if not inputs:
        raise ValueError(
            f"cannot tell the shapes of {structure!r}'s scores from its blocks; pass scores=, a "
            "dict or a function of a random generator that gives one"
        ) from refused
    return inputs


def vary(theta: Mapping[str, Array]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Yield variations that any structure must handle: ties, and large scores."""
    yield "ties", {name: np.round(a) for name, a in theta.items()}
    yield "all scores equal", {name: np.where(np.isfinite(a), 0.0, a) for name, a in theta.items()}
    yield "large scores", {name: 300.0 * a for name, a in theta.items()}


def forbid_some(truth: Enumeration, rng: np.random.Generator) -> dict[str, Array]:
    """Forbid a third of the parts, but leave one output legal."""
    legal = np.flatnonzero(np.isfinite(truth.values))
    spared = truth.counts[int(rng.choice(legal))]
    return {
        name: np.where((spared[name] == 0) & (rng.random(a.shape) < 1 / 3), -np.inf, a)
        for name, a in truth.scores.items()
    }


def forbid_all(theta: Mapping[str, Array]) -> dict[str, Array]:
    """Forbid every part."""
    return {name: np.full(a.shape, -np.inf) for name, a in theta.items()}
