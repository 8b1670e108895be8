"""SVG elements of the pictures: lines, texts, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    """Return a picture of these parts; its title is for screen readers."""
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
