"""scikit-learn's tools work on these estimators, on ragged lists as on arrays."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from structlearn.estimators import (
    AROW,
    CRF,
    AdaGrad,
    PassiveAggressive,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.structures import Chain, Multiclass
from tests.estimators.estimator_data import (
    points,
    quietly,
    same_coef,
    same_outputs,
    sentences,
    sequences,
)

ESTIMATORS = [
    StructuredPerceptron(max_iter=3, random_state=0),
    StructuredSVM(C=0.1, tol=0.1, max_iter=512, random_state=0),
    CRF(C=0.5),
    CRF(Chain(order=2), l1=0.1),
    StructuredModel(margin=1, temperature=0.5, cost=1 - np.eye(3)),
    PassiveAggressive(max_iter=3, random_state=0),
    AdaGrad(max_iter=3, tol=1.0, random_state=0),
    AROW(Chain(order=2), beam=4, max_iter=3, random_state=0),
]
EVERY = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@EVERY
def test_clone_and_parameters(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    for name, value in estimator.get_params().items():
        found = copy.get_params()[name]
        assert type(found) is type(value)
        assert repr(found) == repr(value)
    copy.set_params(max_iter=7, boundaries=False)
    assert (copy.max_iter, copy.boundaries) == (7, False)
    assert estimator.max_iter != 7
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        copy.set_params(depth=3)


@EVERY
def test_fit_stores_nothing_in_parameters(estimator):
    X, y = sequences()
    model = clone(estimator)
    before = {name: repr(value) for name, value in model.get_params().items()}
    assert model.fit(X, y) is model
    assert {name: repr(value) for name, value in model.get_params().items()} == before
    assert "C=" not in repr(CRF()), "defaults stay out of the repr"


def test_parameters_are_those_of_init():
    common = {
        "structure", "max_iter", "average", "shuffle", "min_count", "all_possible_states",
        "all_possible_transitions", "boundaries", "hierarchy", "forbid", "constraints",
        "illegal", "time_limit", "class_weight",
        "warm_start", "checkpoint", "callbacks", "n_jobs", "random_state", "verbose",
    }  # fmt: skip
    beam = {"beam", "update_at"}
    cut = {"submodular"}
    assert set(StructuredPerceptron().get_params()) == common | beam | cut
    assert set(PassiveAggressive().get_params()) == common | beam | cut | {"C", "cost", "loss"}
    assert set(AROW().get_params()) == common | beam | {"cost", "r"}
    more = {"C", "cost", "eta0", "delta", "margin", "temperature", "tol"}
    assert set(AdaGrad().get_params()) == common | more
    more = {"C", "cost", "solver", "step", "tol", "submodular"}
    assert set(StructuredSVM().get_params()) == common | more | {"violation_tol", "latent"}
    more |= {"l1", "margin", "temperature", "latent", "likelihood"}
    assert set(CRF().get_params()) == common | more
    every = (CRF, StructuredSVM, StructuredPerceptron, PassiveAggressive, AROW, AdaGrad)
    assert set(StructuredModel().get_params()) == set().union(*(k().get_params() for k in every))
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        CRF(depth=3)


def test_contract_of_the_defaults():
    p = StructuredPerceptron()
    assert (p.structure, p.max_iter, p.average, p.shuffle, p.min_count) == (
        "chain",
        10,
        True,
        True,
        0,
    )
    s = StructuredSVM()
    assert (s.structure, s.C, s.cost, s.tol) == ("chain", 1.0, "hamming", 1e-2)
    assert s.solver == "frank-wolfe"
    c = CRF()
    assert (c.structure, c.C, c.l1, c.solver) == ("chain", 1.0, 0.0, "auto")
    assert (c.temperature, c.margin, c.tol) == (1.0, 0.0, 1e-3)
    for model in (p, s, c):
        assert (model.all_possible_states, model.all_possible_transitions, model.boundaries) == (
            False, True, True,
        )  # fmt: skip


@EVERY
def test_pickle_round_trip(estimator):
    X, y = sequences()
    model = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert same_outputs(copy.predict(X), model.predict(X))
    assert same_coef(copy, model)
    assert copy.classes_.tolist() == model.classes_.tolist()
    assert copy.score(X, y) == model.score(X, y)
    for p, q in zip(copy.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(p, q)


def test_pickled_models_go_on_learning():
    X, y = sentences()
    one = StructuredPerceptron().partial_fit(X, y, classes=["D", "N", "V"])
    two = pickle.loads(pickle.dumps(one))
    assert same_coef(one.partial_fit(X[:9], y[:9]), two.partial_fit(X[:9], y[:9]))


class AddShape(TransformerMixin, BaseEstimator):
    """A transformer on lists of token lists."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return [[[*token, f"length={len(token[1])}"] for token in x] for x in X]


def test_pipeline_on_lists():
    X, y = sentences()
    pipeline = Pipeline([("shape", AddShape()), ("crf", CRF())]).fit(X, y)
    names = pipeline["crf"].feature_names_["label"]
    assert "length=5" in names
    direct = CRF().fit(AddShape().transform(X), y)
    assert same_outputs(pipeline.predict(X), direct.predict(AddShape().transform(X)))
    assert pipeline.score(X, y) == direct.score(AddShape().transform(X), y) > 0.9
    weights = np.ones(len(X))
    weights[:5] = 3.0
    pipeline.fit(X, y, crf__sample_weight=weights)
    assert not same_coef(pipeline["crf"], direct)
    assert not is_classifier(pipeline)
    pickle.loads(pickle.dumps(pipeline)).predict(X)


def test_pipeline_with_a_function():
    X, y = sequences()
    double = Pipeline(
        [("double", FunctionTransformer(lambda X: [2 * x for x in X])), ("crf", CRF())]
    ).fit(X, y)
    assert same_coef(double["crf"], CRF().fit([2 * x for x in X], y))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(n_jobs):
    X, y = sequences(n=24)
    grid = {"C": [1e-4, 1.0], "structure": ["chain", Chain(order=0)]}
    search = GridSearchCV(CRF(), grid, cv=3, n_jobs=n_jobs).fit(X, y)
    assert search.best_params_["C"] == 1.0
    assert same_outputs(search.predict(X), search.best_estimator_.predict(X))
    # Its scores are those of doing it by hand.
    for params, expected in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        scores = []
        for train, test in KFold(3).split(X):
            model = CRF(**params).fit([X[i] for i in train], [y[i] for i in train])
            scores.append(model.score([X[i] for i in test], [y[i] for i in test]))
        assert expected == pytest.approx(np.mean(scores), abs=1e-15)


def test_grid_search_over_a_pipeline():
    X, y = sentences()
    pipeline = Pipeline([("shape", AddShape()), ("crf", CRF())])
    search = GridSearchCV(pipeline, {"crf__C": [0.01, 1.0], "crf__min_count": [0, 3]}, cv=2)
    search.fit(X, y)
    assert search.best_score_ > 0.8


@pytest.mark.parametrize("make", [sequences, sentences, points])
def test_cross_validation_score(make):
    X, y = make()
    structure = "multiclass" if make is points else "chain"
    scores = cross_val_score(CRF(structure), X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.5


def test_cross_validated_predictions():
    """Where outputs have the same length, or are single labels; ragged ones have no array."""
    X, y = points()
    found = cross_val_predict(CRF("multiclass"), X, y, cv=3)
    assert found.shape == y.shape
    assert np.mean(found == y) > 0.5
    proba = cross_val_predict(CRF("multiclass"), X, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    X, y = sequences(n=12, length=4)
    found = cross_val_predict(CRF(), X, y, cv=3)
    assert found.shape == (12, 4)
    for train, test in KFold(3).split(X):
        model = CRF().fit([X[i] for i in train], [y[i] for i in train])
        assert same_outputs(found[test], model.predict([X[i] for i in test]))


def test_only_single_labels_make_a_classifier():
    for structure in ("multiclass", Multiclass()):
        assert is_classifier(CRF(structure))
        assert is_classifier(StructuredSVM(structure))
    for structure in ("chain", Chain(order=2)):
        assert not is_classifier(CRF(structure))
        assert not is_classifier(StructuredPerceptron(structure))


def test_splitters():
    """Stratified for single labels, plain for sequences."""
    X, y = points()
    assert isinstance(check_cv(3, y, classifier=is_classifier(CRF("multiclass"))), StratifiedKFold)
    X, y = sequences()
    splitter = check_cv(3, y, classifier=is_classifier(CRF()))
    assert isinstance(splitter, KFold)
    assert not isinstance(splitter, StratifiedKFold)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    assert 0 < CRF().fit(X_train, y_train).score(X_test, y_test) <= 1


@EVERY
def test_not_fitted(estimator):
    X, y = sequences(n=3)
    for call in (
        lambda m: m.predict(X),
        lambda m: m.predict_marginals(X),
        lambda m: m.predict_proba(X),
        lambda m: m.predict_kbest(X),
        lambda m: m.sample(X),
        lambda m: m.score(X, y),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(clone(estimator))
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(estimator))
    assert not hasattr(clone(estimator), "coef_")
    check_is_fitted(clone(estimator).fit(*sequences()))


@pytest.mark.parametrize("names", [("b", "a", "c"), (3, 1, 2), (True, False), (0.5, 1.5, -1.0)])
def test_labels_of_any_type(names):
    X, y = sequences(names=names)
    model = CRF().fit(X, y)
    assert model.classes_.tolist() == sorted(names)
    predicted = model.predict(X)
    assert {type(k) for row in predicted for k in row.tolist()} <= {type(names[0])}
    assert np.mean(np.concatenate(predicted) == np.concatenate(y)) == model.score(X, y) > 0.6
    # What the labels are called changes nothing else.
    index = {k: i for i, k in enumerate(sorted(names))}
    plain = CRF().fit(X, [[index[k] for k in row] for row in y])
    assert same_coef(model, plain)


def test_sequences_of_equal_length():
    """Lists of arrays, one three-dimensional array, y as a two-dimensional one."""
    X, y = sequences(n=12, length=4)
    models = [
        CRF().fit(X, y),
        CRF().fit(np.array(X), np.array(y)),
        CRF().fit(tuple(X), [tuple(row) for row in y]),
        CRF().fit([x.tolist() for x in X], y),
        CRF().fit(np.array([*X, None], dtype=object)[:-1], y),
    ]
    for model in models[1:]:
        assert same_coef(model, models[0])
        assert same_outputs(model.predict(np.array(X)), models[0].predict(X))


def test_what_predict_returns():
    X, y = sequences()
    predicted = CRF().fit(X, y).predict(X)
    assert isinstance(predicted, list)
    assert [p.shape for p in predicted] == [(len(x),) for x in X]
    X, y = points()
    predicted = CRF("multiclass").fit(X, y).predict(X)
    assert isinstance(predicted, np.ndarray)
    assert predicted.shape == (len(X),)


def test_attributes_after_fit():
    X, y = sequences()
    model = quietly(StructuredSVM(max_iter=3, random_state=0), X, y)
    assert model.classes_.tolist() == ["D", "N", "V"]
    assert {name: a.shape for name, a in model.coef_.items()} == {
        "label": (3, 4), "start": (3,), "end": (3,), "transition": (3, 3),
    }  # fmt: skip
    assert model.n_iter_ == len(model.loss_curve_) == len(model.history_) == 3
    assert model.loss_curve_ == [record["loss"] for record in model.history_]
    assert model.objective_ > 0
    assert model.duality_gap_ > 0
