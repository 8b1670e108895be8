"""Weights that stay submodular while they are learned, so that cuts stay exact."""

import numpy as np
import pytest
from sklearn.base import clone

from structlearn import CRF, PassiveAggressive, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import CapabilityError
from structlearn.structures import Graph, Grid
from tests.estimators.estimator_data import quietly


def boards(n=6, seed=0, potts=False, labels=2, size=24):
    """Noisy boards whose neighbours differ more often than not, too wide for elimination."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        truth = np.add.outer(np.arange(size), np.arange(size)) % labels
        truth = np.where(
            rng.random(truth.shape) < 0.3, rng.integers(labels, size=truth.shape), truth
        )
        grey = truth + rng.normal(size=truth.shape)
        names = ("potts_right", "potts_down") if potts else ("right", "down")
        x = {"label": np.stack((grey, np.ones_like(grey)), axis=-1)}
        for name, axis in zip(names, (1, 0), strict=True):
            difference = np.abs(np.diff(grey, axis=axis))
            x[name] = np.stack((np.ones_like(difference), difference), axis=-1)
        X.append(x)
        y.append(truth)
    return X, y


MODELS = {
    "frank-wolfe": StructuredSVM("grid", C=0.01, max_iter=15, random_state=0),
    "n-slack": StructuredSVM("grid", C=0.01, solver="n-slack", max_iter=15),
    "one-slack": StructuredSVM("grid", C=0.01, solver="one-slack", max_iter=15),
    "sgd": StructuredSVM("grid", C=0.01, solver="sgd", max_iter=5, random_state=0),
    "perceptron": StructuredPerceptron("grid", max_iter=5, random_state=0),
    "passive-aggressive": PassiveAggressive("grid", max_iter=5, random_state=0),
    "pseudo-likelihood": CRF("grid", C=0.1, likelihood="pseudo"),
}


@pytest.mark.parametrize("potts", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_cuts_are_exact_after_learning(name, potts):
    X, y = boards(potts=potts)
    model = quietly(clone(MODELS[name]).set_params(submodular=True), X, y)
    problem = model.problem(X, y)
    assert np.abs(model._weights).max() > 0
    for i in range(len(X)):
        found = Grid().solve(**problem.scores(i, model._weights))
        assert found.exact
        assert found.method == "minimum cut"
        Grid().solve(method="cut", **problem.scores(i, model._weights))  # or it would raise
    for block in ("potts_right", "potts_down") if potts else ("right", "down"):
        w = model.coef_[block]
        strength = w if potts else w[0, 0] + w[1, 1] - w[0, 1] - w[1, 0]
        assert strength.min() >= -1e-12


def test_without_it_they_are_not():
    X, y = boards()
    model = quietly(clone(MODELS["pseudo-likelihood"]), X, y)
    w = model.coef_["right"]
    assert (w[0, 0] + w[1, 1] - w[0, 1] - w[1, 0]).min() < -0.1


def test_proofs_hold_where_cuts_are_exact():
    X, y = boards(n=3)
    gaps = {}
    for solver in ("frank-wolfe", "n-slack", "one-slack"):
        model = StructuredSVM("grid", C=0.01, solver=solver, tol=1e-2, submodular=True)
        model.set_params(max_iter=300, random_state=0).fit(X, y)
        gaps[solver] = (model.objective_ - model.duality_gap_, model.objective_)
    # Each interval holds the same optimum.
    assert max(low for low, _ in gaps.values()) <= min(high for _, high in gaps.values())


def test_more_labels_have_potts_terms_alone():
    X, y = boards(n=3, labels=3, potts=True, size=9)
    model = StructuredSVM("grid", C=0.05, max_iter=4, submodular=True, random_state=0)
    quietly(model, X, y)
    assert set(model.coef_) == {"label", "potts_right", "potts_down"}
    assert model.coef_["potts_right"].min() >= 0
    assert model.predict(X[:1])[0].shape == (9, 9)
    for x in X:
        x["right"] = x["potts_right"]
    with pytest.raises(CapabilityError, match="no features for right"):
        StructuredSVM("grid", submodular=True).fit(X, y)
    plain = [{"label": x["label"]} for x in X]
    with pytest.raises(CapabilityError, match="needs Potts terms"):
        StructuredSVM("grid", submodular=True).fit(plain, y)


def test_shared_tables():
    X, y = boards()
    plain = [{"label": x["label"]} for x in X]
    model = StructuredSVM("grid", C=0.01, max_iter=10, submodular=True, random_state=0)
    quietly(model, plain, y)
    w = model.coef_["right"]
    assert w[0, 0] + w[1, 1] - w[0, 1] - w[1, 0] >= -1e-12


def test_features_must_not_be_negative():
    X, y = boards()
    X[2]["down"][4, 5, 1] = -0.25
    with pytest.raises(ValueError, match=r"example 2: feature 1 of down at edge 4, 5 is -0.25"):
        StructuredSVM("grid", submodular=True).fit(X, y)


@pytest.mark.parametrize("as_dictionaries", [False, True])
def test_on_graphs(as_dictionaries):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(8):
        edges = np.array([(v, (v + 1) % 7) for v in range(7)] + [(0, 3)])
        truth = np.arange(7) % 2
        label = truth[:, np.newaxis] + rng.normal(size=(7, 2))
        strength = rng.random((len(edges), 2))
        rows = [{"one": a, "two": b} for a, b in strength.tolist()]
        X.append({"label": label, "edges": edges, "edge": rows if as_dictionaries else strength})
        y.append(truth)
    model = StructuredSVM("graph", C=0.1, submodular=True, random_state=0, all_possible_states=True)
    quietly(model, X, y)
    w = model.coef_["edge"]
    assert w.shape == (2, 2, 2)
    assert (w[0, 0] + w[1, 1] - w[0, 1] - w[1, 0]).min() >= -1e-12
    if as_dictionaries:
        X[3]["edge"][5]["two"] = -1.0
    else:
        X[3]["edge"][5, 1] = -1.0
    with pytest.raises(ValueError, match="example 3: feature 1 of edge at edge 5 is -1"):
        model.fit(X, y)
    with pytest.raises(CapabilityError, match="with 3 labels takes no features for edge"):
        model.fit(X, [labels + (labels > 0) * (np.arange(7) % 3 == 1) for labels in y])


def test_other_structures_and_solvers_say_so():
    with pytest.raises(CapabilityError, match="Chain is searched exactly"):
        StructuredSVM("chain", submodular=True).fit([np.zeros((2, 1))], [[0, 1]])
    X, y = boards(n=2)
    with pytest.raises(ValueError, match=r"annealing.*cannot.*frank-wolfe"):
        StructuredSVM("grid", solver="annealing", submodular=True).fit(X, y)
    with pytest.raises(ValueError, match=r"lbfgs.*cannot.*projected"):
        CRF("grid", solver="lbfgs", likelihood="pseudo", submodular=True).fit(X, y)


def test_potts_terms_of_a_graph_with_three_labels():
    """Strengths stay >= 0, and what the core learns is what Python's own inference computes."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(20):
        edges = np.array([(p, q) for p in range(9) for q in range(p + 1, 9) if rng.random() < 0.5])
        truth = rng.integers(3, size=9)
        label = np.eye(3)[truth] + rng.normal(size=(9, 3))
        same = (truth[edges[:, 0]] == truth[edges[:, 1]]).astype(float)
        potts = np.column_stack((np.ones(len(edges)), same * rng.random(len(edges))))
        X.append({"label": label, "edges": edges, "potts": potts})
        y.append(truth)
    model = StructuredSVM("graph", C=1.0, submodular=True, random_state=0)
    quietly(model, X, y)
    assert model.coef_["potts"].min() >= 0
    assert model.coef_["potts"][1] > 0  # neighbours with equal labels are told by it
    without = StructuredSVM("graph", C=1.0, random_state=0)
    quietly(without, [{k: one[k] for k in ("label", "edges")} for one in X], y)
    plain = [{k: one[k] for k in ("label", "edges")} for one in X]
    assert model.score(X, y) > without.score(plain, y)
    w = model.coef_
    for one, found in zip(X, model.predict(X), strict=True):
        scores = {"label": one["label"] @ w["label"].T, "potts": one["potts"] @ w["potts"]}
        best = Graph(one["edges"]).solve(method="ilp", **scores)
        assert Graph(one["edges"]).score(found, **scores) == pytest.approx(best.value)


def test_auto_learns_potts_terms_by_a_solver_that_converges():
    """Dual ascent steps by sites, of which a Potts term has none chosen where labels agree."""
    rng = np.random.default_rng(0)
    edges = np.array([(v - 1, v) for v in range(1, 20)] + [(0, 19), (1, 4)])
    X, y = [], []
    for _ in range(12):
        y.append(np.sort(rng.integers(3, size=20)))
        label = np.eye(3)[y[-1]] + 0.8 * rng.normal(size=(20, 3))
        X.append({"label": label, "edges": edges, "potts": np.ones((len(edges), 1))})
    auto, wanted = (CRF("graph", solver=s, tol=1e-4).fit(X, y) for s in ("auto", "lbfgs"))
    assert auto.duality_gap_ <= 1e-4 * auto.objective_
    np.testing.assert_array_equal(auto._weights, wanted._weights)
    plain = [{k: v for k, v in x.items() if k != "potts"} for x in X]
    assert CRF("graph", tol=1e-4).fit(plain, y).problem(plain, y).one_outcome_each
    assert not auto.problem(X, y).one_outcome_each
