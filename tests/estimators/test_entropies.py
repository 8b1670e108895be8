"""Entropies of estimators, against the list of all outputs."""

import itertools

import numpy as np
import pytest

from structlearn import CRF


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
    assert model.entropy([]).shape == (0,)
