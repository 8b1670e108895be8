"""What a tagger of tokens or segments has learned, and why it labels sentences as it does."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...drawing.report import Report, Shown, Weights, check_labels
from ...estimators.stored.word_emissions import stored_words
from ...fitting.learner_registry import learner_facts
from ...models.temperature import certainty_fact
from ...text.phrases import Phrases

__all__ = ["Summary", "inspect_tagger", "model_facts", "strongest", "summarise"]


#: With more labels than this, their transitions are shown only of labels that are named.
_MOST_IN_TABLE = 64


class Summary(NamedTuple):
    """The weights of a model in a form to look at.

    Attributes
    ----------
    labels, written : list of str
        The model's labels, and how each is written: those of IOBES in the scheme of the file.
    top : dict of str to list of (name, weight)
        By label as it is written, the features that speak most for it, and those that speak most
        against it. Where a written label stands for several of the model's, names begin with the
        one: "as S-NP: ...".
    transitions : list of lists of float
        Weight of each label (column) after each other (row); −∞ is forbidden. Empty at order 0.
    start, end : lists of float
    facts : list of (name, value)
        What the model is and how it was trained.
    """

    labels: list[str]
    written: list[str]
    top: dict[str, list[tuple[str, float]]]
    transitions: list[list[float]]
    start: list[float]
    end: list[float]
    facts: list[tuple[str, str]]


def summarise(tagger: Any, top: int = 10, labels: Sequence[str] | None = None) -> Summary:
    """Return the largest weights of a tagger."""
    model = tagger._fitted()
    check_labels("label", labels, tagger.classes_)
    start, end = (array("d", bytes(model.arrays[name])) for name in ("start", "end"))
    rows = model.pair_scores()
    written = getattr(model, "shown", model.labels)
    within = [k for k, w in zip(model.labels, written, strict=True) if not labels or w in labels]
    ranked = _joined(
        _strongest(model, top, within), dict(zip(model.labels, written, strict=True)), top
    )
    return Summary(model.labels, written, ranked, rows, list(start), list(end), model_facts(model))


def _joined(
    ranked: dict[str, list[tuple[str, float]]], written: dict[str, str], top: int
) -> dict[str, list[tuple[str, float]]]:
    """Return the features by written label; names say which of the model's labels is meant."""
    groups: dict[str, list[str]] = {}
    for label, name in written.items():
        if label in ranked:
            groups.setdefault(name, []).append(label)
    found = {}
    for name, members in groups.items():
        found[name] = ranked[members[0]]
        if len(members) > 1:
            rows = [(f"as {k}: {feature}", w) for k in members for feature, w in ranked[k]]
            found[name] = _both_ends(sorted(rows, key=lambda row: -row[1]), top)
    return found


def _strongest(model: Any, top: int, labels: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """Return by label the features with the largest weights.

    A hidden Markov model has words and log P(word | label) instead. A model of segments knows the
    names of its strongest features only: there would be those of all segments.
    """
    if getattr(model, "emissions", None) is not None:
        return _likeliest_words(model, top, labels)
    if not hasattr(model, "feature_names"):
        known = model.training.get("strongest", {})
        return {k: _both_ends(known[k], top) for k in model.labels if k in labels and k in known}
    names = model.feature_names()
    _, row_ptr, column, weights = model.unpacked()

    def name(f: int) -> str:
        return names[f] if f < len(names) and names[f] else f"feature {f}"

    ranked = strongest(row_ptr, column, weights, len(model.labels), top)
    return {
        label: [(name(f), w) for f, w in rows]
        for label, rows in zip(model.labels, ranked, strict=True)
        if label in labels
    }


def strongest(
    row_ptr: Any, column: Any, weights: Any, n_labels: int, top: int
) -> list[list[tuple[int, float]]]:
    """Return by label the numbers of the features that speak most for it, and most against it.

    Parameters
    ----------
    row_ptr, column, weights : sequences
        The labels of feature f are ``column[row_ptr[f] : row_ptr[f + 1]]``.
    top : int
        Features for each label; a third as many against it, at least one.

    Returns
    -------
    list of list of (feature, weight)
        From the largest weight to the smallest.
    """
    pairs: list[list[tuple[float, int]]] = [[] for _ in range(n_labels)]
    for feature, (begin, end) in enumerate(pairwise(row_ptr)):
        for k, weight in zip(column[begin:end], weights[begin:end], strict=True):
            if weight:
                pairs[k].append((float(weight), feature))
    return [_both_ends([(f, w) for w, f in sorted(rows, reverse=True)], top) for rows in pairs]


def _both_ends(ranked: Sequence[Any], top: int) -> list[tuple[Any, float]]:
    """Return the first of the positive weights, and the last of the negative ones."""
    best = [(name, w) for name, w in ranked if w > 0][:top]
    return best + [(name, w) for name, w in ranked if w < 0][-max(1, top // 3) :]


def _likeliest_words(
    model: Any, top: int, labels: Sequence[str]
) -> dict[str, list[tuple[str, float]]]:
    """Return by label the most probable words of a hidden Markov model with log P(word | label)."""
    scores, _ = model.templates.emission
    rows = [(word, scores(word)) for word in stored_words(model.emissions[1])]
    ranked = {}
    for k, label in enumerate(model.labels):
        if label in labels:
            best = heapq.nlargest(top, ((float(row[k]), word) for word, row in rows))
            ranked[label] = [(f"word={word}", score) for score, word in best]
    return ranked


def _n_labels(model: Any) -> str:
    """Return how many labels a model writes, and how many it has within if those are more."""
    n, written = len(model.labels), len(set(getattr(model, "shown", model.labels)))
    if n == written:
        return str(n)
    return f"{written}, learned as {n} of IOBES (S-: the only token of a chunk, E-: its last)"


def model_facts(model: Any) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = model.training
    described = [
        ("features", f"{training.get('features', 0):,}; {model.n_weights:,} weights are not 0"),
        ("templates", str(len(model.templates))),
    ]
    passes = training.get("passes")
    how = f", {passes} {'pass' if passes == 1 else 'passes'}"
    if getattr(model, "emissions", None) is not None:  # counts of words, not weights of features
        n_words = len(stored_words(model.emissions[1]))
        described = [("words", f"{n_words:,}; numbers are log P(word | label)")]
        how = ""
    facts = [
        ("learner", f"{training.get('learner')}, {model.kind}"),
        *learner_facts(training),
        ("labels", f"{_n_labels(model)}, in column {model.target_numbers} ({model.target_name})"),
        *described,
        (
            "trained on",
            f"{training.get('sentences', 0):,} sentences, {training.get('tokens', 0):,} tokens"
            f"{how}",
        ),
    ]
    if getattr(model, "candidates", 0):
        facts.append(("candidates", f"{model.candidates} labels are considered at each token"))
    if training.get("n_models", 1) > 1:
        facts.append(("models", f"the mean of {training['n_models']}, with different seeds"))
    if training.get("scheme"):
        facts.append(("scheme", str(training["scheme"])))
    facts.append(("probabilities", certainty_fact(model.loss_temperature, model.calibration)))
    if "cut" in training:
        facts.append(("chunks cut", str(training["cut"])))
    return facts


# -- as text and as a page ------------------------------------------------------------------------


def _transitions(summary: Summary, labels: Sequence[str] | None = None) -> Weights:
    """Return the table of these labels."""
    chosen = [k for k, label in enumerate(summary.written) if not labels or label in labels]
    rows = [(summary.labels[a], summary.transitions[a]) for a in chosen if summary.transitions]
    rows = [("(start)", summary.start), *rows, ("(end)", summary.end)]
    return Weights(
        "Transitions",
        "from the row's label to the column's"
        + ("" if summary.labels == summary.written else ", as learned: IOBES"),
        [summary.labels[k] for k in chosen],
        [(name, [row[b] for b in chosen]) for name, row in rows if row],
    )


def inspect_tagger(
    tagger: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return what a tagger has learned, or, with sentences, what decided; a page shows both.

    Parameters
    ----------
    top : int
        Features of each label, reasons for each token.
    sentences : as ``predict`` takes them, optional
        Where they have gold labels, errors are marked.
    labels : list of str, optional
        Only these labels.
    most : int
        The most sentences that are shown.
    page : bool
        As HTML instead of text.
    """
    model = tagger._fitted()
    report = Report(tagger._title, in_words=Phrases(model.templates))
    report.parts = tagger._parts
    report.note = "" if tagger.calibrated_ else ", not calibrated"
    if page or sentences is None:
        summary = summarise(tagger, top, labels)
        report.facts, report.features = summary.facts, dict(summary.top)
        many = len(summary.labels) > _MOST_IN_TABLE
        if labels or not many:
            report.weights = _transitions(summary, labels if many or not page else None)
    if sentences is not None:
        check_labels("label", labels, tagger.classes_)
        corpus = tagger._read_input(sentences)
        report.n_sentences = len(corpus)
        part = corpus.subset(range(min(len(corpus), most)))
        gold = list(_gold(model, part))
        report.has_gold = any(label is not None for row in gold for label in row)
        found = tagger._choices(part, gold)
        report.sentences = [
            Shown([c for c in row if page or not labels or c.label in labels]) for row in found
        ]
    return report.html(top) if page else report.text(top)


def _gold(model: Any, corpus: Any) -> Iterator[list[str | None]]:
    """Yield the labels that sentences come with; None where there are none."""
    known = max(model.targets) < corpus.n_columns
    for labels in model.gold(corpus) if known else corpus.column(0):
        yield [k if known and k != "_" else None for k in labels]
