"""Sums over labellings: exact ones, and loopy messages."""

from __future__ import annotations

import math
from typing import Any

from ...array_types import Array
from ..checks import nothing_legal
from .pair_model import PairModel

#: ε log Σ exp(score/ε), marginals of nodes (N, K) and edges (E, K, K), entropy in nats.
Sums = tuple[float, Array, Array, float]


def exact_sums(model: PairModel, temperature: float) -> Sums | None:
    """Return the sums by elimination, or of independent labels; None if the treewidth is too large.

    The value is −∞ if nothing is legal.
    """
    sums = model.native.sums(temperature)
    return None if sums is None else _shaped(model, sums)


def loopy_sums(model: PairModel, temperature: float, damping: float) -> Sums:
    """Return Bethe's value and entropy, and the beliefs of sum-product message passing.

    value = ⟨θ, b⟩ + ε (Σ_e H(b_e) − Σ_v (degree_v − 1) H(b_v)). See J. Yedidia, W. Freeman & Y.
    Weiss (2005), Constructing free-energy approximations. Exact if no pair is scored.
    """
    sums = model.native.loopy_sums(temperature, damping)
    if sums[0] == -math.inf:
        raise nothing_legal()
    return _shaped(model, sums)


def _shaped(model: PairModel, found: Any) -> Sums:
    value, node, pair, entropy = found
    k = model.n_labels
    return value, node.reshape(-1, k), pair.reshape(-1, k, k), entropy
