"""Relations on names: labels, words, features and columns are identified by them, no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.metamorphic.answers import ask, demand_same, plain
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, TASKS, Subject, odd_string

Rng = np.random.Generator


def odd_names(rng: Rng, n: int, unsafe: tuple[str, ...] = (), without: str = "_") -> list[str]:
    """Return n different names without some characters."""
    names: set[str] = set()
    while len(names) < n:
        name = odd_string(rng, unsafe)
        if not set(name) & set(without):
            names.add(name)
    listed = sorted(names)
    return [listed[int(i)] for i in rng.permutation(n)]


def _renaming(rng: Rng, known: Iterable[str], ordered: bool, **options: Any) -> dict[str, str]:
    """Return new names of labels, in the order of the old ones or in random order."""
    old = sorted(known)
    new = odd_names(rng, len(old), **options)
    return dict(zip(old, sorted(new) if ordered else new, strict=True))


# -- labels of tasks ------------------------------------------------------------------------------


def _chunk(new: Mapping[str, str], label: str) -> str:
    return label if label == "O" else label[:2] + new[label[2:]]


def _renamed(name: str, X: list[Any], new: Mapping[str, str]) -> list[Any]:
    """Return examples of a task with their target labels renamed."""
    if name.startswith("parser"):
        return [[(*row[:3], new[row[3]]) for row in s] for s in X]
    if name in ("tagger, chunks", "segments"):
        return [[(*row[:-1], _chunk(new, row[-1])) for row in s] for s in X]
    return [[(*row[:-1], new[row[-1]]) for row in s] for s in X]


def _labels(name: str, X: list[Any]) -> set[str]:
    labels = {row[-1] for s in X for row in s}
    if name in ("tagger, chunks", "segments"):
        return {label[2:] for label in labels if label != "O"}
    return labels


def _mapped(value: Any, said: Callable[[str], str]) -> Any:
    """Return an answer with its strings renamed at any depth."""
    if isinstance(value, str):
        return said(value)
    if isinstance(value, tuple):
        return tuple(_mapped(item, said) for item in value)
    if isinstance(value, dict):
        return {_mapped(key, said): _mapped(item, said) for key, item in value.items()}
    if type(value).__name__ == "DependencyTree":
        return [(head, said(relation)) for head, relation in value]
    return [_mapped(item, said) for item in value] if isinstance(value, list) else value


def _said(name: str, new: Mapping[str, str]) -> Callable[[str], str]:
    if name == "tagger, chunks":
        return lambda label: _chunk(new, label)
    if name == "segments":  # labels of tokens, and types of segments
        return lambda label: (
            _chunk(new, label) if label[:2] in ("B-", "I-") else new.get(label, label)
        )
    return lambda label: new[label]


ASKED = ("predict", "kbest", "marginals", "entropy", "sample")
LABELLED = {
    name: s
    for name, s in TASKS.items()
    if name.startswith(("tagger", "segments", "parser, order 1")) and name != "tagger, hashed"
}


@relation("labels renamed in order", LABELLED, cost="fit", not_claimed={
    "tagger, hashed": "features that name labels, seen(word), share other weights by other names",
    "constituency": "the names of categories have parts with a meaning: -, =, +",
    "pipeline": "tags are cells of CoNLL-U that other stages read",
})  # fmt: skip
def labels_in_order(subject: Subject, rng: Rng) -> None:
    """Labels with other names, in the same order, are predicted with the same bits."""
    drawn, X, name = subject.draw(rng), subject.inputs(rng, 2), subject.name
    new = _renaming(rng, _labels(name, drawn.X), ordered=True, unsafe=(" ", "|"))
    translate = _said(name, new)
    model = drawn.fit()
    other = clone(drawn.estimator).fit(_renamed(name, drawn.X, new))
    for query in ASKED:
        renamed = ask(lambda query=query: _mapped(QUERIES[query](model, X), translate))
        two = ask(lambda query=query: _mapped(QUERIES[query](other, X), str))
        demand_same(query, renamed, two)


# -- labels of estimators -------------------------------------------------------------------------

#: Cases whose outputs have labels as strings, and whose parameters name none.
_CASES = (
    "crf", "svm", "perceptron", "passive-aggressive", "adagrad", "arow", "beam", "sparse",
    "strings", "single strings", "dictionaries", "order 2", "order 0", "multiclass",
    "multiclass names", "semimarkov", "semimarkov given", "tree", "hmm", "hmm order 2",
    "hmm gaussian", "cutting planes", "balanced",
)  # fmt: skip
NAMED = {f"estimator, {case}": ESTIMATORS[f"estimator, {case}"] for case in _CASES}


def renamed_outputs(y: Any, new: Mapping[str, Any]) -> Any:
    """Return outputs with renamed labels."""
    if isinstance(y, str):
        return new[y]
    if isinstance(y, np.ndarray):
        return (
            np.array([renamed_outputs(item, new) for item in y.tolist()])
            if y.dtype.kind in "UO"
            else y
        )
    if isinstance(y, (list, tuple)):
        return type(y)(renamed_outputs(item, new) for item in y)
    return y


def strings_of(y: Any) -> set[str]:
    if isinstance(y, str):
        return {y}
    values = y.tolist() if isinstance(y, np.ndarray) else y
    return set().union(*map(strings_of, values)) if isinstance(values, (list, tuple)) else set()


def _values(rng: Rng, n: int, points: bool) -> list[Any]:
    """Return n labels in ascending order: strings, whole numbers or others.

    ``points``: one label for each example; scikit-learn's rules then exclude fractions.
    """
    kind = int(rng.integers(2 if points else 3))
    if kind == 0:
        return sorted(odd_names(rng, n, (" ", "|", "\t"), ""))
    numbers = sorted({int(k) for k in rng.integers(-1000, 1000, size=20)})[:n]
    return numbers if kind == 1 else [k / 7 for k in numbers]


@relation("classes renamed in order", NAMED, cost="fit")
def classes_in_order(subject: Subject, rng: Rng) -> None:
    """Classes that are other strings, or numbers, in the same order, have the same bits."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    old = sorted(strings_of(drawn.y))
    values = _values(rng, len(old), "multiclass" in subject.name)
    new = dict(zip(old, values, strict=True))
    model = drawn.fit()
    other = clone(drawn.estimator).fit(drawn.X, renamed_outputs(drawn.y, new))
    demand_same("classes", [new[k] for k in plain(model.classes_)], plain(other.classes_))
    for query in subject.queries:
        first, second = (ask(lambda m=m, q=query: QUERIES[q](m, X)) for m in (model, other))
        demand_same(query, plain(renamed_outputs(first, new)), second)
