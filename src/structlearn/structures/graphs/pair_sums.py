"""Sums over labellings: exact ones, and loopy messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .pair_model import PairModel

__all__ = ["exact_sums", "loopy_sums"]

Array = npt.NDArray[np.float64]


def exact_sums(model: PairModel, temperature: float) -> tuple[float, Array, Array] | None:
    """Return ε log Σ exp(score/ε) and the marginals of nodes (N, K) and edges (E, K, K).

    By elimination, or of independent labels; None where the treewidth is too large.
    """
    found = model.native.sums(temperature)
    return None if found is None else _shaped(model, found)


def loopy_sums(model: PairModel, temperature: float, damping: float) -> tuple[float, Array, Array]:
    """Return Bethe's value and the beliefs of sum-product message passing.

    value = ⟨θ, b⟩ + ε (Σ_e H(b_e) − Σ_v (degree_v − 1) H(b_v)). See J. Yedidia, W. Freeman &
    Y. Weiss (2005), Constructing free-energy approximations. Exact where no pair is scored.
    """
    return _shaped(model, model.native.loopy_sums(temperature, damping))


def _shaped(model: PairModel, found: Any) -> tuple[float, Array, Array]:
    value, node, pair = found
    k = model.n_labels
    return value, node.reshape(-1, k), pair.reshape(-1, k, k)
