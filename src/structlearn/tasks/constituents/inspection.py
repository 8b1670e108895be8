"""What a parser of constituents has learned, and its trees beside gold ones: text, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ...text.trees import Tree
from ..html_page import facts_list, html_page
from ..learning import learner_facts
from .model import ConstituencyModel

__all__ = ["inspect_parser_html", "inspect_parser_text"]

_PLACES = ("first", "in the middle", "last")


def _facts(model: ConstituencyModel) -> list[tuple[str, str]]:
    told = ("parameters", "learner_parameters", "objective", "gap", "history")
    shown = {k: v for k, v in model.training.items() if k not in told}
    facts = [*((name, str(v)) for name, v in shown.items()), *learner_facts(model.training)]
    facts.append(("tags from", "its own tagger" if model.tagger is not None else "the input"))
    if model.grammar is not None:
        grammar = model.grammar.grammar
        facts.append(("symbols", str(grammar.n_symbols)))
        facts.append(("rules", f"{len(grammar.binary)} binary, {len(grammar.unary)} unary"))
    else:
        facts.append(("labels", " ".join("+".join(chain) for chain in model.labels[1:])))
        facts.append(("features", f"{len(memoryview(model.arrays['keys']).cast('B')) // 8:,}"))
        facts.append(("weights", f"{len(memoryview(model.arrays['weights']).cast('B')) // 4:,}"))
    return facts


def _top_pairs(model: ConstituencyModel, top: int, only: Sequence[str] | None) -> dict[str, Any]:
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
                    entries.append((weight, f"{symbol}, {where}"))
        entries.sort(reverse=True)
        found[name] = entries[:top] + [e for e in entries[top:][-top:] if e[0] < 0]
    return found


def _rules(model: ConstituencyModel, top: int, only: Sequence[str] | None) -> dict[str, Any]:
    """Return, by category, the commonest rules of a counted grammar."""
    grammar = model.grammar
    assert grammar is not None
    found: dict[str, Any] = {}
    rules = [*grammar.grammar.binary.tolist(), *grammar.grammar.unary.tolist()]
    for (parent, *children), score in zip(rules, grammar.scores.tolist(), strict=False):
        name = grammar.symbols[parent].lstrip("(")
        category = grammar.categories[parent]
        if category and (only is None or category in only):
            right = " ".join(grammar.symbols[c].replace("(", "") for c in children)
            found.setdefault(name, []).append((score, right))
    return {name: sorted(rows, reverse=True)[:top] for name, rows in sorted(found.items())}


def _weights(model: ConstituencyModel, top: int, only: Sequence[str] | None) -> dict[str, Any]:
    return (_top_pairs if model.grammar is None else _rules)(model, top, only)


def inspect_parser_text(
    parser: Any, *, top: int, labels: Sequence[str] | None, source: Any, most: int = 20
) -> str:
    """Return facts, what stands under what, and the trees of sentences, as text.

    Parameters
    ----------
    top : int
        Children shown for each label.
    labels : list of str, optional
        Only these labels.
    source : as ``predict`` takes it, or None
    most : int
        The most sentences of it that are shown.
    """
    model = parser._fitted()
    _check_labels(model, labels)
    lines = [f"{name}: {value}" for name, value in _facts(model)]
    for name, rows in _weights(model, top, labels).items():
        lines += ["", name, *(f"  {weight:9.3f}  {what}" for weight, what in rows)]
    found, there = _trees(parser, source, most)
    for predicted, gold in found:
        lines += ["", str(predicted)]
        if gold is not None and gold != predicted:
            lines.append(f"gold: {gold}")
    if there > most:
        lines += ["", _cut(there, most)]
    return "\n".join(lines)


def inspect_parser_html(
    parser: Any, *, top: int, labels: Sequence[str] | None, source: Any, most: int = 20
) -> str:
    """Return the same as a page with drawings, gold above the words and predicted under them."""
    model = parser._fitted()
    _check_labels(model, labels)
    parts = ["<h1>A parser of constituents</h1>", facts_list(_facts(model))]
    found, there = _trees(parser, source, most)
    if any(gold is not None for _, gold in found):
        parts.append(
            '<p class="note">Gold above the words, predicted below. Nodes that only the gold tree '
            'has are <span class="green">green</span>, those that only the predicted one has '
            '<span class="red">red</span>.</p>'
        )
    for predicted, gold in found:
        parts.append(f'<div class="wide">{predicted.draw(gold)}</div>')
    if there > most:
        parts.append(f'<p class="note">{escape(_cut(there, most))}</p>')
    parts.append("<h2>What stands under what</h2>")
    for name, rows in _weights(model, top, labels).items():
        cells = "".join(f"<tr><td>{w:.3f}</td><td>{escape(t)}</td></tr>" for w, t in rows)
        parts.append(f"<details><summary>{escape(name)}</summary><table>{cells}</table></details>")
    return html_page("Parser of constituents", parts, "td { padding: .1rem .6rem; }")


def _cut(there: int, shown: int) -> str:
    return f"{shown} of {there} sentences are shown; --most N shows more."


def _check_labels(model: ConstituencyModel, labels: Sequence[str] | None) -> None:
    if model.grammar is not None:
        known = sorted({name for name in model.grammar.categories if name})
    else:
        known = ["+".join(chain) for chain in model.labels[1:]]
    for label in labels or ():
        if label not in known:
            raise ValueError(f"the model has no label {label!r}; it has {' '.join(known)}")


def _trees(parser: Any, source: Any, most: int) -> tuple[list[tuple[Tree, Tree | None]], int]:
    """Return predicted trees, each with the gold one where the source has it; and how many."""
    if source is None:
        return [], 0
    from .treebank import read_sentences

    sentences = read_sentences(source, traces=parser.traces)
    tagged = parser._tag(sentences[:most], None)
    predicted = parser._fitted().parse(tagged, parser.n_threads)
    gold: list[Tree | None] = [None] * len(predicted)
    if sentences[0].tags and source != "-":  # trees, and they can be read again
        gold = list(parser._treebank(source, None, None)[:most])
    return list(zip(predicted, gold, strict=True)), len(sentences)
