"""Entropies of estimators, against the list of all outputs."""

import itertools

import numpy as np
import pytest

from structlearn import CRF
from structlearn.structures import SemiMarkov


@pytest.mark.parametrize("temperature", [None, 0.5])
def test_entropy_of_a_chain(temperature):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 3)) for length in (1, 3, 4)]
    y = [rng.integers(3, size=len(x)).tolist() for x in X]
    y[2][:3] = [0, 1, 2]
    model = CRF(max_iter=20, tol=1e-1).fit(X, y)
    found = model.entropy(X, temperature=temperature)
    for x, entropy in zip(X, found, strict=True):
        outputs = list(map(list, itertools.product([0, 1, 2], repeat=len(x))))
        p = model.predict_proba([x] * len(outputs), outputs, temperature=temperature)
        assert p.sum() == pytest.approx(1.0)
        assert entropy == pytest.approx(-(p * np.log(p)).sum())
    assert model.entropy([]) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_entropies_on_threads(threads):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(length, 3)) for length in rng.integers(1, 9, size=40)]
    y = [rng.integers(4, size=len(x)).tolist() for x in X]
    model = CRF(max_iter=5, tol=1.0, n_jobs=threads).fit(X, y)
    singly = np.concatenate([model.entropy([x]) for x in X])
    np.testing.assert_array_equal(model.entropy(X), singly)


@pytest.mark.parametrize(
    ("model", "y"),
    [(CRF(max_iter=5, tol=1.0), [0, 1, 1]), (CRF(SemiMarkov(2), max_iter=5, tol=1.0), None)],
    ids=["chain", "segments"],
)
def test_draws_have_the_probabilities_of_outputs(model, y):
    rng = np.random.default_rng(2)
    X = [rng.normal(size=(3, 2)) for _ in range(6)]
    if y is None:
        y = [(0, 2, "a"), (2, 3, "b")]
        X = [rng.normal(size=(3, 2, 2)) for _ in X]
    model.fit(X, [y] * len(X))
    (drawn,), n = model.sample(X[:1], 4000, random_state=0), 4000
    again = model.sample(X[:1], 4000, random_state=0)[0]
    assert list(map(str, drawn)) == list(map(str, again))
    ranked = model.predict_kbest(X[:1], 1000)[0]
    p = model.predict_proba(X[:1] * len(ranked), [y for _, y in ranked])
    assert p.sum() == pytest.approx(1.0)
    for (_, output), share in zip(ranked[:4], p, strict=False):
        got = sum(str(one) == str(output) for one in drawn) / n
        assert got == pytest.approx(share, abs=5 * np.sqrt(share / n))
