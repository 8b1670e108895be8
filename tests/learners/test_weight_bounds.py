"""AdaGrad and AROW with weights that must not be negative, step for step in NumPy."""

import math

import numpy as np
import pytest

from structlearn import StructuredModel
from structlearn.fitting.learner_registry import LearningParameters
from structlearn.fitting.learning import learn
from tests.learners.cone_problems import checkered

pytestmark = pytest.mark.filterwarnings(
    "ignore::structlearn.exceptions.InexactInferenceWarning",
)


@pytest.fixture(scope="module")
def problem():
    """Checkerboards whose neighbours differ: Potts weights want to be negative."""
    X, y = checkered(n=6, potts=True, labels=3)
    model = StructuredModel("grid", submodular=True, solver="sgd")
    found = model.problem(X, y)
    assert found.cone.bounds
    return found


def dense_gradient(problem, i, w):
    loss, r = problem.loss(i, w, 1.0, 0.0)
    g = np.zeros(problem.n_weights)
    problem.scatter(i, r, 1.0, g)
    return loss, g


def visited(problem, step, passes):
    """Return the weights after every step, each ending at the nearest point of the cone."""
    w, squares = np.zeros(problem.n_weights), np.zeros(problem.n_weights)
    seen = []
    for _ in range(passes):
        for i in range(problem.n_examples):
            loss, g = dense_gradient(problem, i, w)
            w = problem.cone.project(step(w, squares, loss, g))
            seen.append(w)
    return seen


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("C", [0.5, math.inf])
def test_adagrad(problem, C, average):
    decay = 0.3 / (C * problem.n_examples)

    def step(w, squares, loss, g):
        squares += g * g
        H = 0.2 + np.sqrt(squares)
        return (H * w - 0.3 * g) / (H + decay)

    seen = visited(problem, step, 4)
    free = [w for w in seen if (problem.cone.products(w) == 0).any()]
    assert free, "the bound was never felt"
    found = learn(
        LearningParameters(solver="adagrad", C=C, eta0=0.3, delta=0.2, max_iter=4, average=average,
                   shuffle=False),
        problem,
    )  # fmt: skip
    expected = np.mean(seen, axis=0) if average else seen[-1]
    np.testing.assert_allclose(found.weights, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("average", [True, False])
def test_arow(problem, average):
    r = 2.0

    def step(w, squares, loss, g):
        if loss <= 0 or not g.any():
            return w
        variance = 1.0 / (1.0 + squares / r)
        moved = w - loss / (g * g @ variance + r) * variance * g
        squares += g * g
        return moved

    seen = visited(problem, step, 4)
    assert any((problem.cone.products(w) == 0).any() for w in seen[6:])
    found = learn(
        LearningParameters(solver="arow", r=r, max_iter=4, average=average, shuffle=False),
        problem,
    )
    expected = np.mean(seen, axis=0) if average else seen[-1]
    np.testing.assert_allclose(found.weights, expected, rtol=1e-10, atol=1e-12)


def test_inequalities_of_several_weights_are_refused():
    X, y = checkered(n=3)
    model = StructuredModel("grid", submodular=True, solver="adagrad")
    with pytest.raises(ValueError, match="cannot keep the weights submodular") as told:
        model.fit(X, y)
    assert "arow" not in str(told.value)
