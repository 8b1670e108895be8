"""The online learners, weight for weight, against transcripts of the printed algorithms."""

import numpy as np
import pytest

from structlearn.estimators import CRF, StructuredModel, StructuredPerceptron, StructuredSVM
from tests.learners.learner_transcripts import (
    ChainModel,
    MulticlassModel,
    algorithm_41,
    decaying,
    decaying_log_loss,
    perceptron,
)

K, D = 3, 4


def multiclass_data(whole, seed=0, n=15):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, D)).astype(float) if whole else rng.normal(size=(n, D))
    y = rng.integers(0, K, size=n).tolist()
    y[:K] = range(K)
    return "multiclass", MulticlassModel(K, D), X, y


def chain_data(whole, seed=1, n=12):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, size=n)
    lengths[0] = K
    X = [rng.integers(-3, 4, size=(length, D)).astype(float) for length in lengths]
    if not whole:
        X = [rng.normal(size=x.shape) for x in X]
    y = [rng.integers(0, K, size=length).tolist() for length in lengths]
    y[0] = list(range(K))
    return "chain", ChainModel(K, D), X, y


KINDS = pytest.mark.parametrize("make", [multiclass_data, chain_data], ids=["39", "40"])


def check(estimator, model, expected, atol=0.0):
    """Compare block by block; atol = 0 means bit for bit."""
    found, expected = estimator.coef_, model.split(expected)
    if not isinstance(found, dict):
        found, expected = {"label": found}, {"label": expected}
    assert set(found) == set(expected)
    for name, block in expected.items():
        np.testing.assert_allclose(found[name], block, rtol=0, atol=atol)


@KINDS
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_perceptron(make, max_iter):
    """Algorithms 39 and 40: whole-numbered features leave no room for rounding."""
    structure, model, X, y = make(whole=True)
    visited = perceptron(model, X, y, max_iter)
    estimator = StructuredPerceptron(structure, average=False, shuffle=False, max_iter=max_iter)
    check(estimator.fit(X, y), model, visited[-1])


@KINDS
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_averaged_perceptron(make, max_iter):
    """The plain mean of the weights after every example, updated or not."""
    structure, model, X, y = make(whole=True)
    visited = perceptron(model, X, y, max_iter)
    estimator = StructuredPerceptron(structure, shuffle=False, max_iter=max_iter).fit(X, y)
    check(estimator, model, np.mean(visited, axis=0), atol=1e-12)


@KINDS
@pytest.mark.parametrize("average", [True, False])
def test_perceptron_that_stops_making_mistakes(make, average):
    """Passes without an update are not run, but count in the average."""
    structure, model, X, y = make(whole=True, n=4, seed=3)
    visited = perceptron(model, X, y, 300)
    assert len({w.tobytes() for w in visited[-100:]}) == 1
    estimator = StructuredPerceptron(structure, shuffle=False, max_iter=300, average=average).fit(
        X, y
    )
    assert estimator.n_iter_ < 300
    assert estimator.history_[-1]["updates"] == 0
    expected = np.mean(visited, axis=0) if average else visited[-1]
    check(estimator, model, expected, atol=1e-12 if average else 0.0)


@KINDS
@pytest.mark.parametrize("max_iter", [1, 6])
def test_algorithm_41_as_printed(make, max_iter):
    structure, model, X, y = make(whole=False)
    visited = algorithm_41(model, X, y, max_iter, C=0.8)
    options = {"C": 0.8, "step": "constant", "shuffle": False, "max_iter": max_iter}
    estimator = StructuredSVM(structure, solver="sgd", average=False, **options).fit(X, y)
    check(estimator, model, visited[-1], atol=1e-12)
    estimator = StructuredSVM(structure, solver="sgd", average=True, **options).fit(X, y)
    check(estimator, model, np.mean(visited, axis=0), atol=1e-12)


@KINDS
@pytest.mark.parametrize("average", [True, False])
def test_shrinking_by_much(make, average):
    """Steps that shrink six-fold: the lazy scale is folded back in many times, the average too."""
    structure, model, X, y = make(whole=False)
    C = 0.6 / len(X)
    visited = algorithm_41(model, X, y, 5, C=C)
    assert (1 - 1 / (2 * C * len(X))) ** len(visited) < 1e-40
    estimator = StructuredSVM(
        structure, solver="sgd", C=C, step="constant", average=average, shuffle=False, max_iter=5
    ).fit(X, y)
    check(estimator, model, np.mean(visited, axis=0) if average else visited[-1], atol=1e-12)


@KINDS
@pytest.mark.parametrize("max_iter", [1, 2, 3, 5])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_decaying_step(make, max_iter, C):
    structure, model, X, y = make(whole=False)
    visited = decaying(model, X, y, max_iter, C=C)
    options = {"C": C, "shuffle": False, "max_iter": max_iter, "tol": 0.99}
    last = fit_quietly(StructuredSVM(structure, solver="sgd", average=False, **options), X, y)
    scale = np.abs(visited[-1]).max()
    check(last, model, visited[len(X) * last.n_iter_ - 1], atol=1e-12 * scale)
    mean = fit_quietly(StructuredSVM(structure, solver="sgd", **options), X, y)
    visited = visited[: len(X) * mean.n_iter_]
    t = np.arange(1, len(visited) + 1)
    check(mean, model, t @ np.array(visited) / t.sum(), atol=1e-12 * scale)


@KINDS
def test_decaying_step_of_the_log_loss(make):
    structure, model, X, y = make(whole=False)
    visited = decaying_log_loss(model, X, y, 4, C=0.2)
    options = {"C": 0.2, "solver": "sgd", "shuffle": False, "max_iter": 4, "tol": 0.0}
    last = fit_quietly(CRF(structure, average=False, **options), X, y)
    check(last, model, visited[-1], atol=1e-12)
    mean = fit_quietly(CRF(structure, **options), X, y)
    t = np.arange(1, len(visited) + 1)
    check(mean, model, t @ np.array(visited) / t.sum(), atol=1e-12)


def fit_quietly(estimator, X, y, **options):
    """Few passes do not converge, and say so."""
    import warnings

    from structlearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y, **options)


@KINDS
def test_sample_weight_scales_the_step(make):
    structure, model, X, y = make(whole=True)
    weights = np.random.default_rng(2).choice([0.25, 0.5, 1.0, 2.0], size=len(X))
    visited = perceptron(model, X, y, 3, sample_weight=weights)
    options = {"shuffle": False, "max_iter": 3}
    estimator = StructuredPerceptron(structure, average=False, **options)
    check(estimator.fit(X, y, sample_weight=weights), model, visited[-1])
    estimator = StructuredPerceptron(structure, **options)
    check(estimator.fit(X, y, sample_weight=weights), model, np.mean(visited, axis=0), atol=1e-12)

    visited = algorithm_41(model, X, y, 3, C=0.8, sample_weight=weights)
    estimator = StructuredSVM(
        structure, solver="sgd", C=0.8, step="constant", average=False, **options
    )
    check(estimator.fit(X, y, sample_weight=weights), model, visited[-1], atol=1e-12)

    visited = decaying(model, X, y, 3, C=0.3, sample_weight=weights)
    estimator = StructuredSVM(structure, solver="sgd", C=0.3, average=False, tol=0.0, **options)
    fit_quietly(estimator, X, y, sample_weight=weights)
    check(estimator, model, visited[-1], atol=1e-11)


@KINDS
def test_shuffling_visits_every_example_once_a_pass(make):
    """The order of a seed is the order of its permutations."""
    structure, model, X, y = make(whole=True)
    rng = np.random.default_rng(5)
    w = np.zeros(model.size)
    for _ in range(3):
        order = rng.permutation(len(X))
        for i in order:
            guess = model.argmax(w, X[i])
            if guess != y[i]:
                w = w + model.phi(X[i], y[i]) - model.phi(X[i], guess)
    estimator = StructuredPerceptron(structure, average=False, max_iter=3, random_state=5)
    check(estimator.fit(X, y), model, w)


@KINDS
def test_what_a_pass_reports(make):
    """The losses met on the way, and the number of updates."""
    structure, model, X, y = make(whole=True)
    estimator = StructuredPerceptron(structure, shuffle=False, average=False, max_iter=4).fit(X, y)
    w = np.zeros(model.size)
    for record in estimator.history_:
        loss = updates = 0
        for x, gold in zip(X, y, strict=True):
            guess = model.argmax(w, x)
            loss += w @ (model.phi(x, guess) - model.phi(x, gold))
            if guess != gold:
                updates += 1
                w = w + model.phi(x, gold) - model.phi(x, guess)
        assert record["loss"] == loss
        assert record["updates"] == updates
    assert estimator.loss_curve_ == [record["loss"] for record in estimator.history_]


def test_constraints_hold_at_every_step():
    """What is forbidden is never found, and never pushed away from: the weights show it."""
    _, _, X, y = chain_data(whole=False)
    y = [[0 if k == 2 and t and row[t - 1] == 1 else k for t, k in enumerate(row)] for row in y]
    model, free = ChainModel(K, D, forbidden=[(1, 2), (2, 2)]), ChainModel(K, D)
    y = [[0 if k == 2 and t and row[t - 1] == 2 else k for t, k in enumerate(row)] for row in y]
    options = {
        "forbid": {"transition": [(1, 2), (2, 2)]},
        "average": False,
        "shuffle": False,
        "max_iter": 4,
    }
    y[0] = [0, 1, 0]
    y[1] = [2, *[0] * (len(y[1]) - 1)]
    visited = perceptron(model, X, y, 4)
    check(StructuredPerceptron(**options).fit(X, y), model, visited[-1], atol=1e-12)
    assert not np.allclose(visited[-1], perceptron(free, X, y, 4)[-1])
    visited = algorithm_41(model, X, y, 4, C=0.8)
    estimator = StructuredSVM(solver="sgd", C=0.8, step="constant", **options).fit(X, y)
    check(estimator, model, visited[-1], atol=1e-12)
    assert not np.allclose(visited[-1], algorithm_41(free, X, y, 4, C=0.8)[-1])
    visited = decaying(model, X, y, 4, C=0.3)
    estimator = fit_quietly(StructuredSVM(solver="sgd", C=0.3, tol=0.0, **options), X, y)
    check(estimator, model, visited[-1], atol=1e-11)
    assert not np.allclose(visited[-1], decaying(free, X, y, 4, C=0.3)[-1])


def test_model_without_margin_and_temperature_is_the_perceptron():
    structure, _, X, y = chain_data(whole=True)
    options = {"shuffle": False, "max_iter": 3}
    one = StructuredModel(structure, margin=0, temperature=0, **options).fit(X, y)
    two = StructuredPerceptron(structure, **options).fit(X, y)
    for name, block in two.coef_.items():
        np.testing.assert_array_equal(one.coef_[name], block)


def test_constant_step_that_would_turn_the_weights_around():
    _, _, X, y = chain_data(whole=False)
    model = StructuredSVM(solver="sgd", C=0.5 / len(X), step="constant")
    with pytest.raises(ValueError, match=r"1 - 1/\(2CN\).*not positive"):
        model.fit(X, y)
