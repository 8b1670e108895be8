"""Hypothesis strategies for scores: ties, forbidden parts, small and enormous numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

#: The same examples on every run, so that a failure is a change.
REPEATABLE = settings(derandomize=True, deadline=None, database=None)

STYLES = ("normal", "ties", "equal", "thousands", "hundred thousands", "mixed sizes")


def draw_array(rng, shape, style):
    """Draw scores of one style."""
    x = rng.normal(size=shape)
    if style == "ties":
        return np.round(x)
    if style == "equal":
        return np.zeros(shape)
    if style == "thousands":
        return 1e3 * rng.uniform(-1, 1, size=shape)
    if style == "hundred thousands":
        return 1e5 * rng.uniform(-1, 1, size=shape)
    if style == "mixed sizes":
        return x * 10.0 ** rng.integers(-2, 5, size=shape)
    return x


def forbid(rng, scores, share):
    """Forbid a share of all parts."""
    return {k: np.where(rng.random(a.shape) < share, -np.inf, a) for k, a in scores.items()}


styles = st.sampled_from(STYLES)
seeds = st.integers(0, 2**32 - 1)
forbidden_shares = st.sampled_from((0.0, 0.0, 0.1, 0.3, 0.6))


@st.composite
def label_scores(draw, max_labels=6):
    """Scores of a multiclass example."""
    rng = np.random.default_rng(draw(seeds))
    scores = {"label": draw_array(rng, draw(st.integers(1, max_labels)), draw(styles))}
    return forbid(rng, scores, draw(forbidden_shares))


@st.composite
def chain_scores(draw, order, max_outputs=150):
    """Scores of a chain of the given order: any blocks, shared or not, any length from 1."""
    rng = np.random.default_rng(draw(seeds))
    n_labels = draw(st.integers(1, 4))
    longest = 6 if n_labels == 1 else int(np.log(max_outputs) / np.log(n_labels))
    length = draw(st.integers(1, longest))
    style = draw(styles)
    shapes = {"label": (length, n_labels)}
    for name in ("start", "end"):
        if draw(st.booleans()):
            shapes[name] = (n_labels,)
    for j in range(1, order + 1):
        kind = draw(st.sampled_from(("shared", "by position", "absent")))
        name = "transition" if j == order else f"transition{j}"
        window = (n_labels,) * (j + 1)
        if kind != "absent":
            shapes[name] = window if kind == "shared" else (max(length - j, 0), *window)
    scores = {name: draw_array(rng, shape, style) for name, shape in shapes.items()}
    return forbid(rng, scores, draw(forbidden_shares))


@st.composite
def segment_scores(draw, max_outputs=150):
    """A longest segment and scores for it: any blocks, shared or not, any length from 1."""
    rng = np.random.default_rng(draw(seeds))
    n_labels, width = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    longest = 5 if n_labels == 1 else int(np.log(max_outputs) / np.log(n_labels + 1))
    length = draw(st.integers(1, longest))
    style = draw(styles)
    shapes = {"segment": (length, width, n_labels)}
    for name in ("start", "end"):
        if draw(st.booleans()):
            shapes[name] = (n_labels,)
    kind = draw(st.sampled_from(("shared", "by position", "absent")))
    if kind != "absent":
        pair = (n_labels, n_labels)
        shapes["transition"] = pair if kind == "shared" else (length - 1, *pair)
    scores = {name: draw_array(rng, shape, style) for name, shape in shapes.items()}
    return width, forbid(rng, scores, draw(forbidden_shares))
