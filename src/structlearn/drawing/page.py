"""The frame of all HTML pages: self-contained, light and dark, for screens of any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from ..printing import escape
from .palette import themed
from .picture import Picture

_STYLE = themed(
    ":root",
    """
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--paper);color:var(--ink);
font:16px/1.45 system-ui,sans-serif}
header{border-bottom:1px solid var(--line);margin-bottom:1rem;padding-bottom:.2rem}
header p{margin:0;color:var(--soft);font-size:.85rem}
h1{font-size:1.5rem;margin:0 0 .3rem} h2{font-size:1.15rem;margin:2rem 0 .6rem}
h3{font-size:1rem;margin:0 0 .4rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1rem;margin:0}
dt{color:var(--soft)} dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:.4rem 0;--edge:linear-gradient(to right,var(--paper),var(--paper));
background:var(--edge) left/1rem 100% local,var(--edge) right/1rem 100% local,
linear-gradient(to right,var(--line),transparent) left/1rem 100%,
linear-gradient(to left,var(--line),transparent) right/1rem 100%;background-repeat:no-repeat}
.wide>svg[class]{background:none}
.note{color:var(--soft);font-size:.9rem;margin:.3rem 0}
.red{color:var(--wrong)} .green{color:var(--gold)}
pre{overflow-x:auto;font-size:.85rem;background:var(--card);border:1px solid var(--line);
border-radius:.5rem;padding:.6rem .8rem}
.cards{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr))}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;
min-width:0}
.bars{border-collapse:collapse;width:100%;font-size:.85rem}
.bars td{padding:.1rem .4rem;vertical-align:top;overflow-wrap:anywhere}
.bars td:first-child{width:4.6rem;text-align:right;font-variant-numeric:tabular-nums;
white-space:nowrap}
.for td:first-child{color:var(--gold)} .against td:first-child{color:var(--wrong)}
.bars td+td{--c:var(--gold-rgb);background:linear-gradient(to right,
rgba(var(--c),.18) var(--w),transparent 0)}
.against td+td{--c:var(--wrong-rgb)}
.heat{border-collapse:collapse;font-size:.78rem;font-variant-numeric:tabular-nums}
.heat th,.heat td{padding:.25rem .45rem;text-align:right;border:1px solid var(--line);
white-space:nowrap}
.heat th{font-weight:600;background:var(--card)}
.heat tr th:first-child{text-align:left;position:sticky;left:0}
""",
)


class Page:
    """A page: its title, facts, and sections one after another.

    Parameters
    ----------
    title : str
    command : str
        The command that made it.
    facts : sequence of (name, value)
        A table at the top of the page.
    style : str
        Style rules besides those of all pages.
    """

    def __init__(
        self, title: str, command: str, facts: Sequence[tuple[str, str]] = (), style: str = ""
    ) -> None:
        self.title = title
        self._styles = {"": style.replace("\n", "")}
        self._body = [
            f"<header><p>{escape(command)}</p><h1>{escape(title)}</h1></header>",
            facts_list(facts),
        ]

    def section(self, heading: str, *parts: str, note: str = "") -> None:
        """Add a section with a heading; ``note`` is HTML that explains how to read it."""
        self._body.append(f"<h2>{escape(heading)}</h2>")
        if note:
            self._body.append(f'<p class="note">{note}</p>')
        self._body += parts

    def picture(self, picture: Picture) -> str:
        """Return a picture that scrolls if it is too wide; its style is in the page only once."""
        style, svg = picture.parts
        self._styles.setdefault(style, style)
        return scroll(svg)

    def html(self) -> str:
        """Return the page."""
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}{''.join(self._styles.values())}"
            "</style></head>\n<body>" + "\n".join(self._body) + "</body></html>\n"
        )


def facts_list(facts: Sequence[tuple[str, str]]) -> str:
    """Return facts as a list of names and values."""
    entries = "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in facts)
    return f"<dl>{entries}</dl>"


def scroll(inner: str) -> str:
    """Return content that scrolls if it is wider than the screen."""
    return f'<div class="wide">{inner}</div>'


def bars(parts: Sequence[tuple[str, float]], plain: Mapping[str, str] | None = None) -> str:
    """Return a table of weights and names, over bars in proportion to the weights.

    Parameters
    ----------
    parts : sequence of (name, weight)
    plain : dict of str to str, optional
        The name in the data, shown as a tooltip.
    """
    largest = _largest(w for _, w in parts)
    rows = []
    for name, w in parts:
        title = f' title="{escape(plain[name])}"' if plain and plain.get(name, name) != name else ""
        rows.append(
            f'<tr class="{_side(w)}"><td>{w:+.3f}</td>'
            f'<td style="--w:{100 * min(1.0, abs(w) / largest):.0f}%"{title}>{escape(name)}</td>'
            "</tr>"
        )
    return f'<table class="bars">{"".join(rows)}</table>'


def cards(shown: Mapping[str, str]) -> str:
    """Return several items side by side, each under its name."""
    inner = "".join(
        f'<section class="card"><h3>{escape(name)}</h3>{body}</section>'
        for name, body in shown.items()
    )
    return f'<div class="cards">{inner}</div>'


def heat_table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]) -> str:
    """Return a table of weights, larger ones in deeper colours; −∞ is ✕."""
    largest = _largest(w for _, row in rows for w in row)

    def cell(w: float) -> str:
        if not math.isfinite(w):
            return "<td>✕</td>"
        colour = "gold" if w > 0 else "wrong"
        strength = 0.55 * min(1.0, abs(w) / largest)
        return f'<td style="background:rgba(var(--{colour}-rgb),{strength:.2f})">{w:.2f}</td>'

    lines = [("", "".join(f"<th>{escape(name)}</th>" for name in columns))]
    lines += [(name, "".join(map(cell, row))) for name, row in rows]
    body = "".join(f"<tr><th>{escape(name)}</th>{cells}</tr>" for name, cells in lines)
    return scroll(f'<table class="heat">{body}</table>')


def _largest(weights: Iterable[float]) -> float:
    return max((abs(w) for w in weights if math.isfinite(w)), default=1.0) or 1.0


def _side(weight: float) -> str:
    return "for" if weight > 0 else "against"
