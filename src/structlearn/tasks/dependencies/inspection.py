"""Looking at a dependency parser: what it is, and what decided the arcs of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...drawing.tree_report import TreeReport, check_labels
from ...estimators.calibration import certainty_fact
from ...estimators.named import learner_facts
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_tree, read_treebank
from ...text.sources import not_empty
from .heaviest import ARCS, heaviest_features
from .model import ParserModel

__all__ = ["explain_sentence", "inspect_parser"]

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
        arc into the word where the pruner left one; reasons: (template, weight for the arc less
        weight for the rival). Scores of pairs of arcs (order 2) come on top of them and can turn
        the balance.
    """
    model = parser._fitted()
    one = read_treebank([list(corpus[sentence])])
    _, tags = parser._tagged(one, None)
    found: list[dict[str, Any]] = model.core.explain(one._core, tags, model.lemmas, 0)
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
    report = TreeReport("Dependency parser", _LEGEND, heading="The heaviest features")
    found: dict[str, Any] = {}
    if page or sentences is None:
        report.facts = _facts(model)
        found = model.training.get("features", {})
    if sentences is not None:
        corpus = not_empty(read_treebank(sentences))
        report.n_sentences = len(corpus)
        part = corpus.subset(range(min(len(corpus), most)))
        gold = [gold_tree(part, i) for i in range(len(part))]
        report.trees = list(zip(parser.predict(part), gold, strict=True))
        report.reasons = [_decisions(parser, part, i, top, labels) for i in range(len(part))]
        if gold[0] is not None and not found:
            report.heading = "The heaviest features of these trees"
            found = heaviest_features(model, corpus, kept=top)
    report.features = {
        "arcs of any relation" if group == ARCS else group: rows[:top]
        for group, rows in found.items()
        if not labels or group in labels
    }
    if report.facts and not report.features:
        report.facts.append(("features", "no names are stored: give --input, sentences with trees"))
    return report.html() if page else report.text()


def _decisions(
    parser: Any, corpus: Corpus, sentence: int, top: int, labels: Sequence[str] | None
) -> list[str]:
    """Return the words of a sentence, and a few lines on each arc."""
    words = ["ROOT", *corpus.cells(sentence, "form")]
    lines = [" ".join(words[1:])]
    for m, word in enumerate(explain_sentence(parser, corpus, sentence), 1):
        if labels and word["label"] not in labels:
            continue
        head = words[word["head"]]
        line = f"{m:>4} {words[m]}  <-{word['label']}-  {word['head']} {head}"
        line += f"  {word['score']:+.3f}"
        if "rival_head" in word:
            rival = words[word["rival_head"]]
            line += f"   rather than <-{word['rival_label']}- {word['rival_head']} {rival}"
            line += f"  {word['rival_score']:+.3f}"
        lines.append(line)
        strongest = sorted(word["reasons"], key=lambda r: (-abs(r[1]), r[0]))[:top]
        lines += [f"       {weight:+.3f}  {name}" for name, weight in strongest if weight]
    return lines


def _facts(model: ParserModel) -> list[tuple[str, str]]:
    training = model.training
    weights = memoryview(model.arrays["weights"]).cast("B").cast("f")
    facts = [
        ("order", f"{model.order}, {'projective' if model.projective else 'any'} trees"),
        ("learner", str(training.get("learner"))),
        (
            "trained on",
            f"{training.get('sentences')} sentences, {training.get('tokens')} words",
        ),
        *learner_facts(training),
        (
            "pruner",
            f"at most {model.most} heads per word, each with at least {model.least:g} times the "
            "probability of the best one",
        ),
        (
            "probabilities",
            certainty_fact(model.temperature) if model.order == 1 else "none: they need order 1",
        ),
        ("weights", f"{sum(map(bool, weights))} of {len(weights)} are not 0"),
        ("taggers", ", ".join(t.target_name for t in model.taggers) or "none (gold tags)"),
        (f"{len(model.labels)} relations", " ".join(model.labels)),
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            run = f"run {record['run']}, " if training.get("n_models", 1) > 1 else ""
            facts.append((f"{run}pass {record['pass']}", f"dev LAS {100 * record['dev_las']:.2f}"))
    return facts
