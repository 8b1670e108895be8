"""Learning on grids and graphs whose topology comes with the examples."""

import pickle
import warnings

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import ConvergenceWarning, InexactInferenceWarning
from structlearn.problem import Problem
from structlearn.structures import Graph, Grid


def images(n, seed=0, labels=("sky", "tree"), noise=0.8, size=(7, 10)):
    """Noisy images of one rectangle on a background; grey value and a constant a pixel."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        height, width = rng.integers(*size, 2)
        truth = np.zeros((height, width), dtype=int)
        for k in range(1, len(labels)):
            top, left = rng.integers(0, height - 2), rng.integers(0, width - 2)
            truth[top : top + 4, left : left + 4] = k
        grey = truth + noise * rng.normal(size=truth.shape)
        X.append({"label": np.stack((grey, np.ones_like(grey), grey**2), axis=-1)})
        y.append(np.array(labels)[truth])
    return X, y


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron("grid", max_iter=20, random_state=0),
        StructuredSVM("grid", C=0.1, max_iter=60, random_state=0),
    ],
    ids=["perceptron", "svm"],
)
def test_neighbours_help_to_segment(model):
    X, y = images(60)
    quietly(model, X[:40], y[:40])
    accuracy = model.score(X[40:], y[40:])
    pixels = [{"label": pixel.reshape(1, 1, 3)} for x in X for pixel in x["label"].reshape(-1, 3)]
    labels = [k.reshape(1, 1) for one in y for k in one.ravel()]
    pixels, labels = pixels[::9], labels[::9]
    n = 2 * len(pixels) // 3
    alone = quietly(
        StructuredSVM("grid", C=0.1, max_iter=5, random_state=0), pixels[:n], labels[:n]
    )
    assert accuracy > alone.score(pixels[n:], labels[n:]) + 0.05
    assert model.coef_["right"].shape == (2, 2)
    found = model.predict(X[25:27])
    assert found[0].shape == y[25].shape
    assert set(np.unique(found[0])) <= {"sky", "tree"}
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[25:26])[0], found[0])


def test_features_of_edges():
    X, y = images(20)
    for x in X:
        grey = x["label"][..., 0]
        x["right"] = np.stack((np.ones_like(grey[:, 1:]), np.abs(np.diff(grey, axis=1))), axis=-1)
        x["down"] = np.stack((np.ones_like(grey[1:]), np.abs(np.diff(grey, axis=0))), axis=-1)
    model = quietly(StructuredSVM("grid", C=0.1, max_iter=60, random_state=0), X, y)
    assert model.coef_["right"].shape == (2, 2, 2)
    assert model.score(X, y) > 0.8


def test_small_grids_have_a_random_field():
    X, y = images(12, size=(4, 6))
    model = quietly(CRF("grid", solver="lbfgs", max_iter=15, random_state=0), X, y)
    assert model.score(X, y) > 0.8
    p = model.predict_marginals(X[:1])[0]
    label = p["label"] if isinstance(p, dict) else p
    np.testing.assert_allclose(np.asarray(label).sum(axis=-1), 1.0)


def test_inexact_inference_is_told():
    X, y = images(4, labels=("a", "b", "c"), size=(10, 12), noise=1.5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = StructuredSVM(Grid(method="swap"), max_iter=3, random_state=0).fit(X, y)
    said = [str(w.message) for w in told if w.category is InexactInferenceWarning]
    assert any("not exact" in text and "at most" in text for text in said)
    # What the search may have missed at the end is a part of the gap.
    missed = model.problem(X, y).shortfall(model._weights, 1.0)
    assert 0 < missed < np.inf
    last = model.history_[-1]
    assert model.duality_gap_ == pytest.approx(last["gap"] + missed)


def test_searches_that_a_bound_proves_exact_lose_nothing():
    X, y = images(4, labels=("a", "b", "c"), size=(10, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error", InexactInferenceWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        StructuredSVM(Grid(method="expansion"), max_iter=3, random_state=0).fit(X, y)


def test_bounds_are_asked_for_once(monkeypatch):
    X, y = images(4, labels=("a", "b", "c"), size=(10, 12))
    calls = []

    class OwnGrid(Grid):  # not searched in the core, which knows the library's classes alone
        def solve(self, **scores):
            calls.append("solve")
            return super().solve(**scores)

    shortfall = Problem.shortfall

    def counted(self, *arguments):
        calls.append("shortfall")
        return shortfall(self, *arguments)

    monkeypatch.setattr(Problem, "shortfall", counted)
    settings = {"max_iter": 3, "random_state": 0}
    quietly(StructuredSVM(OwnGrid(method="expansion"), **settings), X, y)
    assert calls == ["shortfall", *["solve"] * 4]
    calls.clear()
    quietly(StructuredSVM(Grid(method="expansion"), **settings), X, y)
    assert calls == ["shortfall"]
    quietly(StructuredPerceptron(Grid(method="expansion"), max_iter=3, random_state=0), X, y)
    assert calls == ["shortfall"]  # no gap, no bound


def graphs(n, seed=0, features=False):
    """Labels that agree along the edges of a cycle with a chord."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        size = int(rng.integers(4, 8))
        edges = np.array([(v, (v + 1) % size) for v in range(size)] + [(0, 2)])
        label = rng.normal(size=(size, 2))
        score = np.stack((label[:, 0], label[:, 1], np.zeros(size)), axis=1)
        truth = Graph(edges).argmax(label=score, edge=np.eye(3))
        X.append({"label": label, "edges": edges})
        if features:
            X[-1]["edge"] = np.ones((len(edges), 1))
        y.append(truth)
    return X, y


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron("graph", max_iter=8, random_state=0),
        StructuredSVM("graph", max_iter=40, random_state=0),
        CRF("graph", solver="lbfgs", max_iter=20, random_state=0),
    ],
    ids=["perceptron", "svm", "crf"],
)
def test_every_learner_learns_from_graphs(model, features):
    X, y = graphs(40, features=features)
    quietly(model, X[:25], y[:25])
    assert model.score(X[25:], y[25:]) > 0.85


def test_bad_examples():
    X, y = images(2)
    with pytest.raises(ValueError, match="example 0"):
        StructuredSVM("grid", random_state=0).fit(X, [one[:-1] for one in y])
    with pytest.raises(ValueError, match="shape"):
        StructuredSVM("grid", random_state=0).fit(X, [one.ravel() for one in y])
    X, y = graphs(2)
    with pytest.raises(ValueError, match="edges are missing"):
        StructuredSVM("graph", random_state=0).fit([{"label": x["label"]} for x in X], y)
    X[1]["edges"] = X[1]["edges"] + 5
    with pytest.raises(ValueError, match="nodes"):
        StructuredSVM("graph", random_state=0).fit(X, y)
