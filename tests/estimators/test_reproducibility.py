"""The same seed gives the same model, whatever the number of threads."""

import numpy as np
import pytest
from sklearn.base import clone

from structlearn.estimators import (
    AROW,
    CRF,
    AdaGrad,
    PassiveAggressive,
    StructuredPerceptron,
    StructuredSVM,
)
from tests.estimators.estimator_data import (
    points,
    quietly,
    same_coef,
    same_outputs,
    sentences,
    sequences,
)

ESTIMATORS = [
    StructuredPerceptron(max_iter=4),
    StructuredSVM(max_iter=4),
    StructuredSVM(max_iter=4, solver="sgd"),
    StructuredSVM(max_iter=4, solver="sgd", step="constant"),
    StructuredSVM(max_iter=4, solver="n-slack"),
    StructuredSVM(max_iter=4, solver="one-slack"),
    CRF(max_iter=30),
    CRF(l1=0.1, max_iter=30),
    CRF(solver="sgd", max_iter=4),
    PassiveAggressive(max_iter=4),
    AdaGrad(max_iter=4),
    AROW(max_iter=4, beam=2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("make", [sequences, sentences])
def test_threads_change_nothing(estimator, make):
    X, y = make(n=80)
    models = [
        quietly(clone(estimator).set_params(random_state=3, n_jobs=jobs), X, y)
        for jobs in (None, 1, 2, 3, -1)
    ]
    for model in models[1:]:
        assert same_coef(model, models[0])
        assert model.objective_ == models[0].objective_
        assert model.duality_gap_ == models[0].duality_gap_
        assert model.loss_curve_ == models[0].loss_curve_
        assert same_outputs(model.predict(X), models[0].predict(X))
        for p, q in zip(model.predict_marginals(X), models[0].predict_marginals(X), strict=True):
            np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize("estimator", ESTIMATORS[:4], ids=repr)
def test_seeds(estimator):
    X, y = points()
    model = clone(estimator).set_params(structure="multiclass")

    def fit(random_state):
        return quietly(clone(model).set_params(random_state=random_state), X, y)

    assert same_coef(fit(1), fit(1))
    assert not same_coef(fit(1), fit(2))
    assert same_coef(fit(np.random.default_rng(1)), fit(1))
    assert same_coef(fit(np.random.RandomState(1)), fit(np.random.RandomState(1)))
    assert not same_coef(fit(np.random.RandomState(1)), fit(np.random.RandomState(2)))
    unseeded = [fit(None) for _ in range(3)]
    same = same_coef(*unseeded[:2]) and same_coef(*unseeded[1:])
    # A convex fit to a tolerance does not change by itself; steps and their averages do.
    assert same == (unseeded[0].solver_ == "frank-wolfe")


def test_fitting_again_gives_the_same_model():
    X, y = sequences()
    model = StructuredPerceptron(random_state=0).fit(X, y)
    first = clone(model).fit(X, y)
    assert same_coef(model.fit(X, y), first)


def test_without_shuffling_the_seed_does_not_matter():
    X, y = sequences()
    one = StructuredPerceptron(shuffle=False, random_state=1).fit(X, y)
    assert same_coef(one, StructuredPerceptron(shuffle=False, random_state=2).fit(X, y))


def test_samples_of_outputs_repeat():
    X, y = sequences()
    model = CRF().fit(X, y)
    one, two = (model.sample(X, 5, random_state=0) for _ in range(2))
    assert all(same_outputs(a, b) for a, b in zip(one, two, strict=True))
    other = model.sample(X, 5, random_state=1)
    assert not all(same_outputs(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("random_state", ["seed", -1, 0.5])
def test_bad_seed(random_state):
    X, y = sequences()
    with pytest.raises(ValueError, match="random_state must be None, an int >= 0 or a generator"):
        StructuredPerceptron(random_state=random_state).fit(X, y)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_bad_number_of_threads(n_jobs):
    X, y = sequences()
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        CRF(n_jobs=n_jobs).fit(X, y)
