"""Entropies without differences of large numbers.

H = log Z − ⟨θ, p⟩/ε is imprecise if the scores are much larger than H. An output is a sequence of
choices, and H is the sum of the entropies of the choices, each weighted by its probability: a sum
of non-negative terms, as precise as the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array_types import Array

if TYPE_CHECKING:
    from .base import Structure
    from .parts import Parts

#: A difference is trusted if rounding cost at most this share of it.
TOLERANCE = 1e-10
#: Avoids log 0 in terms that are then multiplied by 0.
_SMALLEST = np.finfo(np.float64).tiny
_ROUNDING = 8 * np.finfo(np.float64).eps


def entropy_of_choices(p: Array) -> float:
    """Return the expected entropy of choices, one per row.

    Parameters
    ----------
    p : (n, K) array
        P(the choice arises, and this outcome). A row adds up to the probability that its choice
        arises; rows of 0 never do.
    """
    top = p.max(axis=1, initial=0.0)
    if not top.all():
        p, top = p[top > 0], top[top > 0]
    odds = p / top[:, np.newaxis]
    lag = -np.einsum("ij,ij->i", odds, np.log(np.maximum(odds, _SMALLEST)))
    odds[np.arange(len(odds)), odds.argmax(axis=1)] = 0.0
    remainder = odds.sum(axis=1)
    # −log of the best outcome's share is log(1 + rest); that of another one is larger by its lag.
    return float((top * ((1.0 + remainder) * np.log1p(remainder) + lag)).sum())


def centred(theta: Mapping[str, Any], axes: Mapping[str, int]) -> dict[str, Any]:
    """Return scores minus the largest among those of which an output has exactly one.

    Parameters
    ----------
    axes : mapping of str to int
        Block name to the number of last axes that form such a choice. Other blocks are unchanged.
    """
    result = dict(theta)
    for name, n in axes.items():
        if name in theta:
            last = tuple(range(-n, 0))
            top = theta[name].max(axis=last, keepdims=True, initial=-np.inf)
            result[name] = theta[name] - np.where(np.isfinite(top), top, 0.0)
    return result


def entropy_by_difference(
    structure: Structure, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
) -> tuple[float, bool]:
    """Return H = −log P(y*) + ⟨θ, μ(y*) − p⟩/ε, y* a best output, and whether to trust it."""
    from .parts import dot_counts

    _, counts, best = _best(structure, theta, topology)
    value, p = structure.infer(temperature=temperature, **theta, **topology)
    size = abs(value) + abs(best)
    gap = 0.0
    for name, scores in theta.items():
        gap += dot_counts(scores, counts[name] - p[name])
        used = (counts[name] != 0) | (p[name] != 0)
        size += float(np.abs(scores[used]) @ (np.abs(counts[name]) + np.abs(p[name]))[used])
    entropy = max(0.0, (value - best + gap) / temperature)
    # The probabilities are themselves inexact in proportion to the scores: hence the square.
    error = _ROUNDING * (1.0 + size / temperature) ** 2
    return entropy, error <= TOLERANCE * entropy


def entropy_by_others(
    structure: Structure, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
) -> float:
    """Return H = log(1 + R) + R/(1 + R) · (score(y*) − ⟨θ, q⟩)/ε, with R the odds against y*.

    R and the expected counts q of the other outputs come from sums without y*.
    """
    from .parts import dot_counts

    y, _, best = _best(structure, theta, topology)
    value, q = structure.infer_others(y, temperature=temperature, **theta, **topology)
    if value == -math.inf:
        return 0.0
    lag = (best - sum(dot_counts(scores, q[name]) for name, scores in theta.items())) / temperature
    odds = (value - best) / temperature  # their logarithm
    surprise = float(np.logaddexp(0.0, odds))
    return surprise + math.exp(odds - surprise) * max(0.0, lag)


def _best(
    structure: Structure, theta: dict[str, Any], topology: Mapping[str, Any]
) -> tuple[Any, Parts, float]:
    y = structure.argmax(**theta, **topology)
    counts = structure.encode(y, **theta, **topology)
    return y, counts, structure.score(y, **theta, **topology)
