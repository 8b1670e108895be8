"""Small data sets and helpers that the tests of estimators share."""

from __future__ import annotations

import warnings

import numpy as np

from structlearn.exceptions import ConvergenceWarning

NAMES = ("D", "N", "V")


def sequences(n=20, seed=0, d=4, names=NAMES, length=None, noise=1.0):
    """Ragged sequences of dense tokens, with labels that neighbours influence."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, size=n) if length is None else np.full(n, length)
    lengths[0] = max(lengths[0], len(names))
    X = [rng.normal(size=(int(size), d)) for size in lengths]
    centres = rng.normal(size=(len(names), d))
    y = []
    for x in X:
        row: list[int] = []
        for scores in x @ centres.T + noise * rng.normal(size=(len(x), len(names))):
            if row:
                scores[(row[-1] + 1) % len(names)] += 1.0
            row.append(int(np.argmax(scores)))
        y.append([names[k] for k in row])
    y[0][: len(names)] = list(names)
    return X, y


def sentences(n=30, seed=1):
    """Ragged sequences of words in lists of strings."""
    rng = np.random.default_rng(seed)
    words = {"D": ["the", "a", "my"], "N": ["dog", "fish", "sleep"], "V": ["ate", "fish", "sleep"]}
    X, y = [], []
    for _ in range(n):
        tags = ["D", "N", "V"] if rng.random() < 0.7 else ["N", "V"]
        tags = tags + (["D", "N"] if rng.random() < 0.5 else [])
        chosen = [str(rng.choice(words[tag])) for tag in tags]
        X.append(
            [["bias", f"w={w}", f"before={chosen[t - 1] if t else ''}"]
             for t, w in enumerate(chosen)]
        )  # fmt: skip
        y.append(tags)
    return X, y


def points(n=60, seed=2, d=5, names=NAMES, noise=1.0):
    """Single labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    centres = rng.normal(size=(len(names), d))
    y = np.argmax(X @ centres.T + noise * rng.normal(size=(n, len(names))), axis=1)
    y[: len(names)] = range(len(names))
    return X, np.array(names)[y]


def quietly(estimator, X, y, **options):
    """Fit with few passes, without the warning that more would be better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y, **options)


def same_coef(a, b):
    """Whether two models have the same weights, bit for bit."""
    a, b = (m.coef_ if isinstance(m.coef_, dict) else {"label": m.coef_} for m in (a, b))
    return set(a) == set(b) and all(np.array_equal(a[name], b[name]) for name in a)


def same_outputs(a, b):
    return len(a) == len(b) and all(np.array_equal(p, q) for p, q in zip(a, b, strict=True))
