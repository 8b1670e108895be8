"""Relations on count models (hidden Markov models, grammars): weights are exactly copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.estimators.estimator_data import sentences, sequences

from fuzz.metamorphic.answers import ask, demand_same, plain
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import sentences_of
from structlearn import HMM
from structlearn.tasks import ConstituencyParser, Tagger

__all__: list[str] = []

Rng = np.random.Generator


class Counted:
    """A count model: its constructor, its examples, and inputs for queries."""

    def __init__(self, make: Callable[[Rng], Any], draw: Callable[[Rng, int], Any]) -> None:
        self.make, self.draw = make, draw

    def fit(self, options: Any, X: list[Any], y: list[Any] | None, **weights: Any) -> Any:
        """Return a fitted model."""
        model = options()
        return model.fit(X, **weights) if y is None else model.fit(X, y, **weights)


def _words(rng: Rng, n: int) -> tuple[list[Any], list[Any]]:
    X, y = sentences(n, int(rng.integers(100)))
    return [[token[1] for token in s] for s in X], _unknown(rng, y)


def _vectors(rng: Rng, n: int) -> tuple[list[Any], list[Any]]:
    X, y = sequences(n, int(rng.integers(100)), d=2)
    # Sums of such numbers are exact in any order.
    return [np.round(4 * x) / 4 for x in X], _unknown(rng, y)


def _unknown(rng: Rng, y: list[Any]) -> list[Any]:
    """Return labels some of which are unknown, except in the first row."""
    return [y[0], *([k if rng.random() < 0.9 else None for k in row] for row in y[1:])]


def _hmm(rng: Rng) -> Callable[[], HMM]:
    options = {
        "order": int(rng.integers(1, 3)),
        "alpha": float(rng.choice((0.5, 3.0))),
        "suffix_length": int(rng.choice((0, 3))),
        "rare": int(rng.integers(1, 5)),
    }
    return lambda: HMM(**options)


def _pcfg(rng: Rng) -> Callable[[], ConstituencyParser]:
    options = {"vertical": int(rng.integers(1, 3)), "horizontal": int(rng.integers(3))}
    return lambda: ConstituencyParser("pcfg", gold_tags=True, **options)


COUNTS = {
    "hmm, words": Counted(_hmm, _words),
    "hmm, vectors": Counted(_hmm, _vectors),
    "tagger, hmm": Counted(
        lambda rng: lambda: Tagger(learner="hmm"),
        lambda rng, n: (sentences_of("tagged", rng, n), None),
    ),
    "pcfg": Counted(_pcfg, lambda rng, n: (sentences_of("brackets", rng, n), None)),
}


def _answers(model: Any, X: list[Any], rng: Rng) -> Any:
    query = str(rng.choice(("predict", "kbest", "marginals", "entropy")))
    return ask(lambda: QUERIES[query](model, X))


def _demand_same(rng: Rng, one: Any, other: Any, X: list[Any], tolerance: float) -> None:
    seed = int(rng.integers(1 << 30))
    form = "words" if isinstance(one, Tagger) else "tags"
    probes = X[:3] if isinstance(one, HMM) else sentences_of(form, rng, 3)
    answers = [_answers(model, probes, np.random.default_rng(seed)) for model in (one, other)]
    demand_same("answers", *answers, tolerance)
    if isinstance(one, HMM):
        for name in ("classes_", "start_", "end_", "transition_"):
            demand_same(name, plain(getattr(one, name)), plain(getattr(other, name)), tolerance)


def _weighted(it: Counted, rng: Rng) -> tuple[Any, Any, list[Any]]:
    """Return a model fitted with weights, one fitted with copies in any order, and the examples."""
    X, y = it.draw(rng, int(rng.integers(4, 9)))
    make = it.make(rng)
    counts = rng.integers(0, 4, size=len(X))
    counts[0] = 1
    places = np.repeat(np.arange(len(X)), counts)
    several = None if y is None else [y[i] for i in places]
    weighted = it.fit(make, X, y, sample_weight=counts.astype(float))
    return weighted, it.fit(make, [X[i] for i in places], several), X


#: Moments of vectors are merged by differences of means, which round.
ROUNDED = 1e-9


@relation(
    "whole weights = copies of what is counted",
    COUNTS,
    claim="bit for bit; means and variances to 1e-9",
    cost="fit",
    not_claimed={"taggers of a grammar": "they are perceptrons: one step for k times the loss"},
)
def copies(it: Counted, rng: Rng) -> None:
    """A weight of k equals k copies, and a weight of 0 no copy."""
    weighted, other, X = _weighted(it, rng)
    vectors = isinstance(X[0], np.ndarray)
    _demand_same(rng, weighted, other, X, ROUNDED if vectors else 0.0)


@relation(
    "parts of the data = the whole, counted",
    {name: COUNTS[name] for name in ("hmm, words", "hmm, vectors")},
    claim="bit for bit; means and variances to 1e-9",
    cost="fit",
)
def parts(it: Counted, rng: Rng) -> None:
    """Calls of partial_fit on the parts of a data set equal fit on the whole."""
    X, y = it.draw(rng, int(rng.integers(4, 9)))
    make = it.make(rng)
    weights = rng.integers(1, 3, size=len(X)).astype(float)
    names = sorted({k for row in y for k in row if k is not None})
    cut = int(rng.integers(1, len(X)))
    going = make()
    for part in (slice(0, cut), slice(cut, None)):
        going.partial_fit(X[part], y[part], classes=names, sample_weight=weights[part])
    whole = it.fit(make, X, y, sample_weight=weights)
    _demand_same(rng, going, whole, X, ROUNDED if isinstance(X[0], np.ndarray) else 0.0)
