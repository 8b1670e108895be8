"""Relations on names of words, features and columns, for models that use only whole names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.metamorphic.answers import ask, demand_same
from fuzz.metamorphic.names import odd_names
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, TASKS, Drawn, Subject
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates

__all__: list[str] = []

Rng = np.random.Generator
_WHOLE = FeatureTemplates.parse("word[-1..1]\nword[0] word[1]\nbias")
_TAGGED = FeatureTemplates.parse("word\npos[-1..1]\nbias")
ASKED = ("predict", "kbest", "marginals", "entropy", "sample")


def _tagger(learners: tuple[str, ...], **choices: Any) -> Subject:
    words = TASKS["tagger, online"]

    def draw(rng: Rng) -> Drawn:
        options = {name: values[int(rng.integers(len(values)))] for name, values in choices.items()}
        if options.get("order") == 0:
            options["candidates"] = None  # they need a chain
        estimator = Tagger(_WHOLE, str(rng.choice(learners)), random_state=1, **options)
        return Drawn(estimator, words.draw(rng).X)

    return Subject("tagger", draw, words.inputs, ASKED)


_ONLINE = ("perceptron", "passive-aggressive", "arow", "adagrad")
RENAMED = {
    "online": _tagger(_ONLINE, order=(0, 1, 2), max_iter=(2, 4), n_models=(1, 2),
                      candidates=(None, 3), min_count=(0, 2)),
    "crf": _tagger(("crf",), max_iter=(5, 20)),
    "svm": _tagger(("svm",), max_iter=(3,)),
}  # fmt: skip


def _renaming(rng: Rng, words: set[str]) -> dict[str, str]:
    """Return other names for words."""
    return dict(zip(sorted(words), odd_names(rng, len(words), ("\x00", "_"), ""), strict=True))


@relation("words renamed", RENAMED, cost="fit", not_claimed={
    "suffixes, shapes, lower case": "they look into words",
    "hashed features": "other names share other weights",
})  # fmt: skip
def words_renamed(subject: Subject, rng: Rng) -> None:
    """Renamed words give a model with the same bits, for features of whole words."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    new = _renaming(rng, {w for s in drawn.X for w, _ in s} | {w for s in X for w in s})
    model = drawn.fit()
    other = clone(drawn.estimator).fit([[(new[w], k) for w, k in s] for s in drawn.X])
    renamed = [[new[w] for w in s] for s in X]
    for query in ASKED:
        pairs = ((model, X), (other, renamed))
        first, second = (ask(lambda m=m, x=x, q=query: QUERIES[q](m, x)) for m, x in pairs)
        demand_same(query, first, second)


STRINGS = {
    f"estimator, {case}": ESTIMATORS[f"estimator, {case}"]
    for case in ("strings", "few names", "single strings", "hmm symbols", "multiclass names")
}


def _features(x: Any, new: Mapping[str, str] | None, found: set[str]) -> Any:
    """Return an input with features of other names; add the old ones to ``found``."""
    if isinstance(x, str):
        found.add(x)
        return new[x] if new else x
    return [_features(item, new, found) for item in x]


@relation("features renamed", STRINGS, cost="fit")
def features_renamed(subject: Subject, rng: Rng) -> None:
    """Renamed string features give a model with the same bits."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    names: set[str] = set()
    _features(drawn.X, None, names)
    new = _renaming(rng, names)
    model = drawn.fit()
    other = clone(drawn.estimator).fit(_features(drawn.X, new, set()), drawn.y)
    renamed = _features(X, new, set())
    for query in subject.queries:
        pairs = ((model, X), (other, renamed))
        first, second = (ask(lambda m=m, x=x, q=query: QUERIES[q](m, x)) for m, x in pairs)
        demand_same(query, first, second)
