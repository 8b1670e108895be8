"""Dual coordinate ascent: the same optima as other solvers, and gaps that are proofs."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.estimators import CRF
from structlearn.exceptions import ConvergenceWarning
from structlearn.learners.base import Progress, Settings
from structlearn.learners.dual_ascent import DualAscent, largest_eigenvalue
from structlearn.problem import PartVector
from structlearn.structures import Chain
from tests.learners.convex_reference import Enumerated
from tests.learners.smooth_problems import (
    PROBLEMS,
    logistic_regression,
    same_bits_on_every_instruction_set,
    sequences,
)
from tests.learners.test_certificates import KINDS, check, cost_for, data, quietly


def run(problem, *, C=0.7, tol=1e-9, max_iter=200, start=None, seed=0, n_jobs=1, **options):
    options = {"margin": 0.0, "temperature": 1.0, **options}
    learner = DualAscent(
        Settings(C=C, tol=tol, max_iter=max_iter, **options),
        random_state=np.random.default_rng(seed),
    )
    return learner.run(problem, start=start, progress=Progress(), n_jobs=n_jobs)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: type(p[0]).__name__ + str(p[0]))
def test_all_solvers_reach_the_same_objective(problem):
    structure, X, y = problem
    common = {"C": 0.6, "tol": 1e-5, "max_iter": 2000, "random_state": 0}
    objectives = {}
    for solver in ("auto", "dual", "lbfgs"):
        model = CRF(structure, solver=solver, **common).fit(X, y)
        assert model.duality_gap_ <= 1e-5 * model.objective_
        objectives[solver] = model.objective_
    assert objectives["dual"] == pytest.approx(objectives["lbfgs"], rel=2e-5)
    assert objectives["auto"] == pytest.approx(objectives["lbfgs"], rel=2e-5)


@pytest.mark.parametrize("C", [0.05, 0.5])
def test_independent_positions_are_logistic_regression(C):
    rows, expected, coef = logistic_regression(C)
    model = CRF(Chain(order=0), C=C, solver="dual", tol=1e-8, boundaries=False, random_state=0)
    model.fit(*rows)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(model.coef_["label"], coef, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("margin", "temperature"), [(0, 1), (1, 0.5), (1, 2.0)])
def test_gap_against_enumeration(kind, margin, temperature):
    structure, X, y, *enumerated = data(kind)
    reference = Enumerated(*enumerated, C=0.8, margin=margin, temperature=temperature)
    optimum = reference.optimum()
    for max_iter in (1, 2, 3, 10, 1000):
        model = CRF(
            structure, C=0.8, margin=margin, temperature=temperature, cost=cost_for(kind),
            solver="dual", tol=1e-8, max_iter=max_iter, random_state=max_iter,
        )  # fmt: skip
        quietly(model, X, y)
        check(model, reference, optimum)
    assert model.duality_gap_ <= 1e-8 * model.objective_


@given(
    seed=st.integers(0, 10**6),
    C=st.floats(0.01, 30.0),
    margin=st.sampled_from([0.0, 1.0]),
    temperature=st.sampled_from([0.3, 1.0, 3.0]),
    cost=st.sampled_from(["hamming", "zero-one"]),
    max_iter=st.integers(1, 6),
    weighted=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_gap_is_never_too_small(seed, C, margin, temperature, cost, max_iter, weighted):
    """The dual never lies above the optimum, however few the passes and however large C."""
    rng = np.random.default_rng(seed)
    X, y = sequences(rng, n=6, d=2, K=2, longest=4)
    weight = rng.integers(0, 3, size=6).astype(float) if weighted else None
    options = {"C": C, "margin": margin, "temperature": temperature, "cost": cost}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = CRF(solver="lbfgs", tol=1e-10, max_iter=5000, **options)
        best.fit(X, y, sample_weight=weight)
        model = CRF(solver="dual", tol=0.0, max_iter=max_iter, random_state=seed, **options)
        model.fit(X, y, sample_weight=weight)
    slack = 1e-9 * (1.0 + best.objective_)
    assert model.objective_ - model.duality_gap_ <= best.objective_ + slack
    assert model.objective_ >= best.objective_ - best.duality_gap_ - slack
    duals = [record["dual"] for record in model.history_]
    assert all(b >= a - slack for a, b in itertools.pairwise(duals))


def test_masks_and_weights_that_are_zero():
    X, y = sequences(np.random.default_rng(8), n=15, K=3)
    used = {(a, b) for row in y for a, b in itertools.pairwise(row)}
    forbid = (
        {"transition": [next((a, b) for a in range(3) for b in range(3) if (a, b) not in used)]}
        if len(used) < 9
        else None
    )
    weight = np.ones(15)
    weight[4:8] = 0.0
    models = [
        CRF(solver=s, C=0.5, tol=1e-7, max_iter=2000, forbid=forbid, random_state=0).fit(
            X, y, sample_weight=weight
        )
        for s in ("dual", "lbfgs")
    ]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-6)


def test_goes_on_bit_for_bit():
    X, y = sequences(np.random.default_rng(1))
    problem = CRF().problem(X, y)
    whole = run(problem, tol=0.0, max_iter=7)
    part = run(problem, tol=0.0, max_iter=3)
    kept = part.state.copy()
    rest = run(problem, tol=0.0, max_iter=4, start=part.state, seed=99)
    assert np.array_equal(whole.weights, rest.weights)
    assert whole.gap == rest.gap
    assert rest.state.passes == 7
    assert rest.state.oracle_calls >= whole.state.oracle_calls
    assert np.array_equal(part.state.theta, kept.theta)  # the earlier state is left as it was


def test_same_seed_same_bits():
    X, y = sequences(np.random.default_rng(2))
    problem = CRF().problem(X, y)
    a, b, c = (run(problem, max_iter=3, tol=0.0, seed=s) for s in (5, 5, 6))
    assert np.array_equal(a.weights, b.weights)
    assert not np.array_equal(a.weights, c.weights)


def test_same_bits_whatever_the_threads():
    X, y = sequences(np.random.default_rng(13), n=270, longest=4)
    problem = CRF().problem(X, y)
    one, two, three = (run(problem, max_iter=4, tol=0.0, n_jobs=k) for k in (1, 2, 3))
    for other in (two, three):
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.state.theta, other.state.theta)
        assert one.gap == other.gap
        assert [r["loss"] for r in one.history] == [r["loss"] for r in other.history]


def words(rng, n, n_features=3, n_words=40, n_labels=5):
    """Sentences as lists of strings: words that say little, labels that mostly stay the same."""
    says = rng.dirichlet(np.full(n_words, 0.3), size=n_labels)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(n_labels))]
        while len(labels) < rng.integers(5, 25):
            stays = rng.random() < 0.85
            labels.append(labels[-1] if stays else int(rng.integers(n_labels)))
        drawn = [int(rng.choice(n_words, p=says[k])) for k in labels]
        around = range(-(n_features // 2), n_features - n_features // 2)
        X.append(
            [
                [f"{k}:{drawn[t + k]}" for k in around if 0 <= t + k < len(drawn)]
                for t in range(len(drawn))
            ]
        )
        y.append(labels)
    return X, y


@pytest.mark.parametrize("n_features", [3, 40])
def test_same_bits_of_sparse_rows_whatever_the_threads(n_features):
    """Threads add to shares of the rows of weights."""
    X, y = words(np.random.default_rng(0), 130, n_features, n_words=15)
    problem = CRF().problem(X, y)
    one, two, five = (run(problem, max_iter=4, tol=0.0, n_jobs=k) for k in (1, 2, 5))
    for other in (two, five):
        assert np.array_equal(one.weights, other.weights)
        assert np.array_equal(one.state.w, other.state.w)
        assert np.array_equal(one.state.theta, other.state.theta)
        assert one.gap == other.gap
    assert dual_weights(problem, two.state, 0.7) == pytest.approx(two.state.w, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_sites_that_lean_on_each_other(seed):
    """Steps of different lengths by site need not rise: with them alone two of the seeds stall."""
    X, y = words(np.random.default_rng(0), 150)
    found = run(CRF().problem(X, y), C=2.0, tol=1e-4, max_iter=150, seed=seed)
    assert found.converged
    assert found.state.visited.all()
    assert (found.state.longest < 1.0).any()
    duals = [record["dual"] for record in found.history]
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(duals))


def test_estimated_gaps():
    """What the visits think of the gap is close to it, however short their steps are."""
    X, y = words(np.random.default_rng(0), 150)
    problem = CRF().problem(X, y)
    found = run(problem, C=2.0, tol=0.0, max_iter=30)
    assert found.gap / 4 < found.history[-1]["estimated_gap"] < 4 * found.gap


def dual_weights(problem, state, C):
    """Return C times the sum of A'(gold - mu) over all examples."""
    w, zero = np.zeros(problem.n_weights), np.zeros(problem.n_weights)
    for i in range(problem.n_examples):
        p, slope = (f(i, zero, 0.0, 1.0)[1][1] for f in (problem.native.infer, problem.native.loss))
        mu = state.mu[state.part_ptr[i] : state.part_ptr[i + 1]]
        problem.native.scatter(i, None, p - slope - mu, C, w)  # p - slope: the gold output
    return w


def test_hard_examples_are_visited_again():
    """More visits than examples once the gaps are known, and the dual point stays one."""
    X, y = sequences(np.random.default_rng(14), n=270, longest=4)
    problem = CRF().problem(X, y)
    found = run(problem, max_iter=6, tol=0.0)
    calls = np.diff([r["oracle_calls"] for r in found.history[:-1]])
    assert calls[0] >= 270
    assert (calls[1:] > 270).all()
    assert (calls[1:] <= 3 * 270).all()
    np.testing.assert_allclose(dual_weights(problem, found.state, 0.7), found.state.w, atol=1e-10)


def test_records():
    X, y = sequences(np.random.default_rng(4))
    found = run(CRF().problem(X, y), tol=1e-4)
    assert found.converged
    calls = [r["oracle_calls"] for r in found.history]
    assert calls == sorted(calls)
    assert calls[0] >= 2 * len(X)
    last = found.history[-1]
    assert last["objective"] == found.objective
    assert last["gap"] == found.gap == pytest.approx(found.objective - last["dual"])
    assert {"iteration", "seconds", "loss"} <= set(last)


def test_what_it_cannot_do():
    X, y = sequences(np.random.default_rng(6))
    with pytest.raises(ValueError, match="temperature > 0"):
        CRF(solver="dual", temperature=0.0, margin=1.0).fit(X, y)
    with pytest.raises(ValueError, match="lbfgs"):
        CRF(solver="dual", l1=0.5).fit(X, y)
    with pytest.raises(AttributeError, match="partial_fit"):
        CRF(solver="dual").partial_fit(X, y, classes=[0, 1, 2])
    y[2] = [None] * len(y[2])
    with pytest.raises(ValueError, match="all labels"):
        CRF(solver="dual", latent="direct").fit(X, y)
    assert quietly(CRF(solver="dual"), X, y).duality_gap_ is None  # filled in round by round
    quietly(CRF(max_iter=5), X, y)  # "auto" takes another


def test_steep_problems_go_to_lbfgs():
    X, y = sequences(np.random.default_rng(9))
    gentle, steep = CRF(C=0.5, random_state=0).fit(X, y), CRF(C=500.0, random_state=0).fit(X, y)
    assert gentle.solver_ == "dual"
    assert steep.solver_ == "lbfgs"


def test_same_bits_on_every_instruction_set():
    same_bits_on_every_instruction_set(lambda problem: run(problem, tol=0.0, max_iter=3).weights)


# -- where it is the one to take --------------------------------------------------------------


def test_largest_eigenvalue_of_an_example():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(7, 3))]
    problem = CRF(boundaries=False).problem(X, [[0, 1, 1, 0, 1, 0, 0]])
    columns = []
    for j in range(problem.native.parts(0)):
        w = np.zeros(problem.n_weights)
        problem.scatter(0, PartVector(np.array([j], dtype=np.uint32), np.ones(1)), 1.0, w)
        columns.append(w)
    A = np.array(columns)
    expected = np.linalg.eigvalsh(A @ A.T)[-1]
    found = largest_eigenvalue(problem, rounds=200)
    assert found == pytest.approx(expected, rel=1e-6)
    assert 0.5 * expected < largest_eigenvalue(problem) <= expected * (1 + 1e-12)


def test_auto_takes_it_for_words_and_not_for_long_dense_chains():
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 500, size=12) for _ in range(30)]
    X = [[[f"w{k}", f"s{k % 50}", f"p{k % 90}"] for k in row] for row in words]
    y = [[int(k) % 3 for k in row] for row in words]
    assert CRF().fit(X, y).solver_ == "dual"
    for length in (100, 300):
        X = [rng.normal(size=(length, 5)) for _ in range(6)]
        y = [[int(k) for k in np.argmax(x[:, :3], axis=1)] for x in X]
        for C in (0.1, 1.0):
            assert CRF(C=C).fit(X, y).solver_ == "lbfgs"
    short = [x[:5] for x in X]
    assert CRF(C=0.1).fit(short, [row[:5] for row in y]).solver_ == "dual"
