"""One HTML page without anything from outside, light and dark, for screens of any width."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["facts_list", "html_page"]

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
