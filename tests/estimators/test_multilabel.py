"""Multi-label classification as a graph over labels."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss, mutual_info_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import get_tags

from structlearn import CRF, MultiLabelClassifier, StructuredPerceptron, StructuredSVM
from structlearn.estimators.label_graph import as_tree, chow_liu_tree, mutual_information
from structlearn.structures import Graph, Tree
from tests.estimators.estimator_data import quietly


def documents(n=200, seed=0, n_labels=5):
    X, Y = make_multilabel_classification(
        n_samples=n, n_features=20, n_classes=n_labels, n_labels=2, random_state=seed
    )
    return X / 10.0, Y


def test_pairs_are_worth_it():
    X, Y = documents(700, seed=1)
    right, each = {}, {}
    for graph in ("none", "full"):
        model = MultiLabelClassifier(CRF(C=10.0, solver="lbfgs", tol=1e-2), graph=graph).fit(
            X[:300], Y[:300]
        )
        right[graph] = model.score(X[300:], Y[300:])
        each[graph] = 1 - hamming_loss(Y[300:], model.predict_proba(X[300:]) > 0.5)
    assert right["full"] >= right["none"] + 0.03
    assert each["full"] >= each["none"] - 0.005  # the pairs serve the labels together


LEARNERS = [
    CRF(C=10.0, solver="lbfgs"),
    StructuredSVM(C=0.1, max_iter=50, random_state=0),
    StructuredPerceptron(max_iter=10, random_state=0),
]


@pytest.mark.parametrize(
    "graph", ["tree", "full", "none", [[0, 1], [2, 3]], [[0, 1], [1, 2], [2, 0]]]
)
@pytest.mark.parametrize("learner", LEARNERS, ids=["crf", "svm", "perceptron"])
def test_every_learner_and_graph_is_exact(learner, graph):
    X, Y = documents(40)
    model = quietly(MultiLabelClassifier(learner, graph=graph), X, Y)
    found, p = model.predict(X[:8]), model.predict_proba(X[:8])
    assert found.shape == p.shape == (8, 5)
    # Against all 32 labellings, from the weights themselves.
    coef = model.estimator_.coef_
    width = X.shape[1] + 1
    label = coef["label"].reshape(2, 5, width)
    tree = as_tree(model.edges_, 5)
    for i in range(8):
        x = np.append(X[i], 1.0)
        outputs = np.array(list(itertools.product((0, 1), repeat=5)))
        scores = np.zeros(len(outputs))
        for row, y in enumerate(outputs):
            scores[row] = sum(label[y[k], k] @ x for k in range(5))
            for e, (a, b) in enumerate(model.edges_):
                table = coef["edge"][..., e]
                turned = tree is not None and tree.parents[a] == b  # tables read [parent, child]
                scores[row] += table[y[b], y[a]] if turned else table[y[a], y[b]]
        best = scores[(outputs == found[i]).all(axis=1)][0]
        assert best == pytest.approx(scores.max(), abs=1e-9)
        weights = np.exp(scores - logsumexp(scores))
        np.testing.assert_allclose(p[i], weights @ outputs, atol=1e-8)
    assert len(model.interactions_) == len(model.edges_)


def test_independent_labels_are_logistic_regressions():
    X, Y = documents(100)
    model = MultiLabelClassifier(CRF(C=2.0, solver="lbfgs", tol=1e-9), graph="none").fit(X, Y)
    for k in range(5):
        # Two weight vectors, one a value, are one with half the penalty; constants are penalised.
        Z = np.hstack([X, np.ones((len(X), 1))])
        alone = LogisticRegression(C=4.0, fit_intercept=False, tol=1e-10, max_iter=5000)
        alone.fit(Z, Y[:, k])
        np.testing.assert_allclose(
            model.predict_proba(X)[:, k], alone.predict_proba(Z)[:, 1], atol=1e-4
        )
    assert (model.interactions_ == 0).all()


def test_sparse_and_dense_are_the_same():
    X, Y = documents(80)
    dense = MultiLabelClassifier().fit(X, Y)
    thin = MultiLabelClassifier().fit(sparse.csr_matrix(X), sparse.csr_matrix(Y))
    np.testing.assert_array_equal(dense.predict_proba(X), thin.predict_proba(sparse.csr_matrix(X)))
    again = pickle.loads(pickle.dumps(dense))
    np.testing.assert_array_equal(again.predict(X), dense.predict(X))


def test_structures():
    X, Y = documents(50)
    assert isinstance(MultiLabelClassifier(graph="tree").fit(X, Y).estimator_.structure_, Tree)
    assert isinstance(MultiLabelClassifier(graph="full").fit(X, Y).estimator_.structure_, Graph)
    one = MultiLabelClassifier().fit(X, Y[:, :1])
    assert one.predict(X).shape == (50, 1)
    assert one.edges_.shape == (0, 2)
    nothing = MultiLabelClassifier().fit(X, np.zeros_like(Y))
    assert not nothing.predict(X).any()
    assert not nothing.predict_proba(X).any()


def test_chow_liu():
    rng = np.random.default_rng(0)
    for _ in range(5):
        Y = (rng.random((40, 5)) < 0.5).astype(int)
        Y[:, 3] = np.where(rng.random(40) < 0.8, Y[:, 1], Y[:, 3])
        gain = mutual_information(Y)
        for a, b in itertools.combinations(range(5), 2):
            assert gain[a, b] == pytest.approx(mutual_info_score(Y[:, a], Y[:, b]), abs=1e-12)
        edges = chow_liu_tree(Y)
        best = max(
            sum(gain[a, b] for a, b in four)
            for four in itertools.combinations(itertools.combinations(range(5), 2), 4)
            if as_tree(np.array(four), 5) is not None
        )
        assert gain[edges[:, 0], edges[:, 1]].sum() == pytest.approx(best)
    weights = np.r_[np.ones(20), np.zeros(20)]
    np.testing.assert_allclose(mutual_information(Y, weights), mutual_information(Y[:20]))


def test_trees_from_forests():
    tree = as_tree(np.array([[3, 1], [4, 2]]), 5)
    assert tree.parents.tolist().count(-1) == 1
    assert sorted(tree.numbers.tolist()) == [-1, -1, 0, 1]
    assert as_tree(np.array([[0, 1], [1, 2], [2, 0]]), 3) is None


def test_scikit_learn():
    X, Y = documents(60)
    model = MultiLabelClassifier(CRF(solver="lbfgs"))
    assert is_classifier(model)
    tags = get_tags(model)
    assert tags.target_tags.multi_output
    assert tags.classifier_tags.multi_label
    assert clone(model).get_params()["estimator__C"] == 1.0
    scores = cross_val_score(make_pipeline(MaxAbsScaler(), model), X, Y, cv=3)
    assert scores.shape == (3,)
    search = GridSearchCV(model, {"estimator__C": [0.1, 10.0], "graph": ["none", "tree"]}, cv=2)
    assert search.fit(X, Y).best_score_ > 0
    weight = np.ones(len(X))
    weight[30:] = 0.0
    half = MultiLabelClassifier(CRF(tol=1e-8)).fit(X, Y, sample_weight=weight)
    only = MultiLabelClassifier(CRF(tol=1e-8)).fit(X[:30], Y[:30])
    np.testing.assert_allclose(half.predict_proba(X), only.predict_proba(X), atol=1e-2)
    assert 0 <= half.score(X, Y, sample_weight=weight) <= 1


def test_bad_input():
    X, Y = documents(20)
    wrong = Y.copy()
    wrong[3, 2] = 2
    with pytest.raises(ValueError, match=r"example 3, label 2: Y is .*2"):
        MultiLabelClassifier().fit(X, wrong)
    with pytest.raises(ValueError, match=r"shape \(n, L\)"):
        MultiLabelClassifier().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"20.*19|inconsistent"):
        MultiLabelClassifier().fit(X, Y[:19])
    with pytest.raises(ValueError, match="NaN"):
        MultiLabelClassifier().fit(np.where(X[3, 4] == X, np.nan, X), Y)
    for graph, told in (("ring", "must be"), ([[0, 9]], "5 labels"), ([[1, 1]], "itself"),
                        ([[0, 1], [1, 0]], "twice"), ([0, 1], r"\(E, 2\)")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            MultiLabelClassifier(graph=graph).fit(X, Y)
    with pytest.raises(ValueError, match="StructuredModel"):
        MultiLabelClassifier(LogisticRegression()).fit(X, Y)
    model = MultiLabelClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :3])


def test_conventions_of_names_and_errors():
    X, Y = np.eye(3), np.array([[0, 1], [1, 0], [1, 1]])
    model = MultiLabelClassifier()
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X=X, y=Y).score(X=X, y=Y) >= 0
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        model.fit(X, [["a"], ["a", "b"], []])
