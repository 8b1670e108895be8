"""sample_weight, class_weight and warm_start."""

import numpy as np
import pytest
from scipy import sparse

from structlearn.estimators import CRF, HMM, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import ConvergenceWarning
from tests.estimators.estimator_data import points, quietly, same_coef, sentences, sequences
from tests.estimators.test_partial_fit import LEARNERS


def blocks(model):
    return model.coef_ if isinstance(model.coef_, dict) else {"label": model.coef_}


def assert_close(a, b, atol):
    a, b = blocks(a), blocks(b)
    assert set(a) == set(b)
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=atol)


# -- sample_weight at convex optima ---------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [CRF(tol=1e-13), CRF(l1=0.5, tol=1e-13), CRF(margin=1, tol=1e-13)]
)
def test_weight_two_is_the_example_twice(model):
    X, y = sequences()
    weights = np.ones(len(X))
    weights[[1, 4]] = 2
    weighted = quietly(model.__class__(**model.get_params()), X, y, sample_weight=weights)
    twice = quietly(model, [*X, X[1], X[4]], [*y, y[1], y[4]])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-10)
    assert_close(weighted, twice, 1e-5)
    assert abs(weighted.objective_ - quietly(model, X, y).objective_) > 0.1


@pytest.mark.parametrize("structure", ["chain", "multiclass"])
def test_weight_zero_is_absence(structure):
    X, y = sequences() if structure == "chain" else points()
    weights = np.ones(len(X))
    weights[-6:] = 0
    weighted = CRF(structure, tol=1e-13).fit(X, y, sample_weight=weights)
    without = CRF(structure, tol=1e-13).fit(X[:-6], y[:-6])
    assert weighted.objective_ == pytest.approx(without.objective_, rel=1e-10)
    assert_close(weighted, without, 1e-5)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_weight_zero_is_absence_bit_for_bit(name, shuffle):
    """For online learners too, whatever the order: also of labels and features seen only there."""
    cls, options = LEARNERS[name]
    X, y = sentences()
    X, y = [[["only here"]], *X], [["ODD"], *y]
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    weights[0] = 0
    at = np.flatnonzero(weights)
    make = lambda: cls(**options, max_iter=3, shuffle=shuffle, random_state=0)  # noqa: E731
    weighted = quietly(make(), X, y, sample_weight=weights)
    removed = quietly(
        make(), [X[i] for i in at], [y[i] for i in at], sample_weight=weights[at]
    )  # fmt: skip
    assert same_coef(weighted, removed)
    assert weighted.feature_names_ == removed.feature_names_
    assert weighted.classes_.tolist() == removed.classes_.tolist()


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(8, 2)),
        sparse.random_array((8, 3), density=0.5, rng=0, format="csr"),
        [["a"], ["b"], ["a", "c"], ["c"], ["d"], ["a"], ["b"], ["d"]],
        None,
    ],
    ids=["array", "sparse", "tokens", "frame"],
)
def test_absent_rows_of_every_kind(X):
    y = np.array(["a", "b", "a", "b", "c", "a", "b", "b"])
    if X is None:
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame({"a": np.arange(8.0), "b": np.ones(8)})
    weights = np.array([1, 2, 0, 1, 0, 1, 1, 3.0])
    at = np.flatnonzero(weights)
    some = X.iloc[at] if hasattr(X, "iloc") else [X[i] for i in at] if type(X) is list else X[at]
    weighted = CRF("multiclass").fit(X, y, sample_weight=weights)
    removed = CRF("multiclass").fit(some, y[at], sample_weight=weights[at])
    assert same_coef(weighted, removed)
    assert weighted.classes_.tolist() == ["a", "b"]


def test_absent_examples_keep_the_numbers_of_the_others():
    """What is wrong with an example is said by its number in X; an absent one is not looked at."""
    X, y = sequences()
    weights = np.ones(len(X))
    weights[[0, 2]] = 0
    y[5] = y[5][:-1]
    for model in (CRF(), HMM()):
        with pytest.raises(ValueError, match="example 5: y has"):
            model.fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError, match="X has 20 examples, y has 19"):
            model.fit(X[:20], y[:19], sample_weight=weights[:20])
        with pytest.raises(ValueError, match="y is needed"):
            model.fit(X, None, sample_weight=weights)
    weights[5] = 0
    CRF(max_iter=1, tol=1e9).fit(X, y, sample_weight=weights)


def test_weights_of_the_hinge():
    """At the optimum of the hinge too: each objective is within the other's gap."""
    X, y = sequences()
    weights = np.ones(len(X))
    weights[[1, 4]], weights[-5:] = 2, 0
    options = {"C": 0.1, "tol": 1e-3, "max_iter": 1 << 14, "random_state": 0}
    weighted = StructuredSVM(**options).fit(X, y, sample_weight=weights)
    twice = StructuredSVM(**options).fit([*X[:-5], X[1], X[4]], [*y[:-5], y[1], y[4]])
    difference = weighted.objective_ - twice.objective_
    assert -twice.duality_gap_ <= difference <= weighted.duality_gap_
    assert max(twice.duality_gap_, weighted.duality_gap_) <= 1e-3 * weighted.objective_


def test_all_weights_scale_like_C():
    X, y = sequences()
    weighted = CRF(C=0.5, tol=1e-13).fit(X, y, sample_weight=np.full(len(X), 4.0))
    assert_close(weighted, CRF(C=2.0, tol=1e-13).fit(X, y), 1e-5)
    one_number = CRF(C=0.5, tol=1e-13).fit(X, y, sample_weight=4.0)
    assert same_coef(weighted, one_number)


def test_weight_one_is_no_weight():
    X, y = sequences()
    for model in (CRF, StructuredPerceptron):
        weighted = model(random_state=0).fit(X, y, sample_weight=np.ones(len(X)))
        assert same_coef(weighted, model(random_state=0).fit(X, y))


def test_objective_counts_the_weights():
    X, y = sequences()
    weights = np.random.default_rng(0).uniform(0, 2, size=len(X))
    model = CRF(C=0.7).fit(X, y, sample_weight=weights)
    problem = model.problem(X, y)
    w = problem.layout.pack(model.coef_)
    losses = [problem.loss(i, w, 0, 1)[0] for i in range(len(X))]
    assert model.objective_ == pytest.approx(0.5 * w @ w + 0.7 * weights @ losses, rel=1e-12)


def test_score_takes_weights():
    X, y = sequences()
    model = CRF().fit(X, y)
    right = [np.sum(p == np.array(row)) for p, row in zip(model.predict(X), y, strict=True)]
    lengths = [len(row) for row in y]
    assert model.score(X, y) == pytest.approx(sum(right) / sum(lengths))
    weights = np.arange(len(X))
    expected = (weights @ right) / (weights @ lengths)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(expected)


# -- class_weight ---------------------------------------------------------------------------------


def test_class_weight_is_the_mean_of_the_labels():
    X, y = sequences()
    table = {"D": 3.0, "N": 0.5}  # V: 1
    means = [np.mean([table.get(k, 1.0) for k in row]) for row in y]
    by_class = CRF(class_weight=table, tol=1e-12).fit(X, y)
    by_example = CRF(tol=1e-12).fit(X, y, sample_weight=means)
    assert same_coef(by_class, by_example)
    both = CRF(class_weight=table, tol=1e-12).fit(X, y, sample_weight=np.full(len(X), 2.0))
    doubled = CRF(tol=1e-12).fit(X, y, sample_weight=2 * np.array(means))
    assert same_coef(both, doubled)


def test_balanced():
    X, y = sequences()
    labels = [k for row in y for k in row]
    table = {k: len(labels) / (3 * labels.count(k)) for k in ("D", "N", "V")}
    assert len(set(table.values())) > 1
    balanced = StructuredPerceptron(class_weight="balanced", random_state=0).fit(X, y)
    by_hand = StructuredPerceptron(class_weight=table, random_state=0).fit(X, y)
    assert_close(balanced, by_hand, 1e-12)


def test_unknown_labels_have_no_class_weight():
    X, y = sequences()
    y[3] = [None] * len(y[3])
    y[4] = ["D", *[None] * (len(y[4]) - 1)]
    model = CRF(class_weight={"D": 5.0})
    problem = model.problem(X, y)
    assert problem.sample_weight[3] == 1.0
    assert problem.sample_weight[4] == 5.0


# -- warm_start -----------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["chain", "multiclass"])
def test_warm_start_needs_fewer_iterations(structure):
    X, y = sequences(n=60) if structure == "chain" else points()
    model = CRF(structure, warm_start=True, tol=1e-9)
    cold = model.fit(X, y).n_iter_
    assert cold > 5
    assert model.fit(X, y).n_iter_ == 1
    # A neighbouring problem, from the solution and from nothing.
    model.set_params(C=1.2)
    warm = model.fit(X, y).n_iter_
    fresh = CRF(structure, C=1.2, tol=1e-9).fit(X, y)
    assert warm < fresh.n_iter_
    assert_close(model, fresh, 1e-3)
    model.set_params(warm_start=False)
    assert model.fit(X, y).n_iter_ == fresh.n_iter_


def test_warm_start_of_the_subgradient():
    X, y = sequences(n=40)
    model = StructuredSVM(
        warm_start=True, C=0.1, solver="sgd", tol=2e-3, max_iter=1 << 14, random_state=0
    )
    cold = model.fit(X, y).n_iter_
    first_losses = model.loss_curve_[0]
    assert model.fit(X, y).n_iter_ < cold / 4
    assert model.loss_curve_[0] < 0.6 * first_losses


def test_warm_start_of_the_perceptron():
    """The first example is met with the weights of the last fit."""
    X, y = sequences()
    model = StructuredPerceptron(warm_start=True, shuffle=False, max_iter=1).fit(X, y)
    w = model.coef_
    one = StructuredPerceptron(warm_start=True, shuffle=False, average=False, max_iter=1)
    one.fit(X, y)
    before = one.coef_
    one.fit(X, y)
    by_hand = StructuredPerceptron(shuffle=False, average=False, max_iter=2).fit(X, y)
    assert same_coef(one, by_hand)  # unaveraged, it just goes on
    assert not np.array_equal(before["label"], one.coef_["label"])
    model.fit(X, y)
    assert not np.array_equal(w["label"], model.coef_["label"])


def test_warm_start_after_another_solver():
    """Weights found by L-BFGS are where the stochastic gradient begins."""
    X, y = sequences(n=40)
    model = CRF(warm_start=True, tol=1e-10).fit(X, y)
    optimum = model.objective_
    model.set_params(solver="sgd", max_iter=1, random_state=0, tol=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    cold = quietly(CRF(solver="sgd", max_iter=1, random_state=0, tol=0), X, y)
    assert model.objective_ - optimum < 0.2 * (cold.objective_ - optimum)


def test_warm_start_with_new_features():
    X = [[["a"], ["b"]], [["b"], ["a"]]]
    y = [["N", "V"], ["V", "N"]]
    model = CRF(warm_start=True, tol=1e-12).fit(X, y)
    X, y = [*X, [["c"], ["a"]]], [*y, ["V", "N"]]
    model.fit(X, y)
    assert model.feature_names_["label"] == ["a", "b", "c"]
    assert_close(model, CRF(tol=1e-12).fit(X, y), 1e-5)


def test_warm_start_with_other_classes():
    X, y = sequences()
    model = CRF(warm_start=True).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"warm_start needs the same classes as before.*got"):
        model.fit(X, [["D"] * len(x) for x in X])
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(X), before, strict=True))


def test_weights_of_the_constant_step():
    X, y = sequences()
    model = StructuredModel(step="constant", max_iter=2, shuffle=False, average=False)
    with pytest.raises(ValueError, match="every example has weight 0"):
        model.fit(X, y, sample_weight=np.zeros(len(X)))
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(X))
    model.fit(X, y, sample_weight=weights)
    problem = model.problem(X, y)
    w = np.zeros(problem.n_weights)
    factor = 1 - 1 / (2 * model.C * len(X))
    for _ in range(2):
        for i, weight in enumerate(weights):
            _, r = problem.loss(i, w, model.margin, model.temperature)
            problem.scatter(i, r, -weight, w)
            w *= factor
    np.testing.assert_allclose(model._weights, w, rtol=1e-12, atol=1e-15)
