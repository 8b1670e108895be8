"""What a tagger has learned, and why it labels a token as it does: as text, and as a page."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...text.corpus import find_column
from ..learning import learner_facts

__all__ = [
    "Decision",
    "Summary",
    "explain",
    "inspect_html",
    "inspect_text",
    "model_facts",
    "summarise",
    "summary_text",
    "with_tables",
]


class Summary(NamedTuple):
    """The weights of a model in a form to look at.

    Attributes
    ----------
    labels : list of str
        The model's labels.
    top : dict of str to list of (name, weight)
        The features that speak most for each label, and those that speak most against it.
    transitions : list of lists of float
        Weight of each label (column) after each other (row); −∞ is forbidden.
    start, end : lists of float
    facts : list of (name, value)
        What the model is and how it was trained.
    """

    labels: list[str]
    top: dict[str, list[tuple[str, float]]]
    transitions: list[list[float]]
    start: list[float]
    end: list[float]
    facts: list[tuple[str, str]]


class Decision(NamedTuple):
    """Why a token got its label and not the runner-up.

    Attributes
    ----------
    token : tuple of str
        The cells that the model reads.
    label, runner_up : str
        The label given, and that of the best labelling of the sentence with another label here.
    probability : float
        P(label | sentence).
    margin : float
        Score of the sentence minus that with the runner-up.
    contributions : list of (name, difference)
        What each feature and transition adds to the margin, the largest first.
    """

    token: tuple[str, ...]
    label: str
    runner_up: str
    probability: float
    margin: float
    contributions: list[tuple[str, float]]


def summarise(tagger: Any, top: int = 10, labels: Sequence[str] | None = None) -> Summary:
    """Return the largest weights of a tagger."""
    model = tagger._fitted()
    wanted = _wanted(model.labels, labels)
    names = model.feature_names()
    _, row_ptr, column, weights = model.unpacked()
    for_label: list[list[tuple[float, int]]] = [[] for _ in model.labels]
    against: list[list[tuple[float, int]]] = [[] for _ in model.labels]
    for f in range(len(row_ptr) - 1):
        for q in range(row_ptr[f], row_ptr[f + 1]):
            w, k = weights[q], column[q]
            heap, entry = (for_label[k], (w, f)) if w > 0 else (against[k], (-w, f))
            if len(heap) < top:
                heapq.heappush(heap, entry)
            elif entry > heap[0]:
                heapq.heapreplace(heap, entry)

    def name(f: int) -> str:
        return names[f] if f < len(names) and names[f] else f"feature {f}"

    ranked = {}
    for k, label in enumerate(model.labels):
        if label not in wanted:
            continue
        best = [(name(f), w) for w, f in sorted(for_label[k], reverse=True)]
        worst = [(name(f), -w) for w, f in sorted(against[k], reverse=True)[: max(1, top // 3)]]
        ranked[label] = best + worst[::-1]
    facts = model_facts(model, f"chain of order {model.order}", len(weights))
    return with_tables(model, "transition1", ranked, facts)


def with_tables(model: Any, transitions: str, top: Any, facts: list[tuple[str, str]]) -> Summary:
    """Return a summary with the tables of a model."""
    n = len(model.labels)
    names = (transitions, "start", "end")
    table, start, end = (array("d", bytes(model.arrays[name])) for name in names)
    rows = [list(table[a * n : (a + 1) * n]) for a in range(n)]
    return Summary(model.labels, top, rows, list(start), list(end), facts)


def _wanted(known: list[str], labels: Sequence[str] | None) -> set[str]:
    if not labels:
        return set(known)
    missing = [k for k in labels if k not in known]
    if missing:
        raise ValueError(f"the model has no label {missing[0]!r}; it has {', '.join(known)}")
    return set(labels)


def model_facts(model: Any, kind: str, n_weights: int) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained.

    Parameters
    ----------
    kind : str
        What it scores.
    n_weights : int
        How many of its weights are not 0.
    """
    training = model.training
    facts = [
        ("learner", f"{training.get('learner')}, {kind}"),
        *learner_facts(training),
        ("labels", f"{len(model.labels)}, in column {model.target + 1} ({model.target_name})"),
        ("features", f"{training.get('features', 0):,}; {n_weights:,} weights are not 0"),
        ("templates", str(len(model.templates))),
        (
            "trained on",
            f"{training.get('sentences', 0):,} sentences, {training.get('tokens', 0):,} tokens, "
            f"{training.get('passes')} passes",
        ),
    ]
    if training.get("n_models", 1) > 1:
        facts.append(("models", f"the mean of {training['n_models']}, with different seeds"))
    if training.get("scheme"):
        facts.append(("scheme", str(training["scheme"])))
    if model.temperature is not None:
        facts.append(("temperature", f"{model.temperature:.3g}"))
    return facts


def explain(tagger: Any, source: Any) -> list[list[Decision]]:
    """Return for each token of each sentence what decided its label.

    The labelling is compared with the best one that has another label at this token: the margin is
    the difference of their scores, a sum over the features and label windows in which they differ.
    """
    model = tagger._fitted()
    corpus = tagger._read_input(source)
    reader = model.reader(corpus)
    return [
        _explain_sentence(model, reader, corpus, s, labels.tolist())
        for s, labels in enumerate(model.label_numbers(corpus))
    ]


def _explain_sentence(model: Any, reader: Any, corpus: Any, s: int, y: list[int]) -> list[Decision]:
    n = len(model.labels)
    p = array("d", reader.marginals(s, model.temperature or 1.0))
    read = [find_column(c, model.format, model.n_columns) for c in model.templates.columns()]
    word = 1 if model.format == "conllu" else 0
    shown = [corpus.cells(s, c) for c in read[:3] or [word]]
    parts = _parts(model, reader, s)
    mine = parts(y)
    decisions = []
    for t, z in enumerate(reader.rivals(s)):
        if not z:
            continue  # no other label is possible here
        theirs = parts(z)
        found = []
        for place in mine.keys() | theirs.keys():
            difference = mine.get(place, 0.0) - theirs.get(place, 0.0)
            if difference:
                at, name = place
                where = "" if at == t else f"at {shown[0][at]!r}: "
                found.append((where + name, difference))
        found.sort(key=lambda part: (-abs(part[1]), part[0]))
        decisions.append(
            Decision(
                tuple(column[t] for column in shown),
                model.labels[y[t]],
                model.labels[z[t]],
                p[t * n + y[t]],
                sum(d for _, d in found),
                found,
            )
        )
    return decisions


def _parts(model: Any, reader: Any, s: int) -> Callable[[list[int]], dict[tuple[int, str], float]]:
    """Return a function from a labelling to what it is scored by: (position, name) to score."""
    n = len(model.labels)
    named = model.labels
    features = reader.explain(s, False)
    pairs = reader.explain(s, True) if "pair.slots" in model.arrays else []
    tables = [array("d", bytes(model.arrays[f"transition{m}"])) for m in range(1, model.order + 1)]
    start = array("d", bytes(model.arrays["start"])) or array("d", bytes(8 * n))
    end = array("d", bytes(model.arrays["end"])) or array("d", bytes(8 * n))

    def parts(y: list[int]) -> dict[tuple[int, str], float]:
        found: dict[tuple[int, str], float] = {}

        def add(t: int, name: str, score: float) -> None:
            found[t, name] = found.get((t, name), 0.0) + score

        add(0, f"first label {named[y[0]]}", start[y[0]])
        add(len(y) - 1, f"last label {named[y[-1]]}", end[y[-1]])
        for t, k in enumerate(y):
            for name, w in features[t]:
                add(t, name, w[k])
            for m, table in enumerate(tables, 1):
                if t >= m:
                    window = y[t - m : t + 1]
                    index = 0
                    for label in window:
                        index = index * n + label
                    add(t, f"labels {' '.join(named[j] for j in window)}", table[index])
            if pairs and t:
                for name, w in pairs[t - 1]:
                    add(t, name, w[y[t - 1] * n + k])
        return found

    return parts


# -- as text --------------------------------------------------------------------------------------


def inspect_text(
    tagger: Any, top: int = 10, labels: Sequence[str] | None = None, sentences: Any = None
) -> str:
    """Return the summary of a tagger as text; with sentences, their explanation instead."""
    if sentences is not None:
        return "\n".join(_explanation(explain(tagger, sentences), top))
    return summary_text(summarise(tagger, top, labels), labels)


def summary_text(summary: Summary, labels: Sequence[str] | None = None) -> str:
    """Return a summary as text, with the transitions of these labels."""
    lines = [f"{name:<12} {value}" for name, value in summary.facts]
    for label, features in summary.top.items():
        lines += ["", label]
        lines += [f"  {weight:>10.3f}  {name}" for name, weight in features]
    lines += ["", "transitions: from the row's label to the column's", *_table(summary, labels)]
    return "\n".join(lines)


def _table(summary: Summary, labels: Sequence[str] | None) -> list[str]:
    wanted = _wanted(summary.labels, labels)
    chosen = [k for k, label in enumerate(summary.labels) if label in wanted]
    width = max(8, *(len(summary.labels[k]) + 1 for k in chosen))
    lines = [" " * width + "".join(f"{summary.labels[k]:>{width}}" for k in chosen)]
    rows = [("(start)", summary.start)] if summary.start else []
    rows += [(summary.labels[a], summary.transitions[a]) for a in chosen]
    for name, row in rows:
        lines.append(f"{name:<{width}}" + "".join(f"{row[b]:>{width}.2f}" for b in chosen))
    if summary.end:
        ends = "".join(f"{summary.end[b]:>{width}.2f}" for b in chosen)
        lines.append(f"{'(end)':<{width}}{ends}")
    return lines


def _explanation(sentences: list[list[Decision]], top: int) -> list[str]:
    lines = []
    for decisions in sentences:
        for d in decisions:
            lines.append(
                f"{' '.join(d.token):<24} {d.label} (p = {d.probability:.3f}), "
                f"not {d.runner_up}: ahead by {d.margin:.3f}"
            )
            lines += [f"  {value:>+10.3f}  {name}" for name, value in d.contributions[:top]]
        lines.append("")
    return lines[:-1]


def inspect_html(
    tagger: Any, top: int = 10, labels: Sequence[str] | None = None, sentences: Any = None
) -> str:
    """Return a self-contained page: summary, transitions, explained sentences."""
    from .page import inspection_page

    explained = explain(tagger, sentences) if sentences is not None else []
    return inspection_page(summarise(tagger, top, labels), explained, top)
