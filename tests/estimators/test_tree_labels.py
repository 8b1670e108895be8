"""Labels on trees that come with the examples."""

import pickle
import warnings

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron, StructuredSVM
from structlearn.structures import Tree


def trees(n=60, seed=0, edge_features=False):
    """Labels that depend on the features of a node and on the label of its parent."""
    rng = np.random.default_rng(seed)
    weights, table = rng.normal(size=(3, 4)), 2 * rng.normal(size=(3, 3))
    X, y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 9))
        order = rng.permutation(size)
        parents = np.full(size, -1)
        for i in range(1, size):
            parents[order[i]] = order[rng.integers(i)]
        features = rng.normal(size=(size, 4))
        example = {"label": features, "parents": parents.tolist()}
        if edge_features:
            example["edge"] = np.ones((size - 1, 1))
        X.append(example)
        best = Tree(parents).argmax(label=features @ weights.T, edge=table)
        y.append(np.array(list("abc"))[best])
    return X, y


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("edge_features", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron("tree", max_iter=8, random_state=0),
        StructuredSVM("tree", max_iter=15, random_state=0),
        CRF("tree", max_iter=40, random_state=0),
    ],
    ids=["perceptron", "svm", "crf"],
)
def test_every_learner_learns_from_trees(model, edge_features):
    X, y = trees(edge_features=edge_features)
    fitted(model, X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.8
    table = model.coef_["edge"]
    assert table.shape == ((3, 3, 1) if edge_features else (3, 3))


def test_edges_matter():
    X, y = trees(200)
    with_edges = CRF("tree", random_state=0).fit(X[:150], y[:150]).score(X[150:], y[150:])
    alone = [{"label": x["label"][[v]], "parents": [-1]} for x in X for v in range(len(x["label"]))]
    labels = [labels[[v]] for labels in y for v in range(len(labels))]
    n = sum(len(labels) for labels in y[:150])
    nodes = CRF("tree", random_state=0).fit(alone[:n], labels[:n]).score(alone[n:], labels[n:])
    assert with_edges > nodes + 0.1


def test_a_feature_of_one_and_a_shared_table_are_the_same_model():
    X, y = trees()
    shared = CRF("tree", tol=1e-8, random_state=0).fit(X, y)
    X_ones, _ = trees(edge_features=True)
    ones = CRF("tree", tol=1e-8, random_state=0).fit(X_ones, y)
    np.testing.assert_allclose(shared.coef_["edge"], ones.coef_["edge"][..., 0], atol=1e-3)


def test_gradients_by_differences():
    from structlearn.estimators import StructuredModel
    from structlearn.estimators.preparation import prepare

    X, y = trees(6)
    problem = prepare(StructuredModel(structure="tree"), X, y).problem
    w = np.random.default_rng(0).normal(size=problem.n_weights)
    _, gradient = problem.total_loss(w, 1.0, 0.7)
    for j in range(0, problem.n_weights, 4):
        step = np.zeros_like(w)
        step[j] = 1e-5
        up, _ = problem.total_loss(w + step, 1.0, 0.7)
        down, _ = problem.total_loss(w - step, 1.0, 0.7)
        assert (up - down) / 2e-5 == pytest.approx(gradient[j], abs=1e-5)


def test_one_tree_for_all():
    X, y = trees(30)
    size = 4
    same = [{"label": np.resize(x["label"], (size, 4))} for x in X]
    labels = [np.resize(one, size) for one in y]
    model = CRF(Tree([-1, 0, 1, 1]), random_state=0).fit(same, labels)
    assert len(model.predict(same[:2])[1]) == size
    again = pickle.loads(pickle.dumps(model))
    assert again.score(same, labels) == model.score(same, labels)


def test_threads_do_not_change_the_result():
    X, y = trees()
    one = CRF("tree", max_iter=10, n_jobs=1, random_state=0).fit(X, y)
    two = CRF("tree", max_iter=10, n_jobs=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_["edge"], two.coef_["edge"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parents": [0] * 6}, "example 1: parents: node 0 is its own parent"),
        ({"parents": [-1, 2, 1, 0, 0, 0]}, "example 1: parents: they go round in a cycle"),
        ({"parents": [-1, -1, 1, 0, 0, 0]}, "example 1: parents: nodes 0 and 1 are both roots"),
        ({"parents": [-1, 0]}, "example 1: parents has 2 nodes, label has 6"),
        ({"parents": ["a"] * 6}, "example 1: parents must be whole numbers"),
        ({"parents": None}, "example 1"),
        ({"edge": np.zeros((2, 1))}, "example 1"),
    ],
)
def test_bad_trees_are_named(change, message):
    rng = np.random.default_rng(0)
    X = [{"label": rng.normal(size=(6, 2)), "parents": [-1, 0, 0, 1, 1, 2]} for _ in range(3)]
    if "edge" in change:
        X = [{**x, "edge": np.zeros((5, 1))} for x in X]
    X[1] = {**X[1], **change}
    with pytest.raises(ValueError, match=message):
        CRF("tree", random_state=0).fit(X, [list("ababab")] * 3)


def test_no_trees_at_all():
    with pytest.raises(ValueError, match="parents of the nodes are missing"):
        CRF("tree", random_state=0).fit([{"label": np.zeros((2, 1))}], [["a", "b"]])
