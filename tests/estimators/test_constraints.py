"""Constraints in estimators, in training and prediction: masks of weights, of scores, rows."""

import warnings

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron, StructuredSVM
from structlearn.constraints import Label, Part, at_least, at_most, exactly, forbid, require
from structlearn.exceptions import CapabilityError


def sequences(n=25, seed=0):
    """Sequences with exactly one "B" each; where it is can only be told by comparing positions."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(3, 7))
        features = rng.normal(size=(length, 2))
        labels = np.full(length, "A")
        labels[features[:, 0].argmax()] = "B"
        X.append(features)
        y.append(labels)
    return X, y


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        StructuredPerceptron(max_iter=8, random_state=0),
        StructuredSVM(max_iter=20, random_state=0),
        StructuredSVM(solver="one-slack", tol=0.1, random_state=0),
    ],
    ids=["perceptron", "frank-wolfe", "one-slack"],
)
def test_a_count_is_kept_in_training_and_prediction(learner):
    X, y = sequences()
    model = learner.set_params(constraints=[exactly(1, Label("B"))])
    fitted(model, X[:15], y[:15])
    predicted = model.predict(X[15:])
    assert all((labels == "B").sum() == 1 for labels in predicted)
    assert model.score(X[15:], y[15:]) > 0.9
    assert [how.split(" (")[0] for _, how in model.constraints_] == ["rows of an integer program"]
    kbest = model.predict_kbest(X[15:16], 2)[0]
    assert all((labels == "B").sum() == 1 for _, labels in kbest)


def test_masks_of_weights_and_of_scores():
    X, y = sequences()
    y = [np.append(labels, "C") for labels in y]
    X = [np.vstack([features, [[0.0, 0.0]]]) for features in X]
    constraints = [
        require(Label("C", at=-1)),
        forbid(Part("transition", "C", "A"), Part("transition", "C", "B")),
    ]
    model = CRF(constraints=constraints, max_iter=30, random_state=0).fit(X, y)
    assert [how.split(" (")[0] for _, how in model.constraints_] == [
        "mask of scores",
        "mask of weights",
    ]
    assert all(labels[-1] == "C" for labels in model.predict(X))
    np.testing.assert_allclose([p[-1, 2] for p in model.predict_marginals(X)], 1.0)


def test_forbid_is_short_for_constraints():
    X, y = sequences()
    short = CRF(forbid={"transition": [("B", "B")]}, max_iter=10, random_state=0).fit(X, y)
    long = CRF(constraints=[forbid(Part("transition", "B", "B"))], max_iter=10, random_state=0).fit(
        X, y
    )
    np.testing.assert_array_equal(short.coef_["transition"], long.coef_["transition"])
    assert [how for _, how in short.constraints_] == ["mask of weights"]
    assert type(long.structure_).__name__ == "Chain", "the native learners do this"


def test_a_crf_says_what_it_cannot_do():
    X, y = sequences()
    with pytest.raises(CapabilityError, match=r"at least 1 of label 'B'.*structured SVM"):
        CRF(constraints=[at_least(1, Label("B"))], random_state=0).fit(X, y)


def test_gold_that_breaks_a_constraint_is_named():
    X, y = sequences()
    y[3][:] = "B"
    with pytest.raises(ValueError, match="example 3: the output breaks a constraint: at most 1"):
        StructuredSVM(constraints=[at_most(1, Label("B"))], random_state=0).fit(X, y)


def test_unknown_labels_are_filled_in_within_the_constraints():
    X, y = sequences()
    y = [labels.tolist() for labels in y]
    y[0] = [None] * len(y[0])
    model = StructuredSVM(
        constraints=[exactly(1, Label("B"))], solver="sgd", max_iter=5, random_state=0
    )
    fitted(model, X, y)
    assert (model.predict(X[:1])[0] == "B").sum() == 1


def test_one_label_an_example():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 3
    model = StructuredSVM("multiclass", constraints=[forbid(Label(7))], random_state=0)
    with pytest.raises(ValueError, match="forbid"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="has one label"):
        StructuredSVM("multiclass", constraints=[at_most(1, Label(1))], random_state=0).fit(X, y)


def test_what_is_no_constraint():
    with pytest.raises(ValueError, match=r"contains 3, .* see structlearn\.constraints"):
        CRF(constraints=[3], random_state=0).fit(*sequences())
    with pytest.raises(ValueError, match="column 1: 'no' is not a constraint"):
        CRF(constraints=["no B after B"], random_state=0).fit(*sequences())
