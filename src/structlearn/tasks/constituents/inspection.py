"""What a parser of constituents has learned, and its trees beside gold ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...drawing.report import Choice, Report, Shown, check_labels
from ...fitting.learner_registry import learner_facts
from ...models.temperature import certainty_fact
from ...text.bracket_treebank import has_trees, read_sentences
from ...text.trees import Tree
from .decisions import explain
from .model import ConstituencyModel

__all__ = ["heaviest_children", "inspect_parser", "model_facts"]

_LEGEND = (
    "Gold above the words, predicted below. Nodes that only the gold tree has are <span "
    'class="green">green</span>, those that only the predicted one has <span class="red">red'
    "</span>. Where both are the same there is one tree."
)
_PLACES = ("first", "in the middle", "last")


def model_facts(model: ConstituencyModel) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = model.training
    learner, passes = str(training.get("learner")), training.get("passes")
    how = "" if passes is None else f", {passes} {'pass' if passes == 1 else 'passes'}"
    facts = [
        ("learner", learner),
        *learner_facts(training),
        ("trained on", f"{training.get('sentences', 0):,} sentences{how}"),
    ]
    if training.get("n_models", 1) > 1:
        facts.append(("models", f"the mean of {training['n_models']}, with different seeds"))
    kept = [name for name in ("functions", "traces") if training.get(name)]
    facts.append(("kept in trees", ", ".join(kept) or "categories alone, no functions or traces"))
    certainty = certainty_fact(model.loss_temperature, model.calibration)
    facts.append(("probabilities", certainty))
    facts.append(("tags from", "its own tagger" if model.tagger is not None else "the input"))
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


def inspect_parser(
    parser: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return what a parser is, or, with sentences, their trees and what decided; a page shows both.

    Parameters
    ----------
    top : int
        Children shown for each label, reasons for each tree.
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
        known = model.names
        heading, weights = "Most probable rules, category by category", _rules
    else:
        known = ["+".join(chain) for chain in model.labels[1:]]
        heading, weights = "What is under what, label by label", _top_pairs
    check_labels("label", labels, known)
    report = Report(parser._title, heading=heading, legend=_LEGEND)
    report.parts, report.whole = "brackets and tags", "tree"
    if page or sentences is None:
        report.facts, report.features = model_facts(model), weights(model, top, labels)
    if sentences is not None:
        trees, report.n_sentences = _trees(parser, sentences, most)
        for tree, gold, decisions in trees:
            lines = [str(tree)] if gold in (None, tree) else [str(tree), f"WRONG, gold {gold}"]
            counts = None if gold is None else _wrong(tree, gold)
            picture = tree.draw(None if gold == tree else gold) if page else None
            choices = [
                Choice(" ".join(tree.words), "tree", None, None, str(d["runner_up"]), *why)
                for d in decisions
                for why in [(d["margin"], d["contributions"])]
            ]
            for choice in choices:
                lines.append(f"not {choice.runner_up}: ahead by {choice.margin:.3f}")
                lines += [f"  {v:>+10.3f}  {name}" for name, v in choice.reasons[:top]]
            report.sentences.append(Shown(choices, picture, lines, counts))
            report.has_gold = report.has_gold or gold is not None
    return report.html(top) if page else report.text(top)


def _wrong(tree: Tree, gold: Tree) -> tuple[int, int]:
    """Return how many brackets and tags only one of two trees has, and how many there are."""
    mine, right = (Counter([*t.spans(), *enumerate(t.tags)]) for t in (tree, gold))
    return ((mine - right) + (right - mine)).total(), (mine | right).total()


def _trees(
    parser: Any, source: Any, most: int
) -> tuple[list[tuple[Tree, Tree | None, list[dict[str, Any]]]], int]:
    """Return predicted trees, the gold ones where the source has them, and what decided."""
    sentences = read_sentences(source, traces=parser.traces)
    model: ConstituencyModel = parser._fitted()
    inputs = model.inputs(parser._tag(sentences[:most], None))
    outputs = inputs.solve(parser.n_threads).outputs
    predicted = [model.tree(inputs, i, output) for i, output in enumerate(outputs)]
    gold: list[Tree | None] = [None] * len(predicted)
    if has_trees(source):
        gold = list(parser._treebank(source, None, None)[:most])
    decisions = explain(model, inputs, parser.n_threads)
    return list(zip(predicted, gold, decisions, strict=True)), len(sentences)
