"""Chains in NumPy, as fast as we could write them.

One sequence at a time, with a Python loop over positions, as most code does; and many sequences of
the same length at a time, which share the cost of each NumPy call.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = [
    "forward_backward",
    "forward_backward_scaled",
    "pair_marginals",
    "viterbi",
    "viterbi_batch",
]

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def viterbi(label: Array, transposed: Array, scratch: Array) -> Labels:
    """Return the best path of one sequence.

    Parameters
    ----------
    label : (L, K)
    transposed : (K, K)
        Transition scores, ``transposed[current, previous]``, so that maxima run along rows.
    scratch : (K, K)
        Overwritten.
    """
    length, n_labels = label.shape
    back = np.empty((length, n_labels), dtype=np.int64)
    alpha = label[0]
    for t in range(1, length):
        np.add(alpha, transposed, out=scratch)
        scratch.argmax(axis=1, out=back[t])
        alpha = np.maximum.reduce(scratch, axis=1)
        alpha += label[t]
    y = np.empty(length, dtype=np.int64)
    k = y[-1] = alpha.argmax()
    for t in range(length - 1, 0, -1):
        k = y[t - 1] = back[t, k]
    return y


def viterbi_batch(label: list[Array], transition: Array, chunk: int = 512) -> list[Labels]:
    """Return the best paths of sequences of one length, ``chunk`` of them at a time.

    Back-pointers are not stored: the way back recomputes the maximum, in O(K) per position.
    """
    transposed = np.ascontiguousarray(transition.T)
    paths: list[Labels] = []
    for begin in range(0, len(label), chunk):
        scores = np.stack(label[begin : begin + chunk], axis=1)
        length, n, n_labels = scores.shape
        alpha = np.empty((length, n, n_labels))
        alpha[0] = scores[0]
        candidate = np.empty((n, n_labels))
        for t in range(1, length):
            before, best = alpha[t - 1], alpha[t]
            np.add(before[:, :1], transition[0], out=best)
            for k in range(1, n_labels):
                np.add(before[:, k : k + 1], transition[k], out=candidate)
                np.maximum(best, candidate, out=best)
            best += scores[t]
        y = np.empty((n, length), dtype=np.int64)
        y[:, -1] = alpha[-1].argmax(axis=1)
        for t in range(length - 1, 0, -1):
            y[:, t - 1] = (alpha[t - 1] + transposed[y[:, t]]).argmax(axis=1)
        paths += list(y)
    return paths


def _lattices(label: Array, transition: Array, transposed: Array) -> tuple[float, Array, Array]:
    """Return log Z and the logarithms of the forward and backward sums."""
    length, n_labels = label.shape
    alpha, beta = np.empty((length, n_labels)), np.empty((length, n_labels))
    alpha[0], beta[-1] = label[0], 0.0
    for t in range(1, length):
        alpha[t] = _log_sum(alpha[t - 1] + transposed) + label[t]
    for t in range(length - 1, 0, -1):
        beta[t - 1] = _log_sum(transition + (label[t] + beta[t]))
    return float(_log_sum(alpha[-1:].copy())[0]), alpha, beta


def _log_sum(x: Array) -> Array:
    """Return log Σ exp of each row; x is overwritten."""
    top = x.max(axis=1)
    x -= top[:, np.newaxis]
    np.exp(x, out=x)
    total = np.log(x.sum(axis=1))
    total += top
    return total


def forward_backward(
    label: Array, transition: Array, transposed: Array
) -> tuple[float, Array, Array]:
    """Return log Z, label marginals and pair marginals summed over positions, in logarithms."""
    value, alpha, beta = _lattices(label, transition, transposed)
    pairs = np.zeros_like(transition)
    for t in range(1, len(label)):
        x = (alpha[t - 1] - value)[:, np.newaxis] + transition
        x += label[t] + beta[t]
        np.exp(x, out=x)
        pairs += x
    return value, np.exp(alpha + beta - value), pairs


def pair_marginals(label: Array, transition: Array, transposed: Array) -> tuple[Array, Array]:
    """Return label marginals and pair marginals position by position, in logarithms."""
    value, alpha, beta = _lattices(label, transition, transposed)
    pairs = (alpha[:-1] - value)[:, :, np.newaxis] + transition
    pairs += (label[1:] + beta[1:])[:, np.newaxis, :]
    np.exp(pairs, out=pairs)
    return np.exp(alpha + beta - value), pairs


def forward_backward_scaled(
    label: list[Array], transition: Array, chunk: int = 256
) -> tuple[Array, Array, Array]:
    """Return log Z (n,), label marginals (n, L, K) and summed pair marginals (n, K, K).

    Sequences of one length at a time, exponentials normalised at each position, so that each step
    is one matrix product for the whole chunk. No guard against underflow.
    """
    table = np.exp(transition)
    values, nodes, pairs = [], [], []
    for begin in range(0, len(label), chunk):
        scores = np.stack(label[begin : begin + chunk], axis=1)
        length, n, n_labels = scores.shape
        top = scores.max(axis=2, keepdims=True)
        weight = np.exp(scores - top)
        alpha = np.empty_like(weight)
        scale = np.empty((length, n, 1))
        for t in range(length):
            if t:
                np.matmul(alpha[t - 1], table, out=alpha[t])
                alpha[t] *= weight[t]
            else:
                alpha[0] = weight[0]
            scale[t] = alpha[t].sum(axis=1, keepdims=True)
            alpha[t] /= scale[t]
        beta = np.ones((n, n_labels))
        back = np.empty((length, n, n_labels))
        p = np.empty_like(alpha)
        for t in range(length - 1, -1, -1):
            np.multiply(alpha[t], beta, out=p[t])
            np.multiply(weight[t], beta, out=back[t])
            back[t] /= scale[t]
            if t:
                beta = back[t] @ table.T
        # Σ_t αₜ₋₁ᵀ backₜ, sequence by sequence: one product of (K, L−1) and (L−1, K) each.
        summed = np.matmul(alpha[:-1].transpose(1, 2, 0), back[1:].transpose(1, 0, 2))
        summed *= table
        values.append((np.log(scale) + top).sum(axis=0)[:, 0])
        nodes.append(p.transpose(1, 0, 2))
        pairs.append(summed)
    return np.concatenate(values), np.concatenate(nodes), np.concatenate(pairs)
