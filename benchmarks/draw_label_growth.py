"""Draw the stored growth with the number of labels: python -m benchmarks.draw_label_growth FILE."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from structlearn.drawing.picture import Picture

_RESULT = Path(__file__).parent / "results" / "label_growth.json"
_WIDTH, _HEIGHT, _LEFT, _TOP = 300, 210, 52, 26
_GREY = "#808080"  # on light and on dark pages
_SYSTEMS = {
    "candidates": ("#3b7dd8", "structlearn, 12 to 48 candidates"),
    "all labels": ("#2a9d6f", "structlearn, all labels"),
    "crfsuite": ("#d9603b", "CRFsuite"),
}


def draw(points: list[dict[str, Any]]) -> Picture:
    """Draw time and memory against the number of labels, both on logarithmic scales."""
    panels = [
        _panel(points, "train_seconds", "seconds of training", 0),
        _panel(points, "peak_mb", "peak memory in MB", _WIDTH + _LEFT + 24),
    ]
    legend = "".join(
        f'<path d="M{_LEFT} {y}h24" stroke="{colour}" stroke-width="2"/>'
        f'<text x="{_LEFT + 30}" y="{y + 4}">{name}</text>'
        for y, (colour, name) in zip(
            range(_TOP + _HEIGHT + 50, 1000, 16), _SYSTEMS.values(), strict=False
        )
    )
    width, height = 2 * (_WIDTH + _LEFT) + 40, _TOP + _HEIGHT + 100
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="time and memory against labels" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{_GREY}">'
        f"{''.join(panels)}{legend}</svg>"
    )


def _panel(points: list[dict[str, Any]], quantity: str, title: str, left: float) -> str:
    labels = [point["labels"] for point in points]
    values = [point[quantity] for point in points]
    x = _scale(labels, left + _LEFT, _WIDTH)
    y = _scale(values, _TOP + _HEIGHT, -_HEIGHT)
    parts = [f'<text x="{left + _LEFT}" y="{_TOP - 10}">{title}</text>']
    for tick in _ticks(labels):
        parts.append(
            f'<path d="M{x(tick):.1f} {_TOP}v{_HEIGHT}" stroke="{_GREY}" stroke-opacity=".25"/>'
            f'<text x="{x(tick):.1f}" y="{_TOP + _HEIGHT + 15}" text-anchor="middle">'
            f"{tick:g}</text>"
        )
    for tick in _ticks(values):
        parts.append(
            f'<path d="M{left + _LEFT} {y(tick):.1f}h{_WIDTH}" stroke="{_GREY}" '
            f'stroke-opacity=".25"/><text x="{left + _LEFT - 6}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    parts.append(
        f'<text x="{left + _LEFT + _WIDTH / 2}" y="{_TOP + _HEIGHT + 32}" text-anchor="middle">'
        "labels</text>"
    )
    for system, (colour, _) in _SYSTEMS.items():
        own = [(x(p["labels"]), y(p[quantity])) for p in points if p["system"] == system]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in own)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in own]
    return "".join(parts)


def _scale(values: list[float], begin: float, length: float) -> Any:
    low, high = math.log(min(values) / 1.15), math.log(max(values) * 1.15)
    return lambda value: begin + length * (math.log(value) - low) / (high - low)


def _ticks(values: list[float]) -> list[float]:
    """Return ticks within the values: 1, 2 and 5 times powers of ten, more if there are few."""
    low, high = min(values) / 1.15, max(values) * 1.15
    for digits in ((1, 2, 5), (1, 1.2, 1.4, 1.6, 1.8, 2, 3, 4, 5, 6, 7, 8, 9)):
        steps = [digit * 10.0**power for power in range(-3, 7) for digit in digits]
        ticks = [step for step in steps if low <= step <= high]
        if len(ticks) > 2:
            break
    return ticks


def main() -> None:
    """Read the stored points of the smallest corpus and draw them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draw_label_growth")
    parser.add_argument("file", type=Path, help="where the SVG goes")
    parser.add_argument("--result", type=Path, default=_RESULT)
    o = parser.parse_args()
    points = json.loads(o.result.read_text())["points"]
    fewest = min(point["tokens"] for point in points)
    draw([point for point in points if point["tokens"] == fewest]).save(o.file)


if __name__ == "__main__":
    main()
