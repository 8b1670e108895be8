"""What a tagger of tokens or segments has learned, and why it labels a token as it does."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

from ...drawing.page import bars, facts_list, heat_table, html_page
from ...estimators.calibration import certainty_fact
from ...estimators.named import learner_facts
from ...text.corpus import find_column

__all__ = ["Decision", "Summary", "explain", "inspect_html", "inspect_text", "summarise"]

#: Of the page, besides what all pages have.
_STYLE = """
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .6rem .8rem; overflow-wrap: anywhere; }
.card h3 { margin: 0 0 .4rem; font-size: 1rem; }
.sentence { display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0 1.2rem; }
.sentence details { margin: 0; } details[open] { flex-basis: 100%; }
summary b { margin-right: .4rem; }
"""


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
    position : int
        Of the token in the sentence.
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

    position: int
    token: tuple[str, ...]
    label: str
    runner_up: str
    probability: float
    margin: float
    contributions: list[tuple[str, float]]


def summarise(tagger: Any, top: int = 10, labels: Sequence[str] | None = None) -> Summary:
    """Return the largest weights of a tagger."""
    model = tagger._fitted()
    missing = [k for k in labels or () if k not in model.labels]
    if missing:
        known = ", ".join(model.labels)
        raise ValueError(f"the model has no label {missing[0]!r}; it has {known}")
    names = (model.pair_table, "start", "end")
    table, start, end = (array("d", bytes(model.arrays[name])) for name in names)
    n = len(model.labels)
    rows = [list(table[a * n : (a + 1) * n]) for a in range(n)]
    ranked = _strongest(model, top, labels or model.labels)
    return Summary(model.labels, ranked, rows, list(start), list(end), _facts(model))


def _strongest(model: Any, top: int, labels: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
    """Return by label the features with the largest weights; none of a model of segments.

    It keeps no names of features: there would be those of all segments. A hidden Markov model has
    words and log P(word | label) instead.
    """
    if getattr(model, "emissions", None) is not None:
        return _likeliest_words(model, top, labels)
    if not hasattr(model, "feature_names"):
        return {}
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
        if label in labels:
            best = [(name(f), w) for w, f in sorted(for_label[k], reverse=True)]
            worst = [(name(f), -w) for w, f in sorted(against[k], reverse=True)[: max(1, top // 3)]]
            ranked[label] = best + worst[::-1]
    return ranked


def _likeliest_words(
    model: Any, top: int, labels: Sequence[str]
) -> dict[str, list[tuple[str, float]]]:
    """Return by label the most probable words of a hidden Markov model with log P(word | label)."""
    scores, _ = model.templates.emission
    words = bytes(model.emissions[1]["emission.words"].data).decode().split("\n")
    rows = [(word, scores(word)) for word in words]
    ranked = {}
    for k, label in enumerate(model.labels):
        if label in labels:
            best = heapq.nlargest(top, ((float(row[k]), word) for word, row in rows))
            ranked[label] = [(f"word={word}", score) for score, word in best]
    return ranked


def _facts(model: Any) -> list[tuple[str, str]]:
    """Return what a model is and how it was trained."""
    training = model.training
    described = [
        ("features", f"{training.get('features', 0):,}; {model.n_weights:,} weights are not 0"),
        ("templates", str(len(model.templates))),
    ]
    passes = training.get("passes")
    how = f", {passes} {'pass' if passes == 1 else 'passes'}"
    if getattr(model, "emissions", None) is not None:  # counts of words, not weights of features
        n_words = bytes(model.emissions[1]["emission.words"].data).count(b"\n") + 1
        described = [("words", f"{n_words:,}; numbers are log P(word | label)")]
        how = ""
    facts = [
        ("learner", f"{training.get('learner')}, {model.kind}"),
        *learner_facts(training),
        ("labels", f"{len(model.labels)}, in column {model.target + 1} ({model.target_name})"),
        *described,
        (
            "trained on",
            f"{training.get('sentences', 0):,} sentences, {training.get('tokens', 0):,} tokens"
            f"{how}",
        ),
    ]
    if training.get("n_models", 1) > 1:
        facts.append(("models", f"the mean of {training['n_models']}, with different seeds"))
    if training.get("scheme"):
        facts.append(("scheme", str(training["scheme"])))
    facts.append(("probabilities", certainty_fact(model.temperature)))
    if "cut" in training:
        facts.append(("chunks cut", str(training["cut"])))
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
                t,
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
    if model.emissions is not None:  # the j-th number of the one feature is label j's
        features = [
            [(f"word given {k}", row[1]) for k, row in zip(named, rows, strict=True)]
            for rows in features
        ]
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


# -- as text and as a page ------------------------------------------------------------------------


def _transitions(
    summary: Summary, labels: Sequence[str] | None = None
) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """Return the names of the columns, and the rows, of the table of these labels."""
    chosen = [k for k, label in enumerate(summary.labels) if not labels or label in labels]
    rows = [(summary.labels[a], summary.transitions[a]) for a in chosen]
    rows = [("(start)", summary.start), *rows, ("(end)", summary.end)]
    columns = [summary.labels[k] for k in chosen]
    return columns, [(name, [row[b] for b in chosen]) for name, row in rows if row]


def inspect_text(
    tagger: Any, top: int = 10, labels: Sequence[str] | None = None, sentences: Any = None
) -> str:
    """Return the summary of a tagger as text; with sentences, their explanation instead."""
    if sentences is not None:
        note = "" if tagger.calibrated else ", not calibrated"
        return "\n\n".join(_explanation(found, top, note) for found in explain(tagger, sentences))
    summary = summarise(tagger, top, labels)
    lines = [f"{name:<12} {value}" for name, value in summary.facts]
    for label, features in summary.top.items():
        lines += ["", label]
        lines += [f"  {weight:>10.3f}  {name}" for name, weight in features]
    columns, rows = _transitions(summary, labels)
    width = max(8, *(len(name) + 1 for name in columns))
    lines += ["", "transitions: from the row's label to the column's"]
    lines.append(" " * width + "".join(f"{name:>{width}}" for name in columns))
    for name, row in rows:
        lines.append(f"{name:<{width}}" + "".join(f"{w:>{width}.2f}" for w in row))
    return "\n".join(lines)


def _explanation(decisions: list[Decision], top: int, note: str) -> str:
    lines = []
    for d in decisions:
        lines.append(
            f"{' '.join(d.token):<24} {d.label} (p = {d.probability:.3f}{note}), "
            f"not {d.runner_up}: ahead by {d.margin:.3f}"
        )
        lines += [f"  {value:>+10.3f}  {name}" for name, value in d.contributions[:top]]
    return "\n".join(lines)


def inspect_html(
    tagger: Any, top: int = 10, labels: Sequence[str] | None = None, sentences: Any = None
) -> str:
    """Return a self-contained page: summary, transitions, explained sentences."""
    summary = summarise(tagger, top, labels)
    body = ["<h1>What the tagger has learned</h1>", facts_list(summary.facts)]
    if sentences is not None:
        body.append("<h2>Why these labels</h2>")
        body.append(
            '<p class="note">Open a token to see what put its label before the runner-up: each '
            "feature's weight for the one minus its weight for the other. Probabilities: "
            f"{escape(certainty_fact(tagger._fitted().temperature))}.</p>"
        )
        for decisions in explain(tagger, sentences):
            body.append('<div class="sentence">')
            body += [
                f"<details><summary><b>{escape(d.token[0] if d.token else '')}</b>"
                f'{escape(d.label)} <span class="note">{d.probability:.2f}</span></summary>'
                f'<p class="note">not {escape(d.runner_up)}: ahead by {d.margin:.3f}</p>'
                f"{bars(d.contributions[:top])}</details>"
                for d in decisions
            ]
            body.append("</div>")
    if summary.top:
        body += ["<h2>Strongest features, label by label</h2>", '<div class="cards">']
        for label, features in summary.top.items():
            shown = bars(features) or '<p class="note">no features</p>'
            body.append(f'<section class="card"><h3>{escape(label)}</h3>{shown}</section>')
        body.append("</div>")
    body.append("<h2>Transitions</h2>")
    body.append("<p class=\"note\">From the row's label to the column's; ✕ is forbidden.</p>")
    body.append(heat_table(*_transitions(summary)))
    return html_page("Tagger", body, _STYLE)
