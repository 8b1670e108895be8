"""What a parser of constituents has learned."""

from __future__ import annotations

import math
from typing import Any

from ...models.ranking import heaviest
from .model import ConstituencyModel

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


def pairs(model: ConstituencyModel) -> list[tuple[str, str, float]]:
    """Return (label, what stands under it, weight) of a model; of a grammar its rules."""
    if model.grammar is not None:
        return [(name, rule, p) for _, name, rule, p in _rules(model.grammar)]
    table = model.table
    names = ["+".join(chain) for chain in model.labels]
    symbols = [*names, *model.tags, "other tag"]
    found = []
    for place, where in enumerate(_PLACES):
        for child, symbol in enumerate(symbols[1:], 1):
            begin = (place * len(symbols) + child) * len(names)
            for parent, name in enumerate(names[1:], 1):
                if weight := table[begin + parent]:
                    found.append((name, f"{symbol}, {where}", weight))
    return sorted(found, key=lambda row: (row[0], -row[2], row[1]))


def heaviest_below(model: ConstituencyModel, n: int) -> dict[str, list[tuple[str, float]]]:
    """Return what weighs most under each label; the most probable rules of each category."""
    found: dict[str, list[tuple[str, float]]] = {"+".join(c): [] for c in model.chains if c}
    if model.grammar is None:
        for name, child, weight in pairs(model):
            found[name].append((child, weight))
    else:
        for category, name, rule, p in _rules(model.grammar):
            rows = found.setdefault(category, [])
            rows.append((rule if name == category else f"{name} → {rule}", p))
    return {name: heaviest(rows, n) for name, rows in found.items()}


def _rules(grammar: Any) -> list[tuple[str, str, str, float]]:
    """Return (category, symbol, what is under it, probability) of the rules of nodes."""
    found = []
    rules = [*grammar.binary, *grammar.unary]
    for (parent, *below), score in zip(rules, grammar.scores, strict=False):
        if category := grammar.categories[parent]:
            right = " ".join(grammar.symbols[c].replace("(", "") for c in below)
            symbol = grammar.symbols[parent].lstrip("(")
            found.append((category, symbol, right, math.exp(score)))
    return sorted(found, key=lambda rule: (rule[1], -rule[3], rule[2]))
