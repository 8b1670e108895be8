"""Blocks of parts, and vectors over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..array_types import Array

Parts = dict[str, Array]


class Block(NamedTuple):
    """One block of parts, as learners see it.

    Attributes
    ----------
    outcomes : tuple of int
        Shape of one site's outcomes: ``(K,)`` for a label, ``(K, K)`` for a label pair.
    shared : bool
        Whether it has no features: one table of scores for all sites.
    optional : bool
        Whether the structure works without it.
    inner : tuple of int
        If a position has more than one site, their shape: ``(max_length,)`` for the segments that
        start there. The block's scores have the shape ``(positions, *inner, *outcomes)``.
    boundary : bool
        Whether it scores the first or the last label: one site, without an axis of its own.
    """

    outcomes: tuple[int, ...]
    shared: bool = False
    optional: bool = False
    inner: tuple[int, ...] = ()
    boundary: bool = False


def n_parts(theta: Mapping[str, Array]) -> int:
    """Return the number of parts of an example."""
    return sum(a.size for a in theta.values())


def flatten(theta: Mapping[str, Array]) -> Array:
    """Return the blocks concatenated to one vector."""
    return np.concatenate([np.ravel(a) for a in theta.values()]) if theta else np.empty(0)


def unflatten_values(values: Array, theta: Mapping[str, Array]) -> Parts:
    """Cut a flat part vector into blocks of the shapes of ``theta``."""
    parts: Parts = {}
    at = 0
    for name, a in theta.items():
        parts[name] = np.asarray(values[at : at + a.size]).reshape(a.shape)
        at += a.size
    return parts


def dot_counts(theta: Array, counts: Array) -> float:
    """Return ⟨θ, μ⟩ with 0 · −∞ = 0, and −∞ if a forbidden part has any other count."""
    used = counts != 0
    scores = theta[used]
    if np.isneginf(scores).any():  # times a count below 0 it would be ∞
        return -math.inf
    return float(np.dot(scores, counts[used]))


def part_of(parts: Any, name: str) -> Array:
    """Return the counts of one block, from the argument of ``decode``."""
    try:
        return np.asarray(parts[name], dtype=np.float64)
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError(
            f"parts are arrays of counts by block, as encode gives them: {name!r} is missing, or "
            "not an array of numbers"
        ) from None
