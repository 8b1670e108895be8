"""Subjects of relations between fits: small examples of every structure, and models of weights."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.estimators.estimator_data import points, sentences, sequences
from tests.estimators.segment_data import draw_segments

from structlearn.structures import Arborescence, Chain

Rng = np.random.Generator


@dataclass(frozen=True)
class Examples:
    """Examples for an estimator.

    Attributes
    ----------
    structure : str or Structure
        The estimator's structure.
    X, y : lists, or arrays
        The inputs and outputs.
    named : bool
        Whether features are names, so that the set of weights depends on the examples.
    """

    structure: Any
    X: Any
    y: Any
    named: bool = False

    def __len__(self) -> int:
        return len(self.y)

    def rows(self, chosen: Sequence[int]) -> Examples:
        """Return some of the examples, in this order."""
        places = [int(i) for i in chosen]
        return replace(self, X=_rows(self.X, places), y=_rows(self.y, places))

    def fit(self, estimator: Any, **options: Any) -> Any:
        """Fit an estimator."""
        return estimator.fit(self.X, self.y, **options)


def _rows(values: Any, places: list[int]) -> Any:
    return values[places] if isinstance(values, np.ndarray) else [values[i] for i in places]


def labels_of(y: Any) -> list[Any]:
    """Return the labels of one output; none for a tree without labels."""
    if isinstance(y, str) or np.ndim(y) == 0:
        return [y]
    if isinstance(y, list) and y and isinstance(y[0], tuple):
        return [label for _, _, label in y]
    return [] if isinstance(y, np.ndarray) else list(y)


#: The number of seeds of the data, which are made once.
SEEDS = 40


@functools.cache
def _dense(seed: int) -> Examples:
    return Examples("chain", *sequences(6, seed, d=3, length=None))


@functools.cache
def _strings(seed: int) -> Examples:
    return Examples("chain", *sentences(8, seed), named=True)


@functools.cache
def _points(seed: int) -> Examples:
    return Examples("multiclass", *points(12, seed, d=3))


@functools.cache
def _segments(seed: int) -> Examples:
    return Examples("semimarkov", *draw_segments(5, width=2, d=3, seed=seed, longest=4))


@functools.cache
def _trees(seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(6):
        n = 3 if i == 0 else int(rng.integers(1, 5))
        parents = np.array([-1, *(int(rng.integers(v)) for v in range(1, n))])
        X.append({"label": rng.normal(size=(n, 3)), "parents": parents})
        y.append(["a", "b", "c"] if i == 0 else [str(k) for k in rng.choice(list("abc"), n)])
    return Examples("tree", X, y)


@functools.cache
def _arcs(seed: int) -> Examples:
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(5):
        n = int(rng.integers(1, 4))
        X.append({"arc": rng.normal(size=(n + 1, n + 1, 2))})
        y.append(np.array([0, *(int(rng.integers(0, m)) + 1 for m in range(1, n))]))
    return Examples(Arborescence(bool(seed % 2), single_root=False), X, y)


def _of_order(order: int) -> Callable[[int], Examples]:
    return lambda seed: replace(_dense(seed), structure=Chain(order))


_KINDS = {
    "sequences": _dense,
    "names": _strings,
    "points": _points,
    "segments": _segments,
    "trees": _trees,
    "arcs": _arcs,
    "order 2": _of_order(2),
    "order 0": _of_order(0),
}


def _drawing(make: Callable[[int], Examples]) -> Callable[[Rng], Examples]:
    return lambda rng: make(int(rng.integers(SEEDS)))


#: Name -> a function that draws examples.
EXAMPLES: dict[str, Callable[[Rng], Examples]] = {
    name: _drawing(make) for name, make in _KINDS.items()
}


def weights_of(model: Any) -> dict[str, Any]:
    """Return the weights by block, the names of features in alphabetical order."""
    coef = model.coef_ if isinstance(model.coef_, dict) else {"label": model.coef_}
    weights = {}
    for name, block in coef.items():
        names = model.feature_names_.get(name)
        weights[name] = (
            block if names is None else block[..., np.argsort(np.array(names, dtype=str))]
        )
    return weights
