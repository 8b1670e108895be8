"""Looking at a dependency parser: what it is, and what decided the arcs of a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...drawing.report import Choice, Report, Shown, check_labels
from ...fitting.learner_registry import learner_facts
from ...models.inputs import NativeInputs
from ...models.temperature import certainty_fact
from ...text.dependency_treebank import gold_tree, read_words
from ...text.sources import not_empty
from .heaviest import ARCS, heaviest_features
from .model import ParserModel
from .naming import ArcNames, arc_names

__all__ = ["explain", "inspect_parser", "model_facts"]

_LEGEND = (
    'Arcs that the gold tree does not have are <span class="red">red</span>; those that are '
    'missing are dashed and <span class="green">green</span>, below the words.'
)


def explain(model: ParserModel, inputs: NativeInputs) -> list[list[dict[str, Any]]]:
    """Return, word by word, the arc of the best tree, its best rival, and the reasons.

    Returns
    -------
    list of list of dict
        head, label and score of the arc; rival_head, rival_label and rival_score of the best other
        arc into the word where the pruner left one; reasons: (name with values, weight for the arc
        less weight for the rival), the largest (by its absolute value) first. Scores of pairs of
        arcs (order 2) come on top of them and can turn the balance.
    """
    corpus, tags = inputs.source.corpus, inputs.source.tags
    decisions = []
    for s, words in enumerate(arc_names(corpus, tags)):
        given = (corpus.core, tags, model.lemmas, s)
        arcs: list[dict[str, Any]] = model.core.explain(*given)
        mine = _reasons(model, given, words, arcs, "")
        others = _reasons(model, given, words, arcs, "rival_")
        for arc, weights, rival in zip(arcs, mine, others, strict=True):
            if "rival_head" in arc:
                for name, weight in rival.items():
                    # What the rival alone has is told apart.
                    shown = name if name in weights else f"runner-up: {name}"
                    weights[shown] = weights.get(shown, 0.0) - weight
            ranked = sorted(weights.items(), key=lambda r: (-abs(r[1]), r[0]))
            arc["reasons"] = [(name, weight) for name, weight in ranked if weight]
        decisions.append(arcs)
    return decisions


def _reasons(
    model: ParserModel,
    given: tuple[Any, Any, bool, int],
    words: ArcNames,
    arcs: list[dict[str, Any]],
    which: str,
) -> list[dict[str, float]]:
    """Return the weights of the features of each word's arc, by name with values."""
    number = {label: k for k, label in enumerate(model.labels)}
    heads = [arc.get(f"{which}head", arc["head"]) for arc in arcs]
    labels = [number[arc.get(f"{which}label", arc["label"])] for arc in arcs]
    rows = model.core.reasons(*given, heads, labels)
    return [
        {words.named(name, head, m): weight for name, weight in row}
        for m, (head, row) in enumerate(zip(heads, rows, strict=True), 1)
    ]


def inspect_parser(
    parser: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return what a parser is, or, with sentences, what decided their arcs; a page shows both.

    Parameters
    ----------
    top : int
        Reasons for each word, features of each relation.
    sentences : path, Corpus or list of sentences, optional
    labels : list of str, optional
        Only these relations.
    most : int
        The most sentences that are shown.
    page : bool
        As HTML, with drawings, instead of text.
    """
    model: ParserModel = parser._fitted()
    check_labels("relation", labels, [*model.labels, ARCS])
    report = Report(parser._title, heading="Strongest features, relation by relation")
    report.legend, report.parts, report.whole = _LEGEND, "arcs", "tree"
    found: dict[str, Any] = {}
    if page or sentences is None:
        report.facts = model_facts(model)
        found = model.training.get("features", {})
    if sentences is not None:
        corpus = not_empty(read_words(sentences))
        report.n_sentences = len(corpus)
        part = corpus.subset(range(min(len(corpus), most)))
        gold = [gold_tree(part, i) for i in range(len(part))]
        report.has_gold = any(tree is not None for tree in gold)
        inputs = parser._inputs(part)
        trees = parser._all_named(inputs, inputs.solve(parser.n_threads).outputs)
        for arcs, tree, right in zip(explain(model, inputs), trees, gold, strict=True):
            choices = _choices(arcs, tree.words, right, labels)
            report.sentences.append(Shown(choices, tree.draw(right) if page else None))
        if gold[0] is not None and not found:
            report.heading = "Strongest features of these trees"
            found = heaviest_features(model, corpus, kept=top)
    report.features = {
        "arcs of any relation" if group == ARCS else group: rows[:top]
        for group, rows in found.items()
        if not labels or group in labels
    }
    if report.facts and not report.features:
        report.facts.append(("features", "no names are stored: give --input, sentences with trees"))
    return report.html(top) if page else report.text(top)


def _choices(
    arcs: list[dict[str, Any]], forms: list[str], gold: Any, labels: Sequence[str] | None
) -> list[Choice]:
    """Return the arcs of a sentence as decisions."""
    words = ["ROOT", *forms]

    def told(head: int, label: str) -> str:
        return f"{label} ← {head} {words[head]}" if head else f"{label} ← ROOT"

    choices = []
    for m, arc in enumerate(arcs, 1):
        if labels and arc["label"] not in labels:
            continue
        rival = "rival_head" in arc
        choices.append(
            Choice(
                f"{m} {words[m]}",
                told(arc["head"], arc["label"]),
                None if gold is None else told(*gold[m - 1]),
                None,
                told(arc["rival_head"], arc["rival_label"]) if rival else "",
                arc["score"] - arc["rival_score"] if rival else math.inf,
                arc["reasons"],
            )
        )
    return choices


def model_facts(model: ParserModel) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = model.training
    weights = memoryview(model.arrays["weights"]).cast("B").cast("f")
    facts = [
        ("order", f"{model.order}, {'projective' if model.projective else 'any'} trees"),
        ("learner", str(training.get("learner"))),
        (
            "trained on",
            f"{training.get('sentences', 0):,} sentences, {training.get('tokens', 0):,} words",
        ),
        *learner_facts(training),
        (
            "pruner",
            f"at most {model.most} heads per word, each with at least {model.least:g} times the "
            "probability of the best one",
        ),
        ("probabilities", certainty_fact(model.loss_temperature, model.calibration)),
        ("weights", f"{sum(map(bool, weights)):,} of {len(weights):,} are not 0"),
        ("taggers", ", ".join(t.target_name for t in model.taggers) or "none (gold tags)"),
        (f"{len(model.labels)} relations", " ".join(model.labels)),
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            run = f"run {record['run']}, " if training.get("n_models", 1) > 1 else ""
            facts.append((f"{run}pass {record['pass']}", f"dev LAS {100 * record['dev_las']:.2f}"))
    return facts
