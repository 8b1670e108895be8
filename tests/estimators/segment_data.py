"""Segmentation data that the tests of estimators share."""

from __future__ import annotations

import numpy as np

from structlearn.datasets import make_treebank

NAMES = ("A", "B", "C")


def draw_segments(n=12, width=3, d=4, seed=0, names=NAMES, longest=5):
    """Dense features (L, width, d) of all segments, and outputs that depend on them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(names), d))
    X, y = [], []
    for i in range(n):
        length = longest if i == 0 else int(rng.integers(1, longest + 1))
        x = rng.normal(size=(length, width, d))
        segments, at = [], 0
        while at < length:
            scores = x[at, : min(width, length - at)] @ centres.T
            size, k = np.unravel_index(int(scores.argmax()), scores.shape)
            segments.append((at, at + int(size) + 1, names[int(k)]))
            at += int(size) + 1
        X.append(x)
        y.append(segments)
    y[0] = [(0, 1, names[0]), (1, 2, names[1]), *((t, t + 1, names[2]) for t in range(2, longest))]
    return X, y


def chunk_segments(sentence):
    """Return the chunks of a sentence as segments; words outside are segments of their own."""
    segments = []
    for t, chunk in enumerate(sentence.chunks):
        if chunk.startswith("I-"):
            start, _, name = segments.pop()
            segments.append((start, t + 1, name))
        else:
            segments.append((t, t + 1, chunk[2:] or "O"))
    return segments


def chunk_features(sentence, width):
    """Return names of features for every segment, start by start; none beyond the end."""
    around = ("<", *sentence.tags, ">")
    rows = []
    for i in range(len(sentence)):
        for j in range(i + 1, i + width + 1):
            inside = "_".join(sentence.tags[i:j])
            rows.append(
                [] if j > len(sentence) else
                ["bias", f"length={j - i}", f"tags={inside}", f"before={around[i]}",
                 f"after={around[j + 1]}", f"last={sentence.words[j - 1]}"]
            )  # fmt: skip
    return rows


def chunking(n, width=5, seed=0):
    """Chunking of made sentences, as segmentation."""
    sentences = make_treebank(n, random_state=seed)
    X = [{"segment": chunk_features(s, width)} for s in sentences]
    return X, [chunk_segments(s) for s in sentences]
