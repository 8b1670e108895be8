"""Problems for the solvers of smooth losses, and what others say about them."""

from __future__ import annotations

import numpy as np

from structlearn import _core
from structlearn.estimators import CRF
from structlearn.structures import Chain


def sequences(rng, n=12, d=3, K=3, longest=5):
    X = [rng.normal(size=(int(rng.integers(1, longest + 1)), d)) for _ in range(n)]
    y = [[int(k) for k in rng.integers(0, K, size=len(x))] for x in X]
    y[0] = (list(range(K)) * len(y[0]))[: len(y[0])] if len(y[0]) >= K else y[0]
    return X, y


def segmentations(rng, n=10, d=2, max_length=2):
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(2, 6))
        X.append(rng.normal(size=(length, max_length, d)))
        cuts, at = [], 0
        while at < length:
            end = min(length, at + int(rng.integers(1, max_length + 1)))
            cuts.append((at, end, int(rng.integers(0, 2))))
            at = end
        y.append(cuts)
    return X, y


def ten_problems():
    rng = np.random.default_rng(3)
    for noise in (0.5, 2.0):
        X = rng.normal(size=(40, 4))
        y = np.argmax(X[:, :3] + noise * rng.normal(size=(40, 3)), axis=1)
        yield "multiclass", X, y
    for order in (0, 1, 2):
        yield Chain(order=order), *sequences(rng)
        yield Chain(order=order), *sequences(rng, K=2, d=2)
    yield "semimarkov", *segmentations(rng)
    yield "semimarkov", *segmentations(rng, max_length=3)


PROBLEMS = list(ten_problems())


def logistic_regression(C):
    """Return sequences of independent positions, the optimum and the weights by scikit-learn."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = np.argmax(X[:, :3] + rng.normal(size=(60, 3)), axis=1)
    found = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000).fit(X, y)
    rows = [X[i : i + 5] for i in range(0, 60, 5)], [list(y[i : i + 5]) for i in range(0, 60, 5)]
    p = found.predict_log_proba(X)[np.arange(60), y]
    return rows, 0.5 * (found.coef_**2).sum() - C * p.sum(), found.coef_


def same_bits_on_every_instruction_set(learn):
    """Check that ``learn``, from a problem to weights, gives the same ones by all kernels."""
    rng = np.random.default_rng(11)
    names = [f"f{j}" for j in range(30)]
    X = [[list(rng.choice(names, size=4, replace=False)) for _ in range(6)] for _ in range(12)]
    y = [[f"L{k}" for k in rng.integers(0, 11, size=6)] for _ in range(12)]
    problem = CRF().problem(X, y)
    best = _core.kernels()
    try:
        sets = ("baseline", "avx2", "avx512")
        found = [learn(problem) for name in sets if _core.use_kernels(name)]
    finally:
        _core.use_kernels(best)
    assert all(np.array_equal(found[0], w) for w in found[1:])
