"""One HTML page without anything from outside, light and dark, for screens of any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["bars", "facts_list", "heat_table", "html_page", "scroll"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5c6675; --paper: #ffffff;
  --line: #d9dee6; --card: #f6f8fa; --for: #1f7a4d; --against: #b3372f; --for-rgb: 31, 122, 77;
  --against-rgb: 179, 55, 47; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b2; --paper: #14171c;
  --line: #2c333d; --card: #1b2027; --for: #5fcf97; --against: #f08a80; --for-rgb: 95, 207, 151;
  --against-rgb: 240, 138, 128; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 1rem 0; }
.note { color: var(--soft); font-size: .9rem; }
.red { color: var(--against); } .green { color: var(--for); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }
details { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .35rem .6rem; margin: .3rem 0; }
summary { cursor: pointer; }
.bar { display: grid; grid-template-columns: 4.5rem 1fr; gap: .6rem; font-size: .85rem;
  padding: .1rem .3rem; border-radius: .2rem; }
.bar span:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.bar.for span:first-child { color: var(--for); }
.bar.against span:first-child { color: var(--against); }
.bar.for { background: linear-gradient(to right, rgba(var(--for-rgb), .18) var(--w),
  transparent 0); }
.bar.against { background: linear-gradient(to right, rgba(var(--against-rgb), .18) var(--w),
  transparent 0); }
.heat { border-collapse: collapse; font-size: .78rem; font-variant-numeric: tabular-nums; }
.heat th, .heat td { padding: .25rem .45rem; text-align: right; border: 1px solid var(--line);
  white-space: nowrap; }
.heat th { font-weight: 600; background: var(--card); }
.heat tr th:first-child { text-align: left; position: sticky; left: 0; }
"""


def html_page(title: str, body: Sequence[str], style: str = "") -> str:
    """Return the page; ``style`` is added to what all pages have."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n<body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def facts_list(facts: Sequence[tuple[str, str]]) -> str:
    """Return names with what they are."""
    entries = "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in facts)
    return f"<dl>{entries}</dl>"


def scroll(inner: str) -> str:
    """Return something that may be wider than the screen."""
    return f'<div class="wide">{inner}</div>'


def bars(parts: Sequence[tuple[str, float]]) -> str:
    """Return names with their weights, each before a bar as long as its weight is large."""
    largest = _largest(w for _, w in parts)
    return "".join(
        f'<div class="bar {_side(w)}" style="--w: {100 * min(1.0, abs(w) / largest):.0f}%">'
        f"<span>{w:+.3f}</span><span>{escape(name)}</span></div>"
        for name, w in parts
    )


def heat_table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Return a table of weights, the larger the deeper in colour; −∞ is ✕."""
    largest = _largest(w for _, row in rows for w in row)

    def cell(w: float) -> str:
        if not math.isfinite(w):
            return "<td>✕</td>"
        strength = 0.55 * min(1.0, abs(w) / largest)
        return f'<td style="background: rgba(var(--{_side(w)}-rgb), {strength:.2f})">{w:.2f}</td>'

    lines = [("", "".join(f"<th>{escape(name)}</th>" for name in columns))]
    lines += [(name, "".join(map(cell, row))) for name, row in rows]
    body = "".join(f"<tr><th>{escape(name)}</th>{cells}</tr>" for name, cells in lines)
    return scroll(f'<table class="heat">{body}</table>')


def _largest(weights: Iterable[float]) -> float:
    return max((abs(w) for w in weights if math.isfinite(w)), default=1.0) or 1.0


def _side(weight: float) -> str:
    return "for" if weight > 0 else "against"
