"""warm_start: a state goes on where the problem is the same, weights where it is not."""

import warnings

import numpy as np
import pytest

from structlearn.datasets import load_digit_words
from structlearn.estimators import CRF, StructuredSVM
from structlearn.exceptions import ConvergenceWarning
from structlearn.losses import Hamming
from structlearn.problem.digest import problem_digest
from structlearn.structures import Chain

HINGE = ["frank-wolfe", "n-slack", "one-slack"]
SMOOTH = ["dual", "sag", "lbfgs"]


@pytest.fixture(scope="module")
def words():
    found = load_digit_words(24, random_state=0)
    return list(found.X), list(found.y)


def model_of(solver, **options):
    options = {"C": 0.1, "tol": 1e-3, "max_iter": 3000, "random_state": 0, **options}
    return (StructuredSVM if solver in HINGE else CRF)(solver=solver, **options)


@pytest.mark.parametrize("solver", HINGE + SMOOTH)
def test_a_certificate_is_about_the_data_given(words, solver):
    """Most examples change, those that a sample of eight would look at do not."""
    X, y = words
    other = [x[:, ::-1].copy() if i % 3 else x for i, x in enumerate(X)]
    model = model_of(solver, warm_start=True).fit(X, y).fit(other, y)
    cold = model_of(solver, tol=1e-5).fit(other, y)
    problem = model.problem(other, y)
    objective, _ = problem.objective(
        model._weights, C=0.1, margin=model.margin, temperature=model.temperature
    )
    assert model.objective_ == pytest.approx(objective, rel=1e-10)
    assert model.objective_ - model.duality_gap_ <= cold.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("solver", [*HINGE, "dual", "sag"])
def test_the_same_problem_goes_on(words, solver):
    model = model_of(solver, warm_start=True).fit(*words)
    first = model.solver_, model.n_iter_, model.objective_
    model.fit(*words)
    assert model.solver_ == first[0]
    assert model.n_iter_ <= 2 < first[1]
    assert model.objective_ <= first[2] * (1 + 1e-3)
    assert [record["iteration"] for record in model.history_] == [*range(1, model.n_iter_ + 1)]


def test_auto_begins_at_the_weights(words):
    model = model_of("auto", warm_start=True).fit(*words)
    assert model.solver_ == "dual"
    before = model.objective_
    model.fit(*words)
    assert model.solver_ == "lbfgs"
    assert model.objective_ <= before * (1 + 1e-12)


def test_going_on_is_as_if_never_stopped(words):
    options = {"solver": "dual", "tol": 0, "C": 0.1, "random_state": 0}
    whole = CRF(max_iter=7, **options)
    parts = CRF(max_iter=4, warm_start=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole.fit(*words)
        parts.fit(*words).set_params(max_iter=3).fit(*words)
    np.testing.assert_array_equal(whole.coef_["label"], parts.coef_["label"])


@pytest.mark.parametrize("solver", HINGE)
def test_moved_weights_are_a_start_where_the_state_is_none(solver):
    """A new feature changes the layout: what was learned of the others is not lost."""
    rng = np.random.default_rng(0)
    ids = [rng.integers(0, 30, size=6) for _ in range(60)]
    X = [[[f"w{k}", f"s{k % 7}"] for k in row] for row in ids]
    y = [[int(k) % 4 for k in row + (rng.random(6) < 0.2)] for row in ids]
    model = model_of(solver, C=1.0, warm_start=True).fit(X, y)
    longer = [*X, [["new", "s1"]]]
    labels = [*y, [1]]
    model.fit(longer, labels)
    cold = model_of(solver, C=1.0).fit(longer, labels)
    assert model.coef_["label"].shape == cold.coef_["label"].shape
    # The most violated outputs at the old weights are where it begins.
    calls = [m.history_[0]["oracle_calls"] for m in (model, cold)]
    assert calls[0] > calls[1]
    assert not np.array_equal(model.coef_["label"], cold.coef_["label"])
    assert model.objective_ - model.duality_gap_ <= cold.objective_ * (1 + 1e-9)


def test_dual_ascent_begins_anew_with_another_C(words):
    model = model_of("dual", warm_start=True).fit(*words).set_params(C=0.2).fit(*words)
    cold = model_of("dual", C=0.2).fit(*words)
    np.testing.assert_array_equal(model.coef_["label"], cold.coef_["label"])


def test_digest(words):
    X, y = words

    def digest(X=X, y=y, sample_weight=None, **options):
        return problem_digest(StructuredSVM(**options).problem(X, y, sample_weight))

    one = digest()
    assert one == digest()
    changed = [x.copy() for x in X]
    changed[5][-1, -1] += 1e-9
    label = [list(row) for row in y]
    label[-1][0] = label[-1][1]
    weights = np.ones(len(X))
    weights[7] = 2
    others = [
        digest(changed),
        digest(y=label),
        digest(sample_weight=weights),
        digest(cost="hamming-mean"),
        digest(cost="zero-one"),
        digest(cost=Hamming(weights={y[3][0]: 2.0})),
        digest(structure=Chain(order=2)),
        digest(boundaries=False),
        digest(X=X[:-1], y=y[:-1]),
        digest(class_weight={y[0][0]: 3.0}),
    ]
    assert len({one, *others}) == len(others) + 1
