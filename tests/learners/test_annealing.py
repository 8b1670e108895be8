"""Annealing finds the SVM's optimum and proves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.estimators import StructuredModel, StructuredSVM
from structlearn.learners.annealing import Annealing
from structlearn.learners.base import Settings
from tests.learners.convex_reference import Enumerated
from tests.learners.quasi_newton_problems import learn, problem_of, words_problem
from tests.learners.test_certificates import KINDS, data


def svm(**options):
    return Settings(**{"margin": 1.0, "temperature": 0.0, "max_iter": 5000, "tol": 1e-5, **options})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_optimum(kind, C):
    _structure, _X, _y, *enumerated = data(kind)
    optimum = Enumerated(*enumerated, C=C, margin=1, temperature=0).optimum()
    found = learn(Annealing(svm(C=C)), problem_of(kind))
    assert found.converged
    assert found.gap <= 1e-5 * found.objective
    assert found.objective == pytest.approx(optimum, rel=2e-5)
    assert found.history[-1]["temperature"] < found.history[0]["temperature"]


@given(
    kind=st.sampled_from(["multiclass", "chain", "lattice"]),
    seed=st.integers(0, 20),
    C=st.floats(0.01, 5),
    iterations=st.integers(1, 30),
    cooling=st.sampled_from([0.05, 0.3, 0.8]),
    weighted=st.booleans(),
)
@settings(max_examples=8, deadline=None, derandomize=True, database=None)
def test_gap_is_a_bound(kind, seed, C, iterations, cooling, weighted):
    _structure, X, _y, *enumerated = data(kind, seed)
    weights = np.random.default_rng(seed).uniform(0, 2, size=len(X)) if weighted else None
    reference = Enumerated(*enumerated, C=C, margin=1, temperature=0, weights=weights)
    optimum = reference.optimum()
    problem = problem_of(kind, seed, sample_weight=weights)
    found = learn(Annealing(svm(C=C, max_iter=iterations, tol=0.0), cooling=cooling), problem)
    slack = 1e-5 * optimum  # the reference's own
    assert optimum - slack <= found.objective <= optimum + found.gap + slack
    s = found.objective - problem.objective(found.weights, C=C, margin=1, temperature=0)[0]
    assert abs(s) <= 1e-9 * optimum
    for record in found.history:
        assert record["dual"] <= optimum + slack


@pytest.mark.parametrize("cost", ["hamming", "hamming-mean", 2 - 2 * np.eye(4)])
def test_any_cost(cost):
    X, y = sentences()
    problem = StructuredSVM(cost=cost).problem(X, y)
    found = learn(Annealing(svm(C=0.5, tol=1e-3)), problem)
    assert found.converged
    reference = StructuredSVM(cost=cost, C=0.5, tol=5e-3, max_iter=3000, random_state=0).fit(X, y)
    assert found.objective <= reference.objective_ * (1 + 1e-3)
    assert found.objective >= (reference.objective_ - reference.duality_gap_) * (1 - 1e-9)


def sentences(n=30, seed=0):
    rng = np.random.default_rng(seed)
    words = [rng.integers(0, 12, size=rng.integers(1, 6)) for _ in range(n)]
    X = [[[f"w{k}", f"s{k % 3}"] for k in row] for row in words]
    y = [[int(k) for k in (row + rng.integers(0, 2, size=len(row))) % 4] for row in words]
    return X, y


def test_a_cost_for_the_right_label_and_another_margin():
    structure, X, y, phi, gold, cost = data("multiclass")
    problem = StructuredModel(structure, cost=1.5 - np.eye(3)).problem(X, y)
    found = learn(Annealing(svm(C=0.3, margin=2.0)), problem)
    costs = [c + 0.5 for c in cost]
    optimum = Enumerated(phi, gold, costs, C=0.3, margin=2, temperature=0).optimum()
    assert found.objective == pytest.approx(optimum, rel=2e-5)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_what_was_reached_is_returned_wherever_it_ends(iterations):
    """In the middle of a stage too, where nothing has been looked at yet."""
    problem = words_problem()
    s = svm(C=0.1, tol=1e-3, max_iter=iterations)
    found = learn(Annealing(s), problem)
    assert not found.converged
    assert found.weights.any()
    value = problem.objective(found.weights, C=0.1, margin=1, temperature=0)[0]
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert found.gap <= found.objective
    asked = learn(
        Annealing(svm(C=0.1, tol=1e-3)), problem, callbacks=lambda r: r["iteration"] == iterations
    )
    np.testing.assert_array_equal(asked.weights, found.weights)
    assert (asked.stopped, asked.objective, asked.gap) == (True, found.objective, found.gap)


def test_interrupted_in_the_middle_of_a_stage():
    problem = words_problem()
    reached = []

    def interrupt(record):
        reached.append(record["weights"]().copy())
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    found = learn(Annealing(svm(C=0.1, tol=1e-3)), problem, callbacks=interrupt)
    assert found.interrupted
    assert found.weights.any()
    np.testing.assert_array_equal(found.weights, reached[-1])


def test_one_label():
    """Nothing to learn: the gradient is 0 at every temperature."""
    X = [np.ones((3, 2)), np.ones((1, 2))]
    model = StructuredSVM(solver="annealing").fit(X, [["a"] * 3, ["a"]])
    assert (model.objective_, model.duality_gap_) == (0.0, 0.0)


def test_records_threads_and_going_on():
    problem = words_problem()
    found = learn(Annealing(svm(tol=1e-3)), problem)
    two = learn(Annealing(svm(tol=1e-3)), problem, n_jobs=2)
    np.testing.assert_array_equal(found.weights, two.weights)
    values = [r["objective"] for r in found.history if "objective" in r]
    assert len(values) > len(found.history) / 2
    assert values == sorted(values, reverse=True)
    duals = [r["dual"] for r in found.history]
    assert duals == sorted(duals)
    calls = [r["oracle_calls"] for r in found.history]
    assert calls == sorted(set(calls))
    stopped = learn(Annealing(svm(tol=1e-3)), problem, callbacks=lambda r: r["iteration"] == 3)
    assert (stopped.stopped, stopped.converged, len(stopped.history)) == (True, False, 3)
    again = learn(Annealing(svm(tol=1e-3)), problem, start=found.state)
    assert again.converged
    assert again.objective <= found.objective


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.5}, "ends at temperature 0, not 0.5"),
        ({"l1": 1.0}, "no l1 term"),
        ({"convex": False}, "needs all labels"),
        ({"margin": 0.0}, "needs a margin > 0"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        Annealing(svm(**options))


def test_more_refusals():
    with pytest.raises(ValueError, match="cooling between 0 and 1"):
        Annealing(svm(), cooling=1.0)
    problem = StructuredSVM(cost="zero-one").problem(*sentences())
    with pytest.raises(ValueError, match="cannot follow the zero-one cost"):
        learn(Annealing(svm()), problem)
