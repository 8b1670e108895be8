"""Sums over labellings without elimination: of independent labels, and loopy messages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base import nothing_legal
from ..entropies import entropy_of_choices
from .pair_model import PairModel

__all__ = ["Sums", "independent_sums", "loopy_sums"]

Array = npt.NDArray[np.float64]

#: ε log Σ exp(score/ε), marginals of nodes (N, K) and edges (E, K, K), entropy in nats.
Sums = tuple[float, Array, Array, float]


def independent_sums(model: PairModel, temperature: float) -> Sums:
    """Return the sums where no pair is scored."""
    top = model.label.max(axis=1, keepdims=True)
    if np.isneginf(top).any():
        raise nothing_legal()
    p = np.exp((model.label - top) / temperature)
    total = p.sum(axis=1, keepdims=True)
    node = p / total
    first, second = model.edges.T
    pair = node[first][:, :, np.newaxis] * node[second][:, np.newaxis, :]
    value = float((top + temperature * np.log(total)).sum())
    return value, node, pair, entropy_of_choices(node)


def loopy_sums(model: PairModel, temperature: float, damping: float) -> Sums:
    """Return Bethe's value and entropy, and the beliefs of sum-product message passing.

    value = ⟨θ, b⟩ + ε (Σ_e H(b_e) − Σ_v (degree_v − 1) H(b_v)). See J. Yedidia, W. Freeman &
    Y. Weiss (2005), Constructing free-energy approximations.
    """
    found = model.native.messages(temperature, False, damping, 500, 1e-9, True)
    n_labels = model.n_labels
    node = found[2].reshape(-1, n_labels)
    pair = found[3].reshape(-1, n_labels, n_labels)
    degree = np.bincount(model.edges.ravel(), minlength=model.n_nodes)
    entropy = float(_entropies(pair).sum() - ((degree - 1) * _entropies(node)).sum())
    mean = node[node > 0] @ model.label[node > 0] + pair[pair > 0] @ model.tables[pair > 0]
    return float(mean + temperature * entropy), node, pair, max(0.0, entropy)


def _entropies(p: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, -p * np.log(p), 0.0)
    total: Array = terms.reshape(len(p), -1).sum(axis=1)
    return total
