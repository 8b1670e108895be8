"""Draw F1 against tokens labelled: python -m benchmarks.draw_labelling_order FILE.

Also prints how many tokens uncertain-first orders need for the F1 of random sentences.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.drawing.picture import Picture

_RESULTS = Path(__file__).parent / "results"
_WIDTH, _HEIGHT, _LEFT, _TOP = 320, 220, 52, 30
_GREY = "#808080"  # on light and on dark pages
_ORDERS = {
    "tokens": ("#3b7dd8", "uncertain first"),
    "parts": ("#2a9d6f", "uncertain first, and of these only tokens in doubt"),
    "random": ("#d9603b", "by chance"),
}
_CORPORA = {"conll2002_es": "CoNLL-2002 Spanish, names", "conll2000": "CoNLL-2000, chunks"}


def mean_curve(curves: dict[str, Any], grid: Any) -> Any:
    """Return F1 at each number of tokens, by seed; interpolated on the log of tokens."""
    rows = []
    for curve in curves.values():
        tokens, f1 = [row[1] for row in curve], [row[2] for row in curve]
        rows.append(np.interp(np.log(grid), np.log(tokens), f1))
    return np.array(rows)


def grid_of(found: dict[str, Any], order: str) -> Any:
    """Return numbers of tokens that all seeds cover."""
    curves = list(found["curves"][order].values())
    first, last = max(t[0][1] for t in curves), min(t[-1][1] for t in curves)
    return np.geomspace(first, last, 40)


def needed(found: dict[str, Any], order: str, at: int) -> tuple[float, float]:
    """Return the mean F1 of random sentences at a number of tokens, and each order's need."""
    random = mean_curve(found["curves"]["random"], np.array([at])).mean()
    grid = grid_of(found, order)
    mean = mean_curve(found["curves"][order], grid).mean(axis=0)
    above = np.flatnonzero(mean >= random)
    return float(random), float(grid[above[0]]) if len(above) else math.inf


def draw(corpora: dict[str, dict[str, Any]]) -> Picture:
    """Draw a panel for each corpus, tokens on a logarithmic scale."""
    panels = [
        _panel(results, _CORPORA[name], n * (_WIDTH + _LEFT + 24))
        for n, (name, results) in enumerate(corpora.items())
    ]
    legend = "".join(
        f'<path d="M{_LEFT} {y}h24" stroke="{colour}" stroke-width="2.5"/>'
        f'<text x="{_LEFT + 30}" y="{y + 4}">{name}: mean of {n} seeds, and their range</text>'
        for y, n, (colour, name) in zip(
            range(_TOP + _HEIGHT + 52, 1000, 18),
            [len(next(iter(corpora.values()))["curves"][k]) for k in _ORDERS],
            _ORDERS.values(),
            strict=False,
        )
    )
    width, height = len(panels) * (_WIDTH + _LEFT + 24), _TOP + _HEIGHT + 102
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="F1 against tokens labelled" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{_GREY}">'
        f"{''.join(panels)}{legend}</svg>"
    )


def _panel(found: dict[str, Any], title: str, left: int) -> str:
    grids = {order: grid_of(found, order) for order in _ORDERS if order in found["curves"]}
    least, most = (f(g for grid in grids.values() for g in (grid[0], grid[-1])) for f in (min, max))
    x0 = left + _LEFT

    def x(n: float) -> float:
        return x0 + _WIDTH * math.log(n / least) / math.log(most / least)

    def y(f1: float) -> float:
        return _TOP + _HEIGHT * (1 - f1)

    parts = [f'<text x="{x0}" y="{_TOP - 12}" font-weight="600">F1, {title}</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<path d="M{x0} {y(share):.1f}h{_WIDTH}" stroke="{_GREY}" stroke-opacity="0.3"/>'
            f'<text x="{x0 - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:g}</text>'
        )
    for n in (1000, 2000, 5000, 10_000, 20_000):
        if least <= n <= most:
            parts.append(
                f'<text x="{x(n):.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{n:,}</text>'
            )
    parts.append(
        f'<text x="{x0 + _WIDTH / 2}" y="{_TOP + _HEIGHT + 32}" text-anchor="middle">'
        "tokens labelled</text>"
    )
    for order, (colour, _) in _ORDERS.items():
        if order not in grids:
            continue
        grid = grids[order]
        rows = mean_curve(found["curves"][order], grid)
        low, high, mean = rows.min(axis=0), rows.max(axis=0), rows.mean(axis=0)
        there = [f"{x(n):.1f} {y(f):.1f}" for n, f in zip(grid, high, strict=True)]
        back = [f"{x(n):.1f} {y(f):.1f}" for n, f in zip(grid[::-1], low[::-1], strict=True)]
        line = "L".join(f"{x(n):.1f} {y(f):.1f}" for n, f in zip(grid, mean, strict=True))
        parts.append(f'<path d="M{"L".join(there + back)}Z" fill="{colour}" fill-opacity="0.2"/>')
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
    return "".join(parts)


def main() -> None:
    """Draw the curves, and print the tokens needed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.draw_labelling_order")
    parser.add_argument("output", type=Path)
    o = parser.parse_args()
    corpora = {}
    for name in _CORPORA:
        path = _RESULTS / f"labelling_order_{name}.json"
        if path.exists():
            corpora[name] = json.loads(path.read_text())
    for name, results in corpora.items():
        for order, at in itertools.product(("tokens", "parts"), (2500, 5000, 10_000, 20_000)):
            if order not in results["curves"]:
                continue
            f1, tokens = needed(results, order, at)
            share = f"{tokens:,.0f} ({tokens / at:.0%})"
            print(f"{name}, {order}: {at:,} tokens by chance, F1 {f1:.3f}: {share}")
    draw(corpora).save(o.output)


if __name__ == "__main__":
    main()
