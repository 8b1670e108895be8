"""Pictures of chains: parts, the best path, one step of Viterbi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.losses import Hamming
from structlearn.structures import Chain, trellis

from .svg import line, number, svg, text

FISH_SLEEP: dict[str, Any] = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}
WORDS, LABELS = ("Fish", "Sleep"), ("N", "V")


def chain_picture(
    scores: dict[str, Any],
    title: str,
    paths: Sequence[tuple[Sequence[int], str]] = (),
    alpha: Any = None,
) -> str:
    """Draw "Fish Sleep": labels as nodes, pairs as edges, with their scores, and paths."""
    x, y = (60, 260, 480), (80, 200)
    places = [[(x[t + 1], y[k]) for k in range(2)] for t in range(2)]
    begin = (x[0], 140.0)
    on_path = {}
    for path, kind in paths:
        on_path[-1, 0, path[0]] = kind
        on_path[0, path[0], path[1]] = kind
    parts = [text(x[t + 1], 26, word, "strong") for t, word in enumerate(WORDS)]

    def edge(start: Any, end: Any, key: Any, value: float, at: float) -> None:
        parts.append(line(*start, *end, on_path.get(key, "soft")))
        where = [a + at * (b - a) for a, b in zip(start, end, strict=True)]
        parts.append(text(where[0], where[1] + 4, number(value), "score halo"))

    for k in range(2):
        edge(begin, places[0][k], (-1, 0, k), scores["start"][k], 0.5)
        for j in range(2):
            edge(places[0][k], places[1][j], (0, k, j), scores["transition"][k, j], 0.3)
    parts.append(f'<circle cx="{begin[0]}" cy="{begin[1]}" r="7" class="node"/>')
    parts.append(text(begin[0] - 4, begin[1] + 28, "start", "small"))
    for t in range(2):
        for k in range(2):
            px, py = places[t][k]
            parts.append(f'<circle cx="{px}" cy="{py}" r="27" class="node"/>')
            parts.append(text(px, py - 1, LABELS[k], "strong"))
            parts.append(text(px, py + 15, number(scores["label"][t, k]), "score"))
            if alpha is not None:
                below = 46 if k else -36
                parts.append(text(px, py + below, f"α = {number(alpha[t, k])}", "small"))
    return svg(540, 262, parts, title)


def fish_sleep() -> str:
    """All part scores, no path."""
    return chain_picture(FISH_SLEEP, "Part scores of Fish Sleep on nodes and edges")


def fish_sleep_best() -> str:
    """The best path, with Viterbi's table."""
    table = trellis(**FISH_SLEEP)
    title = "The best path through Fish Sleep: noun, verb"
    return chain_picture(FISH_SLEEP, title, [(table.path.tolist(), "best")], table.alpha)


def fish_sleep_augmented() -> str:
    """With the cost added: the gold path, and the path that now beats it."""
    cost, _ = Hamming().parts(Chain(), [0, 1], **FISH_SLEEP)
    scores = {**FISH_SLEEP, "label": FISH_SLEEP["label"] + cost["label"]}
    table = trellis(**scores)
    paths = [([0, 1], "best"), (table.path.tolist(), "wrong")]
    title = "With the cost added, verb noun beats the gold noun verb"
    return chain_picture(scores, title, paths, table.alpha)


def viterbi_step() -> str:
    """One entry of the table: α at "tasty" for adj."""
    before = (("noun", 2.0, -5.0), ("verb", 9.0, 2.5), ("adj", -1.0, 2.2))
    own = 1.2
    sums = [a + b for _, a, b in before]
    best = int(np.argmax(sums))
    parts = [text(110, 26, "eat", "strong"), text(430, 26, "tasty", "strong")]
    for i, (name, alpha, pair) in enumerate(before):
        y = 75 + 75 * i
        parts.append(line(110, y, 430, 150, "best" if i == best else "soft"))
        at = y + 0.42 * (150 - y)
        parts.append(text(245, at + 4, number(pair), "score halo"))
        parts.append(f'<circle cx="110" cy="{y}" r="29" class="node"/>')
        parts.append(text(110, y - 1, name, "strong"))
        parts.append(text(110, y + 15, number(alpha), "score"))
    parts.append('<circle cx="430" cy="150" r="29" class="node"/>')
    parts.append(text(430, 149, "adj", "strong"))
    parts.append(text(430, 165, number(own), "score"))
    parts.append(text(430, 200, f"α = {number(sums[best] + own)}", "small"))
    return svg(540, 262, parts, "One step of Viterbi: the best way to adj comes from verb")


def factors() -> str:
    """A chain as a factor graph: the inputs and labels of each part."""
    words, labels = ("The", "fish", "sleep"), ("y₁", "y₂", "y₃")
    parts = []
    for t in range(3):
        x = 90 + 180 * t
        parts.append(line(x, 50, x, 138, "axis"))
        parts.append(f'<rect x="{x - 6}" y="90" width="12" height="12" class="factor"/>')
        if t:
            parts.append(line(x - 180, 50, x, 50, "axis"))
            parts.append(f'<rect x="{x - 96}" y="44" width="12" height="12" class="factor"/>')
            parts.append(text(x - 90, 34, "transition", "small"))
        parts.append(text(x + 26, 101, "label", "small"))
    for t, (word, label) in enumerate(zip(words, labels, strict=True)):
        x = 90 + 180 * t
        parts.append(f'<circle cx="{x}" cy="50" r="24" class="node"/>')
        parts.append(text(x, 55, label, "strong"))
        parts.append(text(x, 158, word, ""))
    parts.append('<rect x="40" y="138" width="460" height="30" rx="5" class="frame"/>')
    return svg(540, 180, parts, "A chain: label parts see the input, transition parts two labels")
