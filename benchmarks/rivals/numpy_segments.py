"""Segment Viterbi and log-partition as one writes them in NumPy: a loop over the positions, with
every length and label, and in the batched form every sequence, handled by array operations."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["log_partition", "log_partition_batch", "viterbi", "viterbi_batch"]

Array = npt.NDArray[np.float64]
Segments = list[tuple[int, int, int]]

#: Sequences handled together: their scores stay in the second-level cache.
CHUNK = 64


def _by_end(segment: Array) -> Array:
    """Return scores (N, L + 1, D, K) by where a segment ends, −∞ where it would begin before 0."""
    n, length, width, n_labels = segment.shape
    turned = np.full((n, length + 1, width, n_labels), -np.inf)
    for d in range(1, min(width, length) + 1):
        turned[:, d:, d - 1] = segment[:, : length - d + 1, d - 1]
    return turned


def _viterbi(segment: Array, transition: Array) -> list[Segments]:
    n, length, width, n_labels = segment.shape
    scores = _by_end(segment)
    # Row i + width is position i, so that a window of the last `width` starts always exists.
    arrived = np.full((n, length + width, n_labels), -np.inf)
    arrived[:, width] = 0.0
    size = np.empty((length + 1, n, n_labels), dtype=np.int64)
    before = np.empty((length, n, n_labels), dtype=np.int64)
    transposed = np.ascontiguousarray(transition.T)
    for j in range(1, length + 1):
        terms = arrived[:, j + width - 1 : j - 1 : -1] + scores[:, j]
        size[j] = terms.argmax(axis=1)
        ended = terms.max(axis=1)
        if j < length:
            pairs = ended[:, np.newaxis] + transposed
            before[j] = pairs.argmax(axis=2)
            arrived[:, j + width] = pairs.max(axis=2)
    outputs = []
    for s, k in enumerate(ended.argmax(axis=1).tolist()):
        segments: Segments = []
        j = length
        while j > 0:
            i = j - 1 - int(size[j, s, k])
            segments.append((i, j, k))
            k, j = int(before[i, s, k]) if i else 0, i
        outputs.append(segments[::-1])
    return outputs


def _log_sum(x: Array, axis: int) -> Array:
    top = x.max(axis=axis, keepdims=True)
    total: Array = np.log(np.exp(x - top).sum(axis=axis)) + top.squeeze(axis)
    return total


def _log_partition(segment: Array, transition: Array) -> Array:
    n, length, width, n_labels = segment.shape
    scores = _by_end(segment)
    arrived = np.full((n, length + width, n_labels), -np.inf)
    arrived[:, width] = 0.0
    table = np.exp(transition)
    for j in range(1, length + 1):
        ended = _log_sum(arrived[:, j + width - 1 : j - 1 : -1] + scores[:, j], axis=1)
        if j < length:
            top = ended.max(axis=1, keepdims=True)
            arrived[:, j + width] = np.log(np.exp(ended - top) @ table) + top
    return _log_sum(ended, axis=1)


def viterbi(segment: Array, transition: Array) -> Segments:
    """Return the best segmentation of one sequence."""
    return _viterbi(segment[np.newaxis], transition)[0]


def viterbi_batch(segments: list[Array], transition: Array) -> list[Segments]:
    """Return those of sequences of one length."""
    return [
        y
        for at in range(0, len(segments), CHUNK)
        for y in _viterbi(np.stack(segments[at : at + CHUNK]), transition)
    ]


def log_partition(segment: Array, transition: Array) -> float:
    """Return log Z of one sequence."""
    return float(_log_partition(segment[np.newaxis], transition)[0])


def log_partition_batch(segments: list[Array], transition: Array) -> list[float]:
    """Return those of sequences of one length."""
    return [
        float(z)
        for at in range(0, len(segments), CHUNK)
        for z in _log_partition(np.stack(segments[at : at + CHUNK]), transition)
    ]
