"""Pictures of blocks, bars, images and trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.structures import Grid

from .svg import line, svg, text


def shared_blocks() -> str:
    """The blocks of weights that the classes of a hierarchy use."""
    rows = {"music": (1, 0, 0, 1), "movies": (0, 1, 0, 1), "oncology": (0, 0, 1, 0)}
    heads = ("music", "movies", "oncology", "music, movies")
    parts = [text(190 + 110 * k, 22, head, "small") for k, head in enumerate(heads)]
    for i, (name, used) in enumerate(rows.items()):
        y = 36 + 38 * i
        parts.append(text(72, y + 20, name, "strong"))
        for k, is_used in enumerate(used):
            kind = "used" if is_used else "frame"
            parts.append(
                f'<rect x="{140 + 110 * k}" y="{y}" width="100" height="30" class="{kind}"/>'
            )
            parts.append(text(190 + 110 * k, y + 20, "x" if is_used else "0", "score"))
    return svg(590, 156, parts, "Blocks of weights: music and movies share the fourth")


def slack_bars() -> str:
    """Scores with costs on top, compared with the score of the gold output."""
    outputs = (("N, N", 2, 1), ("N, V", 4, 0), ("V, N", 3, 2), ("V, V", 1, 1))
    parts = [line(70, 210, 500, 210, "axis"), line(70, 74, 500, 74, "best")]
    for k, (name, score, cost) in enumerate(outputs):
        x = 95 + 105 * k
        kind = "used" if cost == 0 else "node"
        high = 34 * score
        parts.append(f'<rect x="{x}" y="{210 - high}" width="60" height="{high}" class="{kind}"/>')
        parts.append(text(x + 30, 210 - 17 * score + 5, f"s = {score}", "score"))
        if cost:
            top = 210 - 34 * (score + cost)
            parts.append(f'<rect x="{x}" y="{top}" width="60" height="{34 * cost}" class="cost"/>')
            parts.append(text(x + 30, top + 17 * cost + 5, f"Δ = {cost}", "score"))
        parts.append(text(x + 30, 230, f"({name})", "strong"))
    parts.append(line(400, 74, 400, 40, "wrong"))
    parts.append(text(440, 62, "ξ = 1", "strong"))
    return svg(540, 242, parts, "Score plus cost of every output; one is 1 above the gold score")


def noisy_scores() -> tuple[Any, Any]:
    """Return a disc of 14 × 14 pixels, and label scores with noise."""
    i, j = np.mgrid[:14, :14] - 6.5
    truth = (np.hypot(i, j) < 5).astype(int)
    noise = np.random.default_rng(4).normal(scale=1.0, size=truth.shape)
    lead = (2 * truth - 1) + noise
    return truth, np.stack([np.zeros_like(lead), lead], axis=-1)


def grid_cut() -> str:
    """The labels of single pixels, and those of a minimum cut."""
    truth, label = noisy_scores()
    joint = Grid().argmax(label=label, potts_right=0.6, potts_down=0.6)
    alone = label.argmax(axis=-1)
    panels = (("the truth", truth), ("alone", alone), ("jointly", joint))
    parts = []
    for p, (name, image) in enumerate(panels):
        left = 10 + 180 * p
        for a, b in np.argwhere(image == 1):
            kind = "pixel" if truth[a, b] == 1 else "pixel wrong"
            parts.append(
                f'<rect x="{left + 11.4 * b:.1f}" y="{10 + 11.4 * a:.1f}" width="11.6" '
                f'height="11.6" class="{kind}"/>'
            )
        parts.append(f'<rect x="{left}" y="10" width="160" height="160" class="frame"/>')
        wrong = int((image != truth).sum())
        parts.append(text(left + 80, 190, name if p == 0 else f"{name}: {wrong} wrong", "small"))
    return svg(540, 200, parts, "A disc, seen through noise, read pixel by pixel and jointly")


def dependencies() -> str:
    """A dependency tree as arcs."""
    from structlearn.drawing.arcs import draw_arcs

    words = ["The", "fish", "sleep", "under", "stones"]
    tree = [(2, "det"), (3, "nsubj"), (0, "root"), (5, "case"), (3, "obl")]
    return draw_arcs(words, tree).svg
