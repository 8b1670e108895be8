"""What a tagger of tokens or segments has learned: the heaviest features, and facts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from ...drawing.report import Weights
from ...estimators.stored.word_emissions import stored_words
from ...models.ranking import heaviest, heaviest_by_label

#: With more labels than this, their transitions are shown only of labels that are named.
_MOST_IN_TABLE = 64


def heaviest_features(model: Any, top: int) -> dict[str, list[tuple[str, float]]]:
    """Return the heaviest features of each label as it is written.

    Where a written label stands for several of the model's (of IOBES), names begin with the one:
    "as S-NP: ...".
    """
    ranked = _ranked(model, top)
    groups: dict[str, list[str]] = {}
    for label, name in zip(model.labels, getattr(model, "shown", model.labels), strict=True):
        if label in ranked:
            groups.setdefault(name, []).append(label)
    found = {}
    for name, members in groups.items():
        found[name] = ranked[members[0]]
        if len(members) > 1:
            rows = ((f"as {k}: {feature}", w) for k in members for feature, w in ranked[k])
            found[name] = heaviest(rows, top)
    return found


def _ranked(model: Any, top: int) -> dict[str, list[tuple[str, float]]]:
    """Return the heaviest features of each of the model's own labels.

    A hidden Markov model has words and log P(word | label) instead. A model of segments knows the
    names of its heaviest features only: there would be those of all segments.
    """
    if getattr(model, "emissions", None) is not None:
        return _likeliest_words(model, top)
    if not hasattr(model, "feature_names"):
        known = model.training.get("strongest", {})
        return {k: heaviest(map(tuple, known[k]), top) for k in model.labels if k in known}
    names = model.feature_names()
    _, row_ptr, column, weights = model.unpacked()
    ranked = heaviest_by_label(row_ptr, column, weights, len(model.labels), top)

    def name(f: int) -> str:
        return names[f] if f < len(names) and names[f] else f"feature {f}"

    return {
        label: [(name(f), w) for f, w in rows]
        for label, rows in zip(model.labels, ranked, strict=True)
    }


def _likeliest_words(model: Any, top: int) -> dict[str, list[tuple[str, float]]]:
    """Return by label the most probable words of a hidden Markov model with log P(word | label)."""
    scores, _ = model.templates.emission
    rows = [(word, scores(word)) for word in stored_words(model.emissions[1])]
    ranked = {}
    for k, label in enumerate(model.labels):
        best = heapq.nlargest(top, ((float(row[k]), word) for word, row in rows))
        ranked[label] = [(f"word={word}", score) for score, word in best]
    return ranked


def _n_labels(model: Any) -> str:
    """Return how many labels a model writes, and how many it has within if those are more."""
    n, written = len(model.labels), len(set(getattr(model, "shown", model.labels)))
    if n == written:
        return str(n)
    return f"{written}, learned as {n} of IOBES (S-: the only token of a chunk, E-: its last)"


def label_facts(model: Any) -> list[tuple[str, str]]:
    """Return what a model scores, and what it looks at."""
    training = model.training
    described = [
        ("features", f"{training.get('features', 0):,}; {model.n_weights:,} weights other than 0"),
        ("templates", str(len(model.templates))),
    ]
    if getattr(model, "emissions", None) is not None:  # counts of words, not weights of features
        n_words = len(stored_words(model.emissions[1]))
        described = [("words", f"{n_words:,}; numbers are log P(word | label)")]
    facts = [
        ("scores", model.kind),
        ("labels", f"{_n_labels(model)}, in column {model.target_numbers} ({model.target_name})"),
        *described,
    ]
    if getattr(model, "candidates", 0):
        facts.append(("candidates", f"{model.candidates} labels are considered at each token"))
    if training.get("scheme"):
        facts.append(("scheme", str(training["scheme"])))
    if model.constraints:
        facts.append(("constraints", "; ".join(_constraints_in_words(model))))
    if "illegal" in training:
        facts.append(("left out", f"{training['illegal']} sentences that break a constraint"))
    if "cut" in training:
        facts.append(("chunks cut", str(training["cut"])))
    return facts


def _constraints_in_words(model: Any) -> list[str]:
    """Return each constraint as text, with the states of its automata."""
    from ...constraints.automata import automata_of
    from ...constraints.report import automata_in_words
    from ...constraints.text import read_constraints

    found = []
    for one in read_constraints(model.constraints):
        sizes = [a.automaton.n_states for a in automata_of([one], model.sequences)]
        found.append(f"{one!r} ({automata_in_words(sizes)})")
    return found


def transition_table(
    model: Any, pairs: list[tuple[str, str, float]], labels: Sequence[str] | None, page: bool
) -> Weights | None:
    """Return the weights of label pairs as a table, of these labels as they are written.

    None: there are too many labels, and none were named. A page has room for all of those that it
    can show.
    """
    many = len(model.labels) > _MOST_IN_TABLE
    if many and not labels:
        return None
    written = getattr(model, "shown", model.labels)
    named = zip(model.labels, written, strict=True)
    columns = [k for k, w in named if not labels or w in labels or (page and not many)]
    rows: dict[str, dict[str, float]] = {}
    for before, after, weight in pairs:
        # The ends of sentences have a row each.
        row, column = ("(end)", before) if after == "(end)" else (before, after)
        rows.setdefault(row, {})[column] = weight
    shown = [k for k in ("(start)", *columns, "(end)") if k in rows]
    return Weights(
        "Transitions",
        "from the row's label to the column's"
        + ("" if model.labels == written else ", as learned: IOBES"),
        columns,
        [(k, [rows[k][column] for column in columns]) for k in shown],
    )
