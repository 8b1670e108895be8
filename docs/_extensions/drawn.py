"""The pictures of the guide, drawn from what the library computes.

Each function returns an SVG whose colours are the page's: ``currentColor`` and the classes of
``_static/site.css``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from structlearn.losses import Hamming, StructuredLoss
from structlearn.structures import Chain, Grid, Multiclass, trellis

FISH_SLEEP: dict[str, Any] = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),
}
WORDS, LABELS = ("Fish", "Sleep"), ("N", "V")


def svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    """Return a picture of these parts; its title is what screen readers say."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" style="max-width:{width:g}px" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def text(x: float, y: float, content: str, kind: str = "") -> str:
    """Return a line of text centred at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "") -> str:
    """Return a straight line."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} class="{kind}"/>'


def number(value: float) -> str:
    """Return a score with a true minus sign."""
    return f"{value:g}".replace("-", "\u2212")


# -- chains ---------------------------------------------------------------------------------------


def chain_picture(
    scores: dict[str, Any],
    title: str,
    paths: Sequence[tuple[Sequence[int], str]] = (),
    alpha: Any = None,
) -> str:
    """Draw "Fish Sleep": a node a label, an edge a pair, with their scores, and paths."""
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
    """With the cost added: the gold path and the one that now beats it."""
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


# -- curves ---------------------------------------------------------------------------------------


def plane(box: tuple[float, float, float, float]) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the map from (x, y) in the box (x0, x1, y0, y1) to a picture of 540 × 300."""
    x0, x1, y0, y1 = box
    return lambda x, y: (46 + 470 * (x - x0) / (x1 - x0), 262 - 242 * (y - y0) / (y1 - y0))


def axes(box: tuple[float, float, float, float], xlabel: str, ylabel: str) -> list[str]:
    """Return the two axes with their names and whole-numbered ticks."""
    at = plane(box)
    parts = [line(46, 262, 516, 262, "axis"), line(46, 20, 46, 262, "axis")]
    for x in range(int(np.ceil(box[0])), int(box[1]) + 1):
        px, _ = at(x, box[2])
        parts += [line(px, 262, px, 267, "axis"), text(px, 281, number(x), "small")]
    for y in range(int(np.ceil(box[2])), int(box[3]) + 1):
        _, py = at(box[0], y)
        parts += [line(41, py, 46, py, "axis"), text(30, py + 4, number(y), "small")]
    parts.append(text(281, 298, xlabel, "small"))
    parts.append(f'<text x="58" y="16" class="small begin">{escape(ylabel)}</text>')
    return parts


def curve(at: Any, x: Any, y: Any, kind: str) -> str:
    """Return a line through points, those left out that are NaN."""
    shown = np.isfinite(y)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*at(x[shown], y[shown]), strict=True))
    return f'<polyline points="{points}" class="{kind}"/>'


def losses() -> str:
    """The members of the family over the lead of the gold class."""
    box = (-2.0, 3.0, 0.0, 3.5)
    at = plane(box)
    lead = np.linspace(-2, 3, 101)
    parts = axes(box, "how far the gold output is ahead", "loss")
    family = (
        ("perceptron", 0, 0, "c1"),
        ("hinge", 1, 0, "c2"),
        ("log loss", 0, 1, "c3"),
        ("softmax-margin", 1, 1, "c4"),
        ("γ = 1, ε = 0.3", 1, 0.3, "c5"),
    )
    for i, (name, margin, temperature, kind) in enumerate(family):
        loss = StructuredLoss(margin=margin, temperature=temperature)
        values = [loss(Multiclass(), 0, label=np.array([m, 0.0]))[0] for m in lead]
        parts.append(curve(at, lead, np.minimum(values, 3.5), kind))
        y = 40 + 20 * i
        parts.append(line(356, y - 4, 384, y - 4, kind))
        parts.append(f'<text x="392" y="{y}" class="small begin">{name}</text>')
    return svg(540, 304, parts, "Five losses over the lead of the gold output")


def cutting_planes() -> str:
    """A convex function of one weight, and the planes that close in on its minimum."""
    box = (-1.0, 3.0, 0.0, 4.0)
    at = plane(box)
    # The slack is the largest of a few pieces Δ − w·gain, one an output.
    pieces = ((3.0, 2.0), (2.0, 1.1), (1.0, 0.35), (0.0, 0.0))
    w = np.linspace(-1, 3, 401)

    def objective(planes: Sequence[tuple[float, float]]) -> Any:
        return 0.5 * w**2 + np.max([cost - gain * w for cost, gain in planes], axis=0)

    def inside(values: Any) -> Any:
        return np.where(values <= box[3], values, np.nan)

    parts = axes(box, "w", "½w² + ξ(w)")
    known: list[tuple[float, float]] = [(0.0, 0.0)]
    dots = []
    for i in range(3):
        lower = objective(known)
        best = int(np.argmin(lower))
        px, py = at(w[best], lower[best])
        parts.append(curve(at, w, inside(lower), f"c{(1, 3, 5)[i]} dashed"))
        dots.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" class="dot"/>')
        dots.append(text(px + (0, 20, -20)[i], py + (-12, 8, 16)[i], f"w{'₀₁₂'[i]}", "small halo"))
        known.append(max(pieces, key=lambda piece: piece[0] - piece[1] * w[best]))
    parts += [curve(at, w, inside(objective(pieces)), "c2 thick"), *dots]  # over what lies under it
    return svg(540, 304, parts, "A convex objective, and lower bounds of it made of cutting planes")


# -- grids ----------------------------------------------------------------------------------------


def noisy_scores() -> tuple[Any, Any]:
    """Return a disc of 14 × 14 pixels and label scores that see it through noise."""
    i, j = np.mgrid[:14, :14] - 6.5
    truth = (np.hypot(i, j) < 5).astype(int)
    noise = np.random.default_rng(4).normal(scale=1.0, size=truth.shape)
    lead = (2 * truth - 1) + noise
    return truth, np.stack([np.zeros_like(lead), lead], axis=-1)


def grid_cut() -> str:
    """What each pixel says alone, and what a minimum cut makes of it."""
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


# -- trees ----------------------------------------------------------------------------------------


def dependencies() -> str:
    """A dependency tree as arcs."""
    from structlearn.drawing.arcs import draw_arcs

    words = ["The", "fish", "sleep", "under", "stones"]
    tree = [(2, "det"), (3, "nsubj"), (0, "root"), (5, "case"), (3, "obl")]
    return draw_arcs(words, tree).svg


PICTURES: dict[str, Callable[[], str]] = {
    f.__name__: f
    for f in (
        fish_sleep,
        fish_sleep_best,
        fish_sleep_augmented,
        viterbi_step,
        losses,
        cutting_planes,
        grid_cut,
        dependencies,
    )
}

from source_map import source_map  # noqa: E402

PICTURES["source_map"] = source_map
