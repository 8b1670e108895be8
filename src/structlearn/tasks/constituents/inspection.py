"""What a parser of constituents has learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .model import ConstituencyModel

__all__ = ["heaviest_children", "tree_facts"]

_PLACES = ("first", "in the middle", "last")


def tree_facts(model: ConstituencyModel) -> list[tuple[str, str]]:
    """Return what a model scores, and what its trees have."""
    kept = [name for name in ("functions", "traces") if model.training.get(name)]
    facts = [
        ("kept in trees", ", ".join(kept) or "categories alone, no functions or traces"),
        ("tags from", "its own tagger" if model.tagger is not None else "the input"),
    ]
    if model.grammar is not None:
        grammar = model.grammar
        facts.append(("symbols", str(len(grammar.symbols))))
        facts.append(("rules", f"{len(grammar.binary)} binary, {len(grammar.unary)} unary"))
    else:
        facts.append(("labels", " ".join("+".join(chain) for chain in model.labels[1:])))
        facts.append(("features", f"{len(memoryview(model.arrays['keys']).cast('B')) // 8:,}"))
        facts.append(("weights", f"{len(memoryview(model.arrays['weights']).cast('B')) // 4:,}"))
    return facts


def _top_pairs(
    model: ConstituencyModel, top: int | None, only: Sequence[str] | None
) -> dict[str, Any]:
    """Return, by label, the children that the model likes most and least under it."""
    table = model.table
    names = ["+".join(chain) for chain in model.labels]
    symbols = [*names, *model.tags, "other tag"]
    found: dict[str, Any] = {}
    for parent, name in enumerate(names):
        if parent == 0 or (only is not None and name not in only):
            continue
        entries = []
        for place, where in enumerate(_PLACES):
            for child, symbol in enumerate(symbols):
                weight = table[(place * len(symbols) + child) * len(names) + parent]
                if weight != 0 and child != 0:
                    entries.append((f"{symbol}, {where}", weight))
        entries.sort(key=lambda e: (e[1], e[0]), reverse=True)
        found[name] = entries
        if top is not None:
            found[name] = entries[:top] + [e for e in entries[top:][-top:] if e[1] < 0]
    return found


def _rules(model: ConstituencyModel, top: int | None, only: Sequence[str] | None) -> dict[str, Any]:
    """Return, by category, the most probable rules of a counted grammar."""
    grammar = model.grammar
    assert grammar is not None
    found: dict[str, Any] = {}
    rules = [*grammar.binary, *grammar.unary]
    for (parent, *children), score in zip(rules, grammar.scores, strict=False):
        name = grammar.symbols[parent].lstrip("(")
        category = grammar.categories[parent]
        if category and (only is None or category in only):
            right = " ".join(grammar.symbols[c].replace("(", "") for c in children)
            found.setdefault(name, []).append((right, math.exp(score)))
    return {
        name: sorted(rows, key=lambda r: (r[1], r[0]), reverse=True)[:top]
        for name, rows in sorted(found.items())
    }


def heaviest_children(
    model: ConstituencyModel, top: int | None, only: Sequence[str] | None
) -> dict[str, Any]:
    """Return what the model likes most and least under each label; without ``top`` all of it."""
    return (_top_pairs if model.grammar is None else _rules)(model, top, only)
