"""Random fields on grids and graphs: exact, by pseudo-likelihood, and by loopy sums."""

import warnings

import numpy as np
import pytest

from structlearn import CRF, StructuredModel
from structlearn.exceptions import CapabilityError, InexactInferenceWarning
from structlearn.structures import Graph, Grid

CYCLE = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
TRUE = {
    "label": np.array([[0.6, -0.4], [-0.6, 0.4]]),
    "edge": np.array([[0.7, -0.7], [-0.2, 0.2]]),
}


def sampled(n, seed=0):
    """Labellings drawn from a model on a small graph, with the features that it is made of."""
    rng = np.random.default_rng(seed)
    graph = Graph(CYCLE)
    X, y = [], []
    for _ in range(n):
        x = rng.normal(size=(4, 2))
        scores = {"label": x @ TRUE["label"].T, "edge": TRUE["edge"]}
        y.append(graph.sample(1, random_state=int(rng.integers(2**31)), **scores)[0])
        X.append({"label": x, "edges": CYCLE})
    return X, y


def effects(coef):
    """What the weights say, without what cancels: (label differences, coupling of pairs)."""
    label, edge = coef["label"], coef["edge"]
    return np.append(label[1] - label[0], edge[0, 0] + edge[1, 1] - edge[0, 1] - edge[1, 0])


@pytest.mark.parametrize("likelihood", ["exact", "pseudo"])
def test_weights_come_back(likelihood):
    X, y = sampled(600)
    model = CRF("graph", C=10.0, likelihood=likelihood, solver="lbfgs", tol=1e-2).fit(X, y)
    np.testing.assert_allclose(effects(model.coef_), effects(TRUE), atol=0.3)
    assert (model.approximate_ is None) == (likelihood == "exact")


@pytest.mark.parametrize("structure", ["graph", "grid"])
def test_gradient_of_the_objective_by_differences(structure):
    rng = np.random.default_rng(0)
    if structure == "graph":
        X, y = sampled(4)
    else:
        X = [
            {
                "label": rng.normal(size=(3, 4, 2)),
                "potts_right": rng.normal(size=(3, 3, 1)),
                "potts_down": rng.normal(size=(2, 4, 1)),
            }
            for _ in range(3)
        ]
        y = [rng.integers(3, size=(3, 4)) for _ in range(3)]
    model = CRF(structure, likelihood="pseudo", margin=0.5)
    problem = model.problem(X, y)
    w = rng.normal(size=problem.n_weights)
    options = {"C": 2.0, "margin": 0.5, "temperature": 0.7}
    _, gradient = problem.objective(w, **options)
    for j in range(len(w)):
        step = 1e-6 * np.eye(len(w))[j]
        ends = [problem.objective(w + sign * step, **options)[0] for sign in (1, -1)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)


def test_without_edges_all_are_one():
    X, y = sampled(30)
    for x in X:
        x["edges"] = np.empty((0, 2), dtype=int)
    found = {
        kind: CRF("graph", likelihood=kind, solver="lbfgs", tol=1e-9).fit(X, y)
        for kind in ("exact", "pseudo", "loopy")
    }
    for kind in ("pseudo", "loopy"):
        assert found[kind].objective_ == pytest.approx(found["exact"].objective_, rel=1e-8)
        np.testing.assert_allclose(found[kind]._weights, found["exact"]._weights, atol=1e-4)


def test_loopy_is_exact_on_trees():
    X, y = sampled(30)
    for x in X:
        x["edges"] = CYCLE[:3]
    exact = CRF("graph", likelihood="exact", solver="lbfgs", tol=1e-10).fit(X, y)
    loopy = CRF("graph", likelihood="loopy", tol=1e-10).fit(X, y)
    assert loopy.objective_ == pytest.approx(exact.objective_, rel=1e-8)
    assert loopy.duality_gap_ is None  # though it could be proven here
    assert exact.duality_gap_ is not None
    assert "Bethe" in loopy.approximate_


def noisy(n=4, size=14, seed=0):
    """Images too wide for elimination."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        truth = np.zeros((size, size), dtype=int)
        top, left = rng.integers(0, size // 2, 2)
        truth[top : top + size // 2, left : left + size // 2] = 1
        truth = np.where(rng.random(truth.shape) < 0.1, 1 - truth, truth)
        grey = truth + rng.normal(size=truth.shape)
        X.append({"label": np.stack((grey, np.ones_like(grey)), axis=-1)})
        y.append(truth)
    return X, y


def test_wide_grids():
    X, y = noisy(size=26)
    with pytest.raises(CapabilityError, match=r"example 0: the treewidth.*pseudo"):
        CRF("grid", likelihood="exact").fit(X, y)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        auto = CRF("grid", C=0.1, max_iter=3).fit(X[:2], y[:2])
    told = [str(w.message) for w in told if w.category is InexactInferenceWarning]
    assert len(told) == 1
    assert "example 0" in told[0]
    assert "loopy" in told[0]
    assert auto.duality_gap_ is None
    assert auto.approximate_ is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what was asked for is no reason to warn
        pseudo = CRF("grid", C=0.1, likelihood="pseudo").fit(X, y)
    assert pseudo.score(X, y) > 0.8
    assert pseudo.solver_ == "lbfgs"
    for n_jobs in (1, 3):
        again = CRF("grid", C=0.1, likelihood="pseudo", n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(again._weights, pseudo._weights)


@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "projected"])
def test_solvers_agree_on_the_pseudo_likelihood(solver):
    X, y = noisy(n=6, size=5)
    best = CRF("grid", C=0.1, likelihood="pseudo", tol=1e-9).fit(X, y)
    model = CRF("grid", C=0.1, likelihood="pseudo", solver=solver, tol=1e-2, random_state=0)
    model.fit(X, y)
    assert best.objective_ <= model.objective_ <= best.objective_ + model.duality_gap_ + 1e-9


def test_l1_too():
    X, y = noisy(n=4, size=5)
    model = CRF("grid", C=0.1, l1=5.0, likelihood="pseudo").fit(X, y)
    assert (model._weights == 0).any()


def test_what_does_not_go_together():
    X, y = noisy(n=2, size=4)
    for solver in ("dual", "sag"):
        with pytest.raises(ValueError, match=f"{solver}.*lbfgs"):
            CRF("grid", likelihood="pseudo", solver=solver).fit(X, y)
    with pytest.raises(ValueError, match="likelihood must be one of"):
        CRF("grid", likelihood="quasi").fit(X, y)
    with pytest.raises(ValueError, match="temperature > 0"):
        StructuredModel("grid", likelihood="pseudo").fit(X, y)
    with pytest.raises(CapabilityError, match="Chain has no pseudo-likelihood"):
        CRF("chain", likelihood="pseudo").fit([np.zeros((2, 1))], [[0, 1]])
    with pytest.raises(CapabilityError, match="Chain has no loopy"):
        CRF("chain", likelihood="loopy").fit([np.zeros((2, 1))], [[0, 1]])
    unknown = [[list(row) for row in labels] for labels in y]
    unknown[1][0][0] = None
    with pytest.raises(ValueError, match="example 1: likelihood='pseudo' needs every label"):
        CRF("grid", likelihood="pseudo").fit(X, unknown)


def test_narrow_grids_stay_exact():
    X, y = noisy(n=2, size=4)
    model = CRF("grid", C=0.1).fit(X, y)
    assert model.approximate_ is None
    assert model.duality_gap_ is not None
    assert Grid().sums_are_exact(**model.problem(X, y).scores(0, model._weights))
