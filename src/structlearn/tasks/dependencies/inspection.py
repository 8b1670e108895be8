"""Looking at a dependency parser: what it is, and what decided the arcs of a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...drawing.report import Choice, Report, Shown, check_labels
from ...estimators.calibration import certainty_fact
from ...estimators.named import learner_facts
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_tree, read_treebank, read_words
from ...text.sources import not_empty
from .heaviest import ARCS, heaviest_features
from .model import ParserModel
from .naming import arc_names

__all__ = ["explain_sentence", "inspect_parser", "model_facts"]

_LEGEND = (
    'Arcs that the gold tree does not have are <span class="red">red</span>; those that are '
    'missing are dashed and <span class="green">green</span>, below the words.'
)


def explain_sentence(parser: Any, corpus: Corpus, sentence: int) -> list[dict[str, Any]]:
    """Return, word by word, the arc of the best tree, its best rival, and the reasons.

    Returns
    -------
    list of dict
        head, label and score of the arc; rival_head, rival_label and rival_score of the best other
        arc into the word where the pruner left one; reasons: (name with values, weight for the arc
        less weight for the rival), the largest (by its absolute value) first. Scores of pairs of
        arcs (order 2) come on top of them and can turn the balance.
    """
    model = parser._fitted()
    one = read_treebank([list(corpus[sentence])])
    _, tags = parser._tagged(one, None)
    (words,) = arc_names(one, tags)
    given = (one.core, tags, model.lemmas, 0)
    found: list[dict[str, Any]] = model.core.explain(*given)
    number = {label: k for k, label in enumerate(model.labels)}

    def reasons(which: str) -> list[dict[str, float]]:
        """Return the weights of the features of each word's arc, by name with values."""
        heads = [arc.get(f"{which}head", arc["head"]) for arc in found]
        labels = [number[arc.get(f"{which}label", arc["label"])] for arc in found]
        rows = model.core.reasons(*given, heads, labels)
        return [
            {words.named(name, head, m): weight for name, weight in row}
            for m, (head, row) in enumerate(zip(heads, rows, strict=True), 1)
        ]

    for arc, mine, other in zip(found, reasons(""), reasons("rival_"), strict=True):
        if "rival_head" in arc:
            for name, weight in other.items():
                # What the rival alone has is told apart.
                shown = name if name in mine else f"runner-up: {name}"
                mine[shown] = mine.get(shown, 0.0) - weight
        ranked = sorted(mine.items(), key=lambda r: (-abs(r[1]), r[0]))
        arc["reasons"] = [(name, weight) for name, weight in ranked if weight]
    return found


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
        for s, (tree, right) in enumerate(zip(parser.predict(part), gold, strict=True)):
            choices = _choices(parser, part, s, right, labels)
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
    parser: Any, corpus: Corpus, sentence: int, gold: Any, labels: Sequence[str] | None
) -> list[Choice]:
    """Return the arcs of a sentence as decisions."""
    words = ["ROOT", *corpus.cells(sentence, "form")]

    def told(head: int, label: str) -> str:
        return f"{label} ← {head} {words[head]}" if head else f"{label} ← ROOT"

    choices = []
    for m, arc in enumerate(explain_sentence(parser, corpus, sentence), 1):
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
        (
            "probabilities",
            certainty_fact(model.temperature)
            if model.has_temperature
            else "none: they need order 1 or projective trees",
        ),
        ("weights", f"{sum(map(bool, weights)):,} of {len(weights):,} are not 0"),
        ("taggers", ", ".join(t.target_name for t in model.taggers) or "none (gold tags)"),
        (f"{len(model.labels)} relations", " ".join(model.labels)),
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            run = f"run {record['run']}, " if training.get("n_models", 1) > 1 else ""
            facts.append((f"{run}pass {record['pass']}", f"dev LAS {100 * record['dev_las']:.2f}"))
    return facts
