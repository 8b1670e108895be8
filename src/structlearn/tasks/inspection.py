"""What a model has learned, and what decided its predictions: as text, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..drawing.report import Choice, Report, Shown, check_labels
from ..exceptions import CapabilityError
from ..fitting.learner_registry import learner_facts
from .base import FileTask

#: What records of trainings count, in this order.
_COUNTED = ("sentences", "images", "tokens", "pixels")


def inspect_task(
    task: FileTask,
    top: int = 10,
    X: Any = None,
    labels: Sequence[str] | None = None,
    most: int = 20,
    page: bool = False,
) -> str:
    """Return what a task has learned, or, with X, what it predicts and why; a page shows both.

    Parameters
    ----------
    top : int
        Features of each label, reasons for each decision.
    X : as ``predict`` takes it, optional
        Gold outputs that it comes with are shown beside the predicted ones.
    labels : list of str, optional
        Only these.
    most : int
        The most sentences, or images, that are shown.
    page : bool
        As HTML instead of text.
    """
    check_labels("label", labels, task._names_of_features())
    report: Report = task._report()
    report.in_words = task._phrases()
    report.note = "" if task.calibrated_ else ", not calibrated"
    if page or X is None:
        report.facts = task_facts(task)
        try:
            found = task._heaviest(top)
            report.features = {k: found[k] for k in labels or found if k in found}
        except CapabilityError as error:
            report.facts.append(("features", str(error)))
        report.weights = task._table(labels, page)
    if X is not None:
        inputs, gold, names, report.n_sentences = task._to_show(X, most)
        report.has_gold = any(one is not None for one in gold)
        outputs = inputs.solve(task.n_threads).outputs
        predicted = task._all_named(inputs, outputs)
        for i, decisions in enumerate(task._decisions(inputs)):
            choices = []
            for d in decisions:
                if page or not labels or _is_of(d["label"], labels):
                    text, label, right, rival = task._said(inputs, i, d, gold[i])
                    rest = (d.get("probability"), rival, d["margin"], d["contributions"])
                    choices.append(Choice(text, label, right, *rest))
            drawn = task._drawn(inputs, i, predicted[i], gold[i], page)
            report.sentences.append(Shown(choices, name=names[i], **drawn))
    return report.html(top) if page else report.text(top)


def _is_of(label: Any, labels: Sequence[str]) -> bool:
    """Tell whether a part has one of these labels; its place may come first."""
    return (label[-1] if isinstance(label, tuple) else label) in labels


def task_facts(task: FileTask) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = task._fitted().training
    passes, n_models = training.get("passes"), training.get("n_models", 1)
    counts = [f"{training[unit]:,} {unit}" for unit in _COUNTED if unit in training]
    if passes is not None:
        counts.append(f"{passes} {'pass' if passes == 1 else 'passes'}")
    facts = [
        ("learner", str(training.get("learner"))),
        *learner_facts(training),
        ("trained by", training["source"])  # another tool, whose files do not say on what
        if "source" in training
        else ("trained on", ", ".join(counts)),
    ]
    if n_models > 1:
        facts.append(("models", f"the mean of {n_models}, with different seeds"))
    return [*facts, ("probabilities", task._certainty), *task._own_facts()]
