"""Pictures of functions: losses, and cutting planes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from structlearn.losses import StructuredLoss
from structlearn.structures import Multiclass

from .svg import line, number, svg, text


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
    """Return a line through points, without those that are NaN."""
    finite = np.isfinite(y)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*at(x[finite], y[finite]), strict=True))
    return f'<polyline points="{points}" class="{kind}"/>'


def losses() -> str:
    """The losses of the family against the lead of the gold class."""
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
    # The slack is the largest of a few pieces Δ − w·gain, one for each output.
    pieces = ((3.0, 2.0), (2.0, 1.1), (1.0, 0.35), (0.0, 0.0))
    w = np.linspace(-1, 3, 401)

    def objective(planes: Sequence[tuple[float, float]]) -> Any:
        return 0.5 * w**2 + np.max([cost - gain * w for cost, gain in planes], axis=0)

    def inside(values: Any) -> Any:
        return np.where(values <= box[3], values, np.nan)

    parts = axes(box, "w", "½w² + ξ(w)")
    tangents: list[tuple[float, float]] = [(0.0, 0.0)]
    dots = []
    for i in range(3):
        lower = objective(tangents)
        best = int(np.argmin(lower))
        px, py = at(w[best], lower[best])
        parts.append(curve(at, w, inside(lower), f"c{(1, 3, 5)[i]} dashed"))
        dots.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" class="dot"/>')
        dots.append(text(px + (0, 20, -20)[i], py + (-12, 8, 16)[i], f"w{'₀₁₂'[i]}", "small halo"))
        tangents.append(max(pieces, key=lambda piece: piece[0] - piece[1] * w[best]))
    parts += [curve(at, w, inside(objective(pieces)), "c2 thick"), *dots]  # drawn on top
    return svg(540, 304, parts, "A convex objective, and lower bounds of it made of cutting planes")
