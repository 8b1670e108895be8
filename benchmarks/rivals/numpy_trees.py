"""CKY over labelled spans as one writes it in NumPy: the best label of every span at once, then a
loop over the widths, with every start, every split and in the batched form every sentence handled
by array operations. The trees and their scores are those of ``Constituency``: right-binarised, a
left child labelled unless it is a word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["cky", "cky_batch"]

Array = npt.NDArray[np.float64]
Spans = list[tuple[int, int, int]]

#: Sentences handled together: their charts stay in the cache.
CHUNK = 32


def _cky(span: Array) -> list[Spans]:
    batch, n, _, _ = span.shape
    label = 1 + span[..., 1:].argmax(axis=-1)
    labelled = span[..., 1:].max(axis=-1)
    unlabelled = span[..., 0]
    any_label = np.where(unlabelled >= labelled, 0, label)
    best = np.maximum(unlabelled, labelled)
    # child by row, follow by column: both factors of a split are contiguous.
    child = np.full((batch, n, n + 1), -np.inf)
    follow = np.full((batch, n + 1, n), -np.inf)
    split = np.zeros((batch, n, n + 1), dtype=np.int64)
    words = np.arange(n)
    child[:, words, words + 1] = best[:, words, words + 1]
    follow[:, words + 1, words] = best[:, words, words + 1]
    for width in range(2, n + 1):
        starts = words[: n - width + 1]
        ends = starts + width
        inner = starts[:, np.newaxis] + np.arange(1, width)
        total = child[:, starts[:, np.newaxis], inner] + follow[:, ends[:, np.newaxis], inner]
        where = total.argmax(axis=-1)
        body = np.take_along_axis(total, where[..., np.newaxis], axis=-1)[..., 0]
        split[:, starts, ends] = starts + 1 + where
        child[:, starts, ends] = body + labelled[:, starts, ends]
        follow[:, ends, starts] = body + best[:, starts, ends]
    trees = []
    for s in range(batch):
        spans: Spans = []
        stack = [(0, n, False)]
        while stack:
            i, j, must = stack.pop()
            k = int((label if must and j - i > 1 else any_label)[s, i, j])
            if k:
                spans.append((i, j, k))
            if j - i > 1:
                at = int(split[s, i, j])
                stack += [(at, j, False), (i, at, True)]
        trees.append(spans)
    return trees


def cky(span: Array) -> Spans:
    """Return the best tree of one sentence."""
    return _cky(span[np.newaxis])[0]


def cky_batch(spans: list[Array]) -> list[Spans]:
    """Return those of sentences of one length."""
    return [
        tree
        for at in range(0, len(spans), CHUNK)
        for tree in _cky(np.stack(spans[at : at + CHUNK]))
    ]
