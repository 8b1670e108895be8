"""partial_fit: a pass at a time, bit for bit the same as fit."""

import pickle
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from structlearn.estimators import (
    AROW,
    CRF,
    HMM,
    AdaGrad,
    PassiveAggressive,
    StructuredModel,
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

LEARNERS = {
    "perceptron": (StructuredPerceptron, {}),
    "perceptron, last": (StructuredPerceptron, {"average": False}),
    "svm": (StructuredSVM, {"solver": "sgd", "C": 0.3}),
    "svm, large C": (StructuredSVM, {"solver": "sgd", "C": 10.0}),
    "svm, last": (StructuredSVM, {"solver": "sgd", "average": False, "C": 0.3}),
    "svm, constant": (StructuredSVM, {"solver": "sgd", "step": "constant", "C": 0.3}),
    "svm, constant, last": (StructuredSVM, {"solver": "sgd", "step": "constant", "average": False}),
    "crf": (CRF, {"solver": "sgd"}),
    "crf, last": (CRF, {"solver": "sgd", "average": False}),
    "crf, constant": (CRF, {"solver": "sgd", "step": "constant"}),
    "passive-aggressive": (PassiveAggressive, {"C": 0.1}),
    "passive-aggressive, last": (PassiveAggressive, {"average": False, "loss": "squared_hinge"}),
    "adagrad": (AdaGrad, {"C": 0.3}),
    "adagrad, last": (AdaGrad, {"C": 0.3, "average": False}),
    "adagrad, log loss": (AdaGrad, {"margin": 0.0, "temperature": 1.0}),
    "arow": (AROW, {}),
    "arow, last": (AROW, {"average": False, "r": 3.0}),
    "softmax-margin": (StructuredModel, {"solver": "sgd", "margin": 1, "temperature": 0.5}),
}


@pytest.mark.parametrize("make", [sequences, sentences, points])
@pytest.mark.parametrize("name", LEARNERS)
def test_equals_fit(name, make):
    cls, options = LEARNERS[name]
    X, y = make()
    if make is points:
        options = {**options, "structure": "multiclass"}
    if "tol" in cls().get_params():
        options = {**options, "tol": 0}
    going = cls(**options)
    for k in range(1, 8):
        going.partial_fit(X, y, classes=["D", "N", "V"] if k == 1 else None)
        whole = quietly(cls(max_iter=k, shuffle=False, **options), X, y)
        assert same_coef(going, whole), f"after {k} passes"
        assert going.n_iter_ == k
        if whole.n_iter_ == k:  # the perceptron skips passes without mistakes
            assert going.loss_curve_ == whole.loss_curve_
        assert going.objective_ == whole.objective_


def test_many_data_sets():
    """The same, where the weights after an earlier pass happen to be better."""
    for seed in range(12):
        X, y = sequences(n=8, seed=seed)
        for C in (0.01, 1.0, 10.0):
            going = StructuredSVM(solver="sgd", C=C, tol=0)
            for _ in range(5):
                going.partial_fit(X, y, classes=["D", "N", "V"])
            whole = StructuredSVM(solver="sgd", C=C, tol=0, max_iter=5, shuffle=False)
            assert same_coef(going, quietly(whole, X, y))


def test_does_not_shuffle():
    X, y = sequences()
    one = StructuredPerceptron(random_state=1).partial_fit(X, y, classes=["D", "N", "V"])
    two = StructuredPerceptron(random_state=2).partial_fit(X, y, classes=["D", "N", "V"])
    assert same_coef(one, two)


@pytest.mark.parametrize("name", [*LEARNERS, "hmm"])
@pytest.mark.parametrize(
    ("batch", "weights"),
    [([[["a"], ["b"]], [["new"]]], [0, 0]), ([], None), ((), None), ([], [])],
    ids=["weights of zero", "list", "tuple", "weights"],
)
def test_a_batch_without_examples_changes_nothing(name, batch, weights):
    cls, options = (HMM, {}) if name == "hmm" else LEARNERS[name]
    X, y = sentences()
    labels = [["N", "V"], ["V"]][: len(batch)]
    going, plain = cls(**options), cls(**options)
    assert going.partial_fit(batch, labels, ["D", "N", "V"], sample_weight=weights) is going
    with pytest.raises(NotFittedError):
        going.predict(X)
    for model in (going, plain):
        model.partial_fit(X[:5], y[:5], classes=["D", "N", "V"])
    before = pickle.dumps(going.__dict__)
    going.partial_fit(batch, labels, sample_weight=weights)
    assert pickle.dumps(going.__dict__) == before
    for model in (going, plain):
        model.partial_fit(X[5:], y[5:])
    assert same_outputs(going.predict(X), plain.predict(X))
    for a, b in zip(going.predict_marginals(X), plain.predict_marginals(X), strict=True):
        assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="sample_weight has shape"):
        going.partial_fit(X, y, sample_weight=[0.0])


def test_goes_on_from_fit():
    X, y = sequences()
    model = StructuredPerceptron(max_iter=2, shuffle=False).fit(X, y)
    model.partial_fit(X, y)
    assert same_coef(model, StructuredPerceptron(max_iter=3, shuffle=False).fit(X, y))
    assert model.n_iter_ == 3


def test_fit_begins_anew():
    X, y = sequences()
    model = StructuredPerceptron(random_state=0).partial_fit(X, y, classes=["D", "N", "V"])
    assert same_coef(model.fit(X, y), StructuredPerceptron(random_state=0).fit(X, y))


def test_batches():
    """One pass over everything is one pass over the batches, for a learner without N."""
    X, y = sequences()
    whole = StructuredPerceptron(max_iter=1, shuffle=False).fit(X, y)
    parts = StructuredPerceptron()
    for begin in range(0, len(X), 6):
        parts.partial_fit(X[begin : begin + 6], y[begin : begin + 6], classes=["D", "N", "V"])
    assert same_coef(whole, parts)


@pytest.mark.parametrize("all_possible_states", [False, True])
@pytest.mark.parametrize("average", [False, True])
def test_new_features_grow_the_model(all_possible_states, average):
    """As if their weights had been there, at zero, from the start."""
    X, y = sentences()
    late = [[[*token, f"{token[1]}, late"] for token in x] for x in X[15:]]
    options = {"all_possible_states": all_possible_states, "average": average}
    model = StructuredPerceptron(**options)
    model.partial_fit(X[:15], y[:15], classes=["D", "N", "V"])
    before, n_weights = model.feature_names_["label"], model._layout.n_weights
    model.partial_fit(late, y[15:])
    after = model.feature_names_["label"]
    assert after[: len(before)] == before
    assert any(name.endswith(", late") for name in after[len(before) :])
    assert model._layout.n_weights > n_weights
    assert model.coef_["label"].shape == (3, len(after))
    whole = StructuredPerceptron(
        max_iter=1, shuffle=False, all_possible_states=True, average=average
    )
    whole.fit([*X[:15], *late], y)
    assert whole.feature_names_["label"] == after
    if all_possible_states:
        assert same_coef(model, whole)
    elif not average:
        # A pair's weight exists from the call on that saw it; until then the perceptron could not
        # lower it. What it can say exactly:
        column = after.index("bias")
        assert model.coef_["label"][:, column].any()


def test_new_labels_of_a_known_feature():
    """A pair first seen in a later call gets its weight then, next to the old ones."""
    model = StructuredPerceptron(average=False, boundaries=False)
    model.partial_fit([[["a"]], [["b"]]], [["N"], ["V"]], classes=["N", "V"])
    exists = model._layout.coef(np.ones(model._layout.n_weights))["label"]
    np.testing.assert_array_equal(exists, [[1, 0], [0, 1]])
    old = model.coef_["label"]
    model.partial_fit([[["a"]]], [["V"]])
    exists = model._layout.coef(np.ones(model._layout.n_weights))["label"]
    np.testing.assert_array_equal(exists, [[1, 0], [1, 1]])
    assert old[1, 1] == model.coef_["label"][1, 1]
    assert model.coef_["label"][1, 0] == 1


def test_first_call_needs_classes():
    X, y = sequences()
    model = StructuredPerceptron()
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X, y)
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=["V", "D", "N", "D"])
    assert model.classes_.tolist() == ["D", "N", "V"]
    model.partial_fit(X, y, classes=np.array(["N", "V", "D"]))
    with pytest.raises(ValueError, match="classes must be the same in every call"):
        model.partial_fit(X, y, classes=["D", "N"])


def test_classes_that_have_not_occurred_yet():
    X, y = sequences()
    model = StructuredSVM(solver="sgd", C=0.1).partial_fit(X, y, classes=["D", "N", "V", "X"])
    assert model.coef_["transition"].shape == (4, 4)
    with pytest.raises(ValueError, match="example 0, position 0: label 'Y' is not among"):
        model.partial_fit(X, [["Y"] * len(x) for x in X])


def test_batch_solvers_refuse():
    X, y = sequences()
    for model in (CRF(), CRF(solver="lbfgs"), StructuredModel(temperature=1)):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as caught:
            model.partial_fit(X, y, classes=["D", "N", "V"])
        told = str(caught.value.__cause__)
        assert re.match(r"partial_fit needs an online learner.*solver='sgd'", told)
        assert not hasattr(model, "classes_")
    # Which solver it is, is checked when it is called, as at fit.
    with pytest.raises(ValueError, match="solver must be one of"):
        CRF(solver="newton").partial_fit(X, y, classes=["D", "N", "V"])


def test_failure_leaves_the_model_as_it_was():
    X, y = sentences()
    model = StructuredPerceptron().partial_fit(X, y, classes=["D", "N", "V"])
    before, names = model.predict(X), list(model.feature_names_["label"])
    coef = model.coef_
    bad = [[["new", "w=dog"], ["other"]]]
    for X_bad, y_bad, message in [
        (bad, [["D"]], "y has 1 labels, X has 2 positions"),
        (bad, [["D", "Q"]], "'Q' is not among"),
        ([[{"new": np.nan}]], [["D"]], "features must be finite"),
        ([np.ones((2, 3))], [["D", "N"]], "a feature in a list is a string"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X_bad, y_bad)
        assert model.feature_names_["label"] == names
        assert same_outputs(model.predict(X), before)
        np.testing.assert_array_equal(model.coef_["label"], coef["label"])
    # And it goes on as if nothing had happened.
    fresh = StructuredPerceptron().partial_fit(X, y, classes=["D", "N", "V"]).partial_fit(X, y)
    assert same_coef(model.partial_fit(X, y), fresh)


def test_no_warning_that_one_pass_is_not_enough():
    """pytest turns warnings into errors."""
    X, y = sequences()
    StructuredSVM(solver="sgd").partial_fit(X, y, classes=["D", "N", "V"]).partial_fit(X, y)
    CRF(solver="sgd").partial_fit(X, y, classes=["D", "N", "V"])


def test_sample_weight():
    X, y = sequences()
    weights = np.arange(len(X)) % 3
    going = StructuredSVM(solver="sgd", C=0.3, tol=0)
    for _ in range(3):
        going.partial_fit(X, y, classes=["D", "N", "V"], sample_weight=weights)
    whole = StructuredSVM(solver="sgd", C=0.3, tol=0, max_iter=3, shuffle=False)
    assert same_coef(going, quietly(whole, X, y, sample_weight=weights))
