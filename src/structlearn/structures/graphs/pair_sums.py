"""Sums over labellings without elimination: of independent labels, and loopy messages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base import nothing_legal
from .pair_model import PairModel

__all__ = ["independent_sums", "loopy_sums"]

Array = npt.NDArray[np.float64]


def independent_sums(model: PairModel, temperature: float) -> tuple[float, Array, Array]:
    """Return ε log Σ exp(score/ε) and the marginals where no pair is scored."""
    top = model.label.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise nothing_legal()
    p = np.exp((model.label - top) / temperature)
    total = p.sum(axis=1, keepdims=True)
    node = p / total
    first, second = model.edges.T
    pair = node[first][:, :, np.newaxis] * node[second][:, np.newaxis, :]
    return float((top + temperature * np.log(total)).sum()), node, pair


def loopy_sums(model: PairModel, temperature: float, damping: float) -> tuple[float, Array, Array]:
    """Return Bethe's value and the beliefs of sum-product message passing.

    value = ⟨θ, b⟩ + ε (Σ_e H(b_e) − Σ_v (degree_v − 1) H(b_v)). See J. Yedidia, W. Freeman &
    Y. Weiss (2005), Constructing free-energy approximations.
    """
    found = model.native.messages(temperature, False, damping, 500, 1e-9, True)
    n_labels = model.n_labels
    node = found[2].reshape(-1, n_labels)
    pair = found[3].reshape(-1, n_labels, n_labels)
    degree = np.bincount(model.edges.ravel(), minlength=model.n_nodes)
    entropy = _entropies(pair).sum() - ((degree - 1) * _entropies(node)).sum()
    mean = node[node > 0] @ model.label[node > 0] + pair[pair > 0] @ model.tables[pair > 0]
    return float(mean + temperature * entropy), node, pair


def _entropies(p: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, -p * np.log(p), 0.0)
    total: Array = terms.reshape(len(p), -1).sum(axis=1)
    return total
