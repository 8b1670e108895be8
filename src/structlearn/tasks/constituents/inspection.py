"""What a parser of constituents has learned, and its trees beside gold ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...drawing.tree_report import TreeReport, check_labels
from ...estimators.calibration import certainty_fact
from ...estimators.named import learner_facts
from ...text.bracket_treebank import read_sentences
from ...text.trees import Tree
from .model import ConstituencyModel

__all__ = ["heaviest_children", "inspect_parser"]

_LEGEND = (
    "Gold above the words, predicted below. Nodes that only the gold tree has are <span "
    'class="green">green</span>, those that only the predicted one has <span class="red">red'
    "</span>."
)
_PLACES = ("first", "in the middle", "last")


def _facts(model: ConstituencyModel) -> list[tuple[str, str]]:
    told = ("parameters", "temperature", "learner_parameters", "objective", "gap", "history")
    shown = {k: v for k, v in model.training.items() if k not in told}
    facts = [*((name, str(v)) for name, v in shown.items()), *learner_facts(model.training)]
    facts.append(("probabilities", certainty_fact(model.temperature)))
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
                    entries.append((f"{symbol}, {where}", weight))
        entries.sort(key=lambda e: (e[1], e[0]), reverse=True)
        found[name] = entries[:top] + [e for e in entries[top:][-top:] if e[1] < 0]
    return found


def _rules(model: ConstituencyModel, top: int, only: Sequence[str] | None) -> dict[str, Any]:
    """Return, by category, the most probable rules of a counted grammar."""
    grammar = model.grammar
    assert grammar is not None
    found: dict[str, Any] = {}
    rules = [*grammar.grammar.binary.tolist(), *grammar.grammar.unary.tolist()]
    for (parent, *children), score in zip(rules, grammar.scores.tolist(), strict=False):
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
    model: ConstituencyModel, top: int, only: Sequence[str] | None
) -> dict[str, Any]:
    """Return what the model likes most and least under each label."""
    return (_top_pairs if model.grammar is None else _rules)(model, top, only)


def inspect_parser(
    parser: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return facts, which labels the parser puts under which, and the trees of sentences.

    Parameters
    ----------
    top : int
        Children shown for each label.
    sentences : as ``predict`` takes them, optional
    labels : list of str, optional
        Only these labels.
    most : int
        The most sentences that are shown.
    page : bool
        As HTML, with drawings, instead of text.
    """
    model: ConstituencyModel = parser._fitted()
    if model.grammar is not None:
        known = sorted({name for name in model.grammar.categories if name})
        heading, weights = "The most probable rules", _rules
    else:
        known = ["+".join(chain) for chain in model.labels[1:]]
        heading, weights = "What is under what", _top_pairs
    check_labels("label", labels, known)
    report = TreeReport("Constituency parser", _LEGEND, _facts(model), heading)
    report.features = weights(model, top, labels)
    if sentences is not None:
        report.trees, report.n_sentences = _trees(parser, sentences, most)
    return report.html() if page else report.text()


def _trees(parser: Any, source: Any, most: int) -> tuple[list[tuple[Tree, Tree | None]], int]:
    """Return predicted trees, each with the gold one where the source has it; and how many."""
    sentences = read_sentences(source, traces=parser.traces)
    tagged = parser._tag(sentences[:most], None)
    predicted = parser._fitted().parse(tagged, parser.n_threads)
    gold: list[Tree | None] = [None] * len(predicted)
    if sentences[0].tags and source != "-":  # trees, and they can be read again
        gold = list(parser._treebank(source, None, None)[:most])
    return list(zip(predicted, gold, strict=True)), len(sentences)
