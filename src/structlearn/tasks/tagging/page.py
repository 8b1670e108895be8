"""The inspection of a tagger as one HTML page without anything from outside."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from ..html_page import facts_list, html_page

if TYPE_CHECKING:
    from .inspection import Decision, Summary

__all__ = ["inspection_page"]

_STYLE = """
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .8rem; overflow-wrap: anywhere; }
.card h3 { margin: 0 0 .4rem; font-size: 1rem; }
.bar { display: grid; grid-template-columns: 4.5rem 1fr; gap: .6rem; font-size: .85rem;
  padding: .1rem .3rem; border-radius: .2rem; }
.bar span:first-child { text-align: right; font-variant-numeric: tabular-nums; }
.for span:first-child { color: var(--for); } .against span:first-child { color: var(--against); }
.for { background: linear-gradient(to right, rgba(var(--for-rgb), .18) var(--w), transparent 0); }
.against { background: linear-gradient(to right, rgba(var(--against-rgb), .18) var(--w),
  transparent 0); }
table { border-collapse: collapse; font-size: .78rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .45rem; text-align: right; border: 1px solid var(--line);
  white-space: nowrap; }
th { font-weight: 600; background: var(--card); } tr th:first-child { text-align: left;
  position: sticky; left: 0; }
.sentence { display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0 1.2rem; }
.sentence details { margin: 0; } details[open] { flex-basis: 100%; }
summary b { margin-right: .4rem; }
"""


def inspection_page(summary: Summary, sentences: list[list[Decision]], top: int) -> str:
    """Return the page.

    Parameters
    ----------
    summary : Summary
    sentences : list of lists of Decision
        Explained sentences, may be empty.
    top : int
        Contributions shown for each token.
    """
    body = ["<h1>What the tagger has learned</h1>", facts_list(summary.facts)]
    if sentences:
        body.append("<h2>Why these labels</h2>")
        body.append(
            '<p class="note">Open a token to see what put its label before the runner-up: each '
            "feature's weight for the one minus its weight for the other.</p>"
        )
        body += [_sentence(decisions, top) for decisions in sentences]
    if summary.top:
        body += ["<h2>Strongest features, label by label</h2>", '<div class="cards">']
        body += [_card(label, features) for label, features in summary.top.items()]
        body.append("</div>")
    body.append("<h2>Transitions</h2>")
    body.append("<p class=\"note\">From the row's label to the column's; ✕ is forbidden.</p>")
    body.append(_transitions(summary))
    return html_page("Tagger", body, _STYLE)


def _bars(parts: list[tuple[str, float]]) -> str:
    largest = max((abs(w) for _, w in parts if math.isfinite(w)), default=1.0) or 1.0
    rows = []
    for name, weight in parts:
        share = 100 * min(1.0, abs(weight) / largest)
        kind = "for" if weight > 0 else "against"
        rows.append(
            f'<div class="bar {kind}" style="--w: {share:.0f}%"><span>{weight:+.3f}</span>'
            f"<span>{escape(name)}</span></div>"
        )
    return "".join(rows)


def _card(label: str, features: list[tuple[str, float]]) -> str:
    shown = _bars(features) if features else '<p class="note">no features</p>'
    return f'<section class="card"><h3>{escape(label)}</h3>{shown}</section>'


def _sentence(decisions: list[Decision], top: int) -> str:
    tokens = []
    for d in decisions:
        tokens.append(
            f"<details><summary><b>{escape(d.token[0] if d.token else '')}</b>{escape(d.label)} "
            f'<span class="note">{d.probability:.2f}</span></summary>'
            f'<p class="note">not {escape(d.runner_up)}: ahead by {d.margin:.3f}</p>'
            f"{_bars(d.contributions[:top])}</details>"
        )
    return f'<div class="sentence">{"".join(tokens)}</div>'


def _transitions(summary: Summary) -> str:
    rows: list[tuple[str, list[float]]] = []
    if summary.start:
        rows.append(("start", summary.start))
    rows += list(zip(summary.labels, summary.transitions, strict=True))
    if summary.end:
        rows.append(("end", summary.end))
    finite = [abs(w) for _, row in rows for w in row if math.isfinite(w)]
    largest = max(finite, default=1.0) or 1.0
    head = "".join(f"<th>{escape(k)}</th>" for k in summary.labels)
    lines = [f"<tr><th></th>{head}</tr>"]
    for name, row in rows:
        cells = "".join(_cell(w, largest) for w in row)
        lines.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _cell(weight: float, largest: float) -> str:
    if not math.isfinite(weight):
        return "<td>✕</td>"
    strength = 0.55 * min(1.0, abs(weight) / largest)
    colour = "for" if weight > 0 else "against"
    return f'<td style="background: rgba(var(--{colour}-rgb), {strength:.2f})">{weight:.2f}</td>'
