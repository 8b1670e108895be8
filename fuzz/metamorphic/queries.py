"""Queries of models, as functions of a model and a list of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger

#: The lengths of k-best lists, and the number of samples of an input.
K, DRAWS, SEED = 3, 3, 5


def _marginals(model: Any, X: Any) -> Any:
    if isinstance(model, (DependencyParser, ConstituencyParser, SegmentTagger)):
        return model.predict_marginals(X, least=0.0)
    return model.predict_marginals(X)


def _annotate(model: Any, X: Any) -> Any:
    return [model.annotate([x]).to_conllu() for x in X]


#: Queries that take tens of milliseconds for some tasks: they are asked once in ten times.
SLOW = ("explain", "entropy")


def draw_query(rng: np.random.Generator, names: Iterable[str]) -> str:
    """Return a random name of a query."""
    name = str(rng.choice(list(names)))
    return "predict" if name in SLOW and rng.random() < 0.9 else name


#: Name -> (model, inputs) -> one answer for each input.
QUERIES: dict[str, Callable[[Any, Any], Any]] = {
    "predict": lambda model, X: model.predict(X),
    "kbest": lambda model, X: model.predict_kbest(X, n=K),
    "marginals": _marginals,
    "sample": lambda model, X: model.sample(X, n=DRAWS, random_state=SEED),
    "entropy": lambda model, X: model.entropy(X),
    "explain": lambda model, X: model.explain(X),
    "proba": lambda model, X: model.predict_proba(X),
    "annotate": _annotate,
}
