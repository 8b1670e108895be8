"""Tables of facts about a model, as notebooks show them."""

from __future__ import annotations

from ..printing import escape

STYLE = """
.sl-summary{--ink:#1b1f24;--soft:#5c6675;--line:#d9dee5;--plus:31,95,191;--minus:200,50,30;
font:13px/1.45 system-ui,sans-serif;color:var(--ink);margin:.6em 0;max-width:60em;overflow-x:auto}
@media (prefers-color-scheme:dark){.sl-summary{--ink:#e6e9ef;--soft:#9aa4b2;--line:#39414c;
--plus:125,177,255;--minus:240,138,128}}
.sl-summary table{border-collapse:collapse;margin:.4em 0}
.sl-summary th{font-weight:600;text-align:left;color:var(--soft)}
.sl-summary td,.sl-summary th{padding:.15em .6em;border-bottom:1px solid var(--line)}
.sl-summary caption{text-align:left;color:var(--soft);padding:.2em 0}
.sl-summary td.n{text-align:right;font-variant-numeric:tabular-nums}
""".replace("\n", "")


def facts_html(title: str, facts: list[tuple[str, str]]) -> str:
    """Return a table of what a model is and how it was trained."""
    inner = f"<b>{escape(title)}</b>{facts_table(facts)}"
    return f'<div class="sl-summary"><style>{STYLE}</style>{inner}</div>'


def facts_table(rows: list[tuple[str, str]]) -> str:
    """Return rows of a name and a value as a table."""
    body = "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in rows)
    return f"<table>{body}</table>"
