"""Passive-aggressive, AROW and AdaGrad, weight for weight, against dense transcripts."""

import numpy as np
import pytest

from structlearn.estimators import AROW, AdaGrad, PassiveAggressive, StructuredModel
from structlearn.exceptions import CapabilityError
from structlearn.structures import Chain, Exhaustive
from tests.learners.learner_transcripts import adagrad, adagrad_log_loss, arow, passive_aggressive
from tests.learners.test_online_transcripts import KINDS, chain_data, check, fit_quietly

# A few passes, of which the weights count, not where they end.
pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")

AVERAGE = pytest.mark.parametrize("average", [True, False], ids=["average", "last"])


def expected(visited, average):
    return np.mean(visited, axis=0) if average else visited[-1]


@KINDS
@AVERAGE
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_passive_aggressive(make, average, loss, C):
    structure, model, X, y = make(whole=False)
    visited = passive_aggressive(model, X, y, 4, C, loss == "squared_hinge")
    estimator = PassiveAggressive(
        structure, C=C, loss=loss, average=average, shuffle=False, max_iter=4
    )
    check(estimator.fit(X, y), model, expected(visited, average), atol=1e-12)


@KINDS
@AVERAGE
@pytest.mark.parametrize("r", [0.3, 5.0])
def test_arow(make, average, r):
    structure, model, X, y = make(whole=False)
    visited = arow(model, X, y, 4, r)
    estimator = AROW(structure, r=r, average=average, shuffle=False, max_iter=4)
    check(estimator.fit(X, y), model, expected(visited, average), atol=1e-12)


@KINDS
@AVERAGE
@pytest.mark.parametrize("C", [0.01, 2.0])
def test_adagrad(make, average, C):
    """The regulariser comes late to weights that an example leaves alone, and is the same."""
    structure, model, X, y = make(whole=False)
    visited = adagrad(model, X, y, 4, C, 0.7)
    estimator = AdaGrad(structure, C=C, eta0=0.7, average=average, shuffle=False, max_iter=4)
    check(estimator.fit(X, y), model, expected(visited, average), atol=1e-12)


@KINDS
@AVERAGE
def test_adagrad_of_the_log_loss(make, average):
    structure, model, X, y = make(whole=False)
    visited = adagrad_log_loss(model, X, y, 4, 0.2, 0.7)
    options = {"margin": 0.0, "temperature": 1.0, "C": 0.2, "eta0": 0.7, "tol": 0.0}
    estimator = AdaGrad(structure, average=average, shuffle=False, max_iter=4, **options)
    check(fit_quietly(estimator, X, y), model, expected(visited, average), atol=1e-12)


@AVERAGE
def test_adagrad_reaches_late_features(average):
    """Sparse features: one that is met once is shrunk at every step, its average too."""
    X = [[["a"], ["b"]], [["c"]], [["c"], ["d"]], [["a"]]]
    y = [[0, 1], [1], [1, 0], [1]]
    dense = [np.array([[f == token[0] for f in "abcd"] for token in x], dtype=float) for x in X]
    options = {"C": 0.1, "max_iter": 5, "shuffle": False, "average": average}
    one = AdaGrad(all_possible_states=True, **options).fit(X, y)
    two = AdaGrad(**options).fit(dense, y)
    for name, block in two.coef_.items():
        np.testing.assert_allclose(one.coef_[name], block, rtol=0, atol=1e-13)


def test_adagrad_nears_the_optimum():
    """With C Σ loss and ½‖w‖² in the right proportion."""
    from structlearn.estimators import CRF

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(60, 3))).argmax(axis=1)
    best = CRF("multiclass", C=0.3, tol=1e-8).fit(X, y)
    options = {"margin": 0.0, "temperature": 1.0, "C": 0.3, "tol": 1e-3, "max_iter": 500}
    found = AdaGrad("multiclass", random_state=0, **options).fit(X, y)
    assert found.objective_ - best.objective_ <= found.duality_gap_ <= 1e-3 * found.objective_
    # Another regulariser has another optimum.
    assert abs(found.objective_ / best.objective_ - 1) < 1e-3


@KINDS
def test_sample_weight(make):
    structure, model, X, y = make(whole=False)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.0], size=len(X))
    rows = np.flatnonzero(weights)  # examples of weight 0 are absent
    present = [X[i] for i in rows], [y[i] for i in rows]
    options = {"shuffle": False, "max_iter": 3, "average": False}
    cases = [
        (PassiveAggressive(structure, C=0.1, **options), passive_aggressive, {"C": 0.1}),
        (
            PassiveAggressive(structure, C=0.1, loss="squared_hinge", **options),
            passive_aggressive,
            {"C": 0.1, "squared": True},
        ),
        (AROW(structure, r=2.0, **options), arow, {"r": 2.0}),
        (AdaGrad(structure, C=0.4, eta0=0.3, **options), adagrad, {"C": 0.4, "eta": 0.3}),
    ]
    for estimator, transcript, parameters in cases:
        visited = transcript(model, *present, 3, sample_weight=weights[rows], **parameters)
        check(estimator.fit(X, y, sample_weight=weights), model, visited[-1], atol=1e-12)


def test_closed_form_of_one_step():
    """One example, two labels: ‖δ‖² = 2‖x‖², the loss is 1 at w = 0."""
    x = np.array([[3.0, 4.0]])
    for C, tau in [(1.0, 1 / 50), (0.01, 0.01)]:
        model = PassiveAggressive("multiclass", C=C, average=False, max_iter=1)
        model.partial_fit(x, [1], classes=[0, 1])
        np.testing.assert_allclose(model.coef_, [-tau * x[0], tau * x[0]], rtol=1e-15)
        if C == 1:  # not held back: the margin is what it should be
            assert (model.coef_[1] - model.coef_[0]) @ x[0] == pytest.approx(1)
    model = PassiveAggressive("multiclass", C=0.5, loss="squared_hinge", average=False, max_iter=1)
    model.partial_fit(x, [1], classes=[0, 1])
    np.testing.assert_allclose(model.coef_[1], x[0] / 51, rtol=1e-15)


def test_multiclass_equals_scikit_learn():
    """Two labels, twice the binary problem: (w₁ − w₀)/2 with features of half the squared norm."""
    sklearn = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, size=40)
    ours = PassiveAggressive("multiclass", C=0.2, shuffle=False, average=False, max_iter=3)
    ours.fit(X, y)
    # Binary PA: w ← w + min(C, ℓ/‖x‖²) y x. Ours with d = w₁ − w₀: d ← d + 2·min(C', ℓ/2‖x‖²) x.
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.PassiveAggressiveClassifier(
            C=0.4, fit_intercept=False, shuffle=False, max_iter=3, tol=None
        ).fit(X, y)
    np.testing.assert_allclose(ours.coef_[1] - ours.coef_[0], theirs.coef_[0], atol=1e-12)


def test_passes_without_a_mistake_are_not_run():
    """Not so AROW, which nears the margin without ever reaching it."""
    cls = PassiveAggressive
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
    for average in (True, False):
        few = cls(max_iter=50, shuffle=False, average=average).fit(X, y)
        assert few.n_iter_ < 50
        assert few.history_[-1]["updates"] == 0
        going = cls(average=average)
        for _ in range(50):
            going.partial_fit(X, y, classes=["A", "B"])
        for name, block in going.coef_.items():
            np.testing.assert_allclose(few.coef_[name], block, atol=1e-13)


def test_refused_parameters():
    X, y = [[["a"]]], [["A"]]
    for model, message in [
        (PassiveAggressive(loss="log"), "loss must be"),
        (PassiveAggressive(C=0.0), "C must be a number above 0"),
        (AROW(r=0.0), "r must be a number above 0"),
        (AROW(r="1"), "r must be a number above 0"),
        (AdaGrad(eta0=-1.0), "eta0 must be"),
        (AdaGrad(eta0=np.inf), "eta0 must be"),
        (StructuredModel(solver="arow", temperature=1.0), "needs margin > 0 and temperature = 0"),
        (StructuredModel(solver="passive-aggressive", margin=0.0), "needs margin > 0"),
        (PassiveAggressive(beam=0), "beam must be a whole number"),
        (PassiveAggressive(beam=10**30), "beam must be a whole number"),
        (AROW(beam=2, update_at="late"), "update_at must be 'early'"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    with pytest.raises(CapabilityError, match="Multiclass has no beam search"):
        AROW("multiclass", beam=2).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("cls", [PassiveAggressive, AROW, AdaGrad])
def test_structures_written_in_python(cls):
    """Whole numbers, so that both sum to the same; ties are broken alike."""
    _, _, X, y = chain_data(whole=True)
    options = {"max_iter": 3, "random_state": 0}
    one = cls(**options).fit(X, y)
    two = cls(Exhaustive(Chain()), **options).fit(X, y)
    for name, block in one.coef_.items():
        np.testing.assert_allclose(two.coef_[name], block, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cls", [AROW, AdaGrad])
def test_warm_start_remembers_how_sure_it_is(cls):
    """Without averaging, two passes and two more are four."""
    _, _, X, y = chain_data(whole=False)
    options = {"average": False, "shuffle": False}
    whole = cls(max_iter=4, **options).fit(X, y)
    parts = cls(max_iter=2, warm_start=True, **options).fit(X, y).fit(X, y)
    for name, block in whole.coef_.items():
        np.testing.assert_array_equal(parts.coef_[name], block)


@pytest.mark.parametrize("cls", [PassiveAggressive, AROW, AdaGrad])
def test_unknown_labels(cls):
    """The loss is then against the best output that agrees with what is known."""
    _, _, X, y = chain_data(whole=False, n=30)
    holes = [
        [None if (i + t) % 4 == 0 else k for t, k in enumerate(row)] for i, row in enumerate(y)
    ]
    model = cls(max_iter=5, random_state=0).fit(X, holes)
    assert model.score(X, holes) > 0.5
