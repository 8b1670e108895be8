"""Sentences with wrong labels on a page, in several orders without a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..printing import escape

#: The most sentences on a page: the surest mistakes and the most doubtful sentences.
_SHOWN = 200

MISTAKES_STYLE = """
.orders{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.4rem 0}
.orders label{cursor:pointer}
.mistakes{display:flex;flex-direction:column;gap:.8rem}
.mistakes>section{order:var(--sure)}
.board:has(.by-doubt:checked) .mistakes>section{order:var(--doubt)}
.board:has(.by-place:checked) .mistakes>section{order:var(--place)}
.mistakes p{margin:0 0 .3rem;color:var(--soft);font-size:.85rem}
.words{display:flex;flex-wrap:wrap;gap:.3rem}
.words>span{padding:.1rem .35rem;text-align:center;max-width:100%;overflow-wrap:anywhere}
.words b,.words u{display:block;font-size:.78rem;font-weight:500;text-decoration:none;
color:var(--soft)}
.words .x{border:1px solid var(--wrong);border-radius:.4rem}
.words .x b{color:var(--wrong)} .words .x u{color:var(--gold);font-weight:600}
"""

_ORDERS = (
    ("sure", "the surest mistakes first"),
    ("doubt", "the most doubtful sentences first"),
    ("place", "as in the file"),
)


def draw_mistakes(wrong: Sequence[Any]) -> str:
    """Return sentences with wrong labels as HTML, with buttons for their order.

    Parameters
    ----------
    wrong : list of Looked
        The surest mistakes first.
    """
    by_doubt = sorted(wrong, key=lambda mistake: (-mistake.doubt, mistake.number))
    by_number = {mistake.number: mistake for mistake in (*wrong[: _SHOWN // 2], *by_doubt)}
    mistakes = list(by_number.values())[:_SHOWN]
    orders = {
        "sure": sorted(mistakes, key=lambda m: (-m.sureness, m.number)),
        "doubt": sorted(mistakes, key=lambda m: (-m.doubt, m.number)),
        "place": sorted(mistakes, key=lambda m: m.number),
    }
    ranks = {name: {m.number: i for i, m in enumerate(row)} for name, row in orders.items()}
    choices = "".join(
        f'<label><input type="radio" name="order" class="by-{name}"'
        f"{' checked' if name == 'sure' else ''}> {escape(caption)}</label>"
        for name, caption in _ORDERS
    )
    rest = len(wrong) - len(mistakes)
    note = f'<p class="note">{rest:,} more are not shown.</p>' if rest > 0 else ""
    body = "".join(_section(mistake, ranks) for mistake in orders["sure"])
    return (
        f'<div class="board"><div class="orders" role="radiogroup" aria-label="order">{choices}'
        f'</div>{note}<div class="mistakes">{body}</div></div>'
    )


def _section(one: Any, ranks: dict[str, dict[int, int]]) -> str:
    style = ";".join(f"--{name}:{rank[one.number]}" for name, rank in ranks.items())
    wrong, words = set(one.wrong), []
    for t, (word, label, p) in enumerate(zip(one.words, one.labels, one.confidence, strict=True)):
        mark, gold = ' class="x"' if t in wrong else "", ""
        if t in wrong:
            label, gold = f"{label} {p:.2f}", f"<u>{escape(str(one.gold[t]))}</u>"
        words.append(f"<span{mark}>{escape(word)}<b>{escape(label)}</b>{gold}</span>")
    place = f"sentence {one.number:,}" + (f", line {one.line:,}" if one.line else "")
    caption = f"{place}: {len(wrong)} of {len(one.words)} labels wrong, the surest with "
    caption += f"{one.sureness:.2f}; doubt {one.doubt:.2f}"
    return (
        f'<section class="card" style="{style}"><p>{escape(caption)}</p>'
        f'<div class="words">{"".join(words)}</div></section>'
    )
