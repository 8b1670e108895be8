"""Where another library solves the same problem, the answers are the same."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from structlearn.estimators import CRF, StructuredSVM
from structlearn.structures import Chain
from tests.estimators.estimator_data import points, sentences, sequences


def logistic(X, y, C, **options):
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=10_000, **options)
    return model.fit(X, y)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_multiclass_crf_is_logistic_regression(C):
    X, y = points()
    ours = CRF("multiclass", C=C, tol=1e-14, max_iter=10_000).fit(X, y)
    theirs = logistic(X, y, C)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.coef_.shape == theirs.coef_.shape == (3, 5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == theirs.score(X, y)


@pytest.mark.parametrize("names", [("a", "b", "c", "d"), (7, 2, 5)])
def test_chain_of_order_zero_is_logistic_regression(names):
    X, y = sequences(n=25, names=names)
    ours = CRF(Chain(order=0), boundaries=False, C=0.5, tol=1e-14, max_iter=10_000).fit(X, y)
    theirs = logistic(np.vstack(X), [k for row in y for k in row], 0.5)
    assert set(ours.coef_) == {"label"}
    np.testing.assert_allclose(ours.coef_["label"], theirs.coef_, rtol=0, atol=1e-5)
    marginals = np.vstack(ours.predict_marginals(X))
    np.testing.assert_allclose(marginals, theirs.predict_proba(np.vstack(X)), rtol=0, atol=1e-5)


@pytest.mark.parametrize("class_weight", ["balanced", {"D": 3.0, "N": 0.25}])
def test_class_weight_means_what_it_means_there(class_weight):
    X, y = points()
    ours = CRF("multiclass", class_weight=class_weight, tol=1e-14, max_iter=10_000).fit(X, y)
    theirs = logistic(X, y, 1.0, class_weight=class_weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-5)
    plain = logistic(X, y, 1.0)
    assert np.abs(plain.coef_ - theirs.coef_).max() > 0.01


def test_sample_weight_means_what_it_means_there():
    X, y = points()
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    ours = CRF("multiclass", tol=1e-14, max_iter=10_000).fit(X, y, sample_weight=weights)
    model = LogisticRegression(fit_intercept=False, tol=1e-12, max_iter=10_000)
    theirs = model.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-5)


@pytest.mark.parametrize("C", [0.01, 0.1])
def test_multiclass_svm_is_crammer_and_singer(C):
    """½‖w‖² + C Σ max_k [1[k ≠ y] + s_k − s_y]: the value of both optima."""
    X, y = points()
    index = np.searchsorted(np.unique(y), y)

    def objective(W):
        scores = X @ W.T
        gold = scores[np.arange(len(y)), index]
        augmented = scores + (np.arange(3) != index[:, np.newaxis])
        return 0.5 * (W**2).sum() + C * (augmented.max(axis=1) - gold).sum()

    ours = StructuredSVM("multiclass", C=C, tol=1e-3, max_iter=10_000, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = LinearSVC(
            C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-10, max_iter=100_000
        ).fit(X, y)
    optimum = objective(theirs.coef_)
    assert ours.objective_ == pytest.approx(objective(ours.coef_), rel=1e-12)
    assert optimum - 1e-6 <= ours.objective_ <= optimum + ours.duality_gap_ + 1e-6
    assert ours.duality_gap_ <= 1e-3 * ours.objective_


def test_crf_is_that_of_crfsuite():
    """CRFsuite's c2 is 1/(2C); it has no boundary weights, and only the pairs seen in training."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X, y = sentences()
    ours = CRF(
        C=2.0, boundaries=False, all_possible_transitions=False, tol=1e-13, max_iter=10_000
    ).fit(X, y)
    trainer = pycrfsuite.Trainer(verbose=False)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    trainer.set_params(
        {"c1": 0, "c2": 0.25, "max_iterations": 5000, "epsilon": 1e-12, "delta": 1e-14}
    )
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".crf") as file:
        trainer.train(file.name)
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        info = tagger.info()
        tagger.close()
    index = {name: k for k, name in enumerate(ours.classes_)}
    column = {name: f for f, name in enumerate(ours.feature_names_["label"])}
    assert len(info.state_features) == ours._layout.blocks["label"].n_weights
    for (name, label), weight in info.state_features.items():
        assert ours.coef_["label"][index[label], column[name]] == pytest.approx(weight, abs=2e-4)
    for (a, b), weight in info.transitions.items():
        assert ours.coef_["transition"][index[a], index[b]] == pytest.approx(weight, abs=2e-4)
