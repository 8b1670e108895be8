"""What a tagger of tokens or segments has learned: the heaviest features, and facts."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ...drawing.report import Weights
from ...estimators.stored.word_emissions import stored_words

__all__ = ["heaviest_features", "label_facts", "strongest", "transition_table"]


#: With more labels than this, their transitions are shown only of labels that are named.
_MOST_IN_TABLE = 64


def heaviest_features(
    model: Any, top: int, labels: Sequence[str] | None = None
) -> dict[str, list[tuple[str, float]]]:
    """Return by label, as it is written, what speaks most for it, and what most against it.

    Where a written label stands for several of the model's (of IOBES), names begin with the one:
    "as S-NP: ...".
    """
    written = getattr(model, "shown", model.labels)
    within = [k for k, w in zip(model.labels, written, strict=True) if not labels or w in labels]
    ranked = _strongest(model, top, within)
    return _joined(ranked, dict(zip(model.labels, written, strict=True)), top)


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


def label_facts(model: Any) -> list[tuple[str, str]]:
    """Return what a model scores, and what it looks at."""
    training = model.training
    described = [
        ("features", f"{training.get('features', 0):,}; {model.n_weights:,} weights are not 0"),
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
