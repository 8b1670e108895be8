"""Stochastic average gradient: the same optima as other solvers, and gaps that are proofs."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.estimators import CRF
from structlearn.learners.base import Progress, Settings
from structlearn.learners.lbfgs import LBFGS
from structlearn.learners.sag import SAG
from structlearn.structures import Chain, Exhaustive
from tests.learners.convex_reference import Enumerated
from tests.learners.smooth_problems import (
    PROBLEMS,
    logistic_regression,
    same_bits_on_every_instruction_set,
    sequences,
)
from tests.learners.test_certificates import KINDS, cost_for, data


def run(problem, *, start=None, seed=0, n_jobs=None, callbacks=None, **options):
    options = {"margin": 0.0, "temperature": 1.0, "C": 0.7, "tol": 1e-9, "max_iter": 500, **options}
    learner = SAG(Settings(**options), random_state=np.random.default_rng(seed))
    return learner.run(problem, start=start, progress=Progress(0, callbacks), n_jobs=n_jobs)


def best(problem, **options):
    options = {"margin": 0.0, "temperature": 1.0, "C": 0.7, "tol": 1e-9, **options}
    return LBFGS(Settings(max_iter=5000, **options)).run(problem, progress=Progress())


@pytest.mark.parametrize("example", PROBLEMS, ids=lambda p: type(p[0]).__name__ + str(p[0]))
def test_same_objective_as_lbfgs(example):
    structure, X, y = example
    problem = CRF(structure).problem(X, y)
    found, reference = run(problem, tol=1e-6), best(problem)
    assert found.converged
    assert found.gap <= 1e-6 * found.objective
    assert found.objective == pytest.approx(reference.objective, rel=2e-6)


@pytest.mark.parametrize("C", [0.05, 0.5])
def test_independent_positions_are_logistic_regression(C):
    rows, expected, _ = logistic_regression(C)
    found = run(CRF(Chain(order=0), boundaries=False).problem(*rows), C=C, tol=1e-8)
    assert found.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("margin", "temperature"), [(0, 1), (1, 0.5)])
def test_gap_against_enumeration(kind, margin, temperature):
    structure, X, y, *enumerated = data(kind)
    options = {"C": 0.8, "margin": margin, "temperature": temperature}
    reference = Enumerated(*enumerated, **options)
    optimum = reference.optimum()
    problem = CRF(structure, cost=cost_for(kind), **options).problem(X, y)
    for max_iter in (1, 2, 3, 10, 1000):
        found = run(problem, tol=1e-8, max_iter=max_iter, seed=max_iter, **options)
        value, _ = problem.objective(found.weights, **options)
        assert found.objective == pytest.approx(value, rel=1e-12)
        assert -1e-6 * optimum <= found.objective - optimum <= found.gap + 1e-6 * optimum
    assert found.gap <= 1e-8 * found.objective


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
    options = {"C": C, "margin": margin, "temperature": temperature}
    problem = CRF(cost=cost, **options).problem(X, y, sample_weight=weight)
    reference = best(problem, **{**options, "tol": 1e-10})
    found = run(problem, tol=0.0, max_iter=max_iter, seed=seed, **options)
    slack = 1e-9 * (1.0 + reference.objective)
    assert found.objective >= reference.objective - reference.gap - slack
    for record in found.history:
        assert record["dual"] <= reference.objective + slack
    assert found.objective - found.gap <= reference.objective + slack


@pytest.mark.parametrize("C", [0.01, 20.0])
def test_flat_and_steep_problems(C):
    X, y = sequences(np.random.default_rng(12), n=20)
    problem = CRF().problem(X, y)
    found = run(problem, C=C, tol=1e-6, max_iter=3000)
    assert found.converged
    assert found.objective == pytest.approx(best(problem, C=C).objective, rel=2e-6)


def test_masks_and_weights_that_are_zero():
    X, y = sequences(np.random.default_rng(8), n=6, K=3)
    used = {(a, b) for row in y for a, b in itertools.pairwise(row)}
    forbid = {"transition": [p for p in itertools.product(range(3), repeat=2) if p not in used]}
    assert forbid["transition"]
    weight = np.array([1.0, 0.0, 2.5, 0.0, 1.0, 0.3])
    problem = CRF(forbid=forbid).problem(X, y, sample_weight=weight)
    found = run(problem, tol=1e-8)
    assert found.objective == pytest.approx(best(problem).objective, rel=1e-7)


def test_the_state_is_what_it_says():
    """The sum of the gradients is that of the memory, and every memory is p − μ* of some scores."""
    X, y = sequences(np.random.default_rng(14))
    problem = CRF().problem(X, y)
    state = run(problem, tol=0.0, max_iter=9).state
    g = np.zeros(problem.n_weights)
    for i in range(problem.n_examples):
        m = state.memory[state.part_ptr[i] : state.part_ptr[i + 1]]
        problem.native.scatter(i, None, m, 1.0, g)
    np.testing.assert_allclose(state.g, g, atol=1e-12)
    assert state.visited.all()
    assert (state.lipschitz > 0).all()


def test_goes_on_bit_for_bit():
    X, y = sequences(np.random.default_rng(1))
    problem = CRF().problem(X, y)
    whole = run(problem, tol=0.0, max_iter=11)
    part = run(problem, tol=0.0, max_iter=3)
    kept = part.state.copy()
    rest = run(problem, tol=0.0, max_iter=8, start=part.state, seed=99)
    assert np.array_equal(whole.weights, rest.weights)
    assert whole.gap == rest.gap
    assert rest.state.passes == 11
    assert np.array_equal(part.state.memory, kept.memory)  # the earlier state is left as it was
    assert np.array_equal(part.state.w, kept.w)


def test_begins_at_weights():
    X, y = sequences(np.random.default_rng(1))
    problem = CRF().problem(X, y)
    optimum = best(problem, tol=1e-12)
    near = run(problem, start=optimum.weights, tol=0.0, max_iter=4)
    far = run(problem, tol=0.0, max_iter=4)
    assert near.objective < far.objective
    assert run(problem, start=optimum.weights, tol=1e-8).objective == pytest.approx(
        optimum.objective, rel=1e-7
    )


def test_seeds_and_threads():
    X, y = sequences(np.random.default_rng(2))
    problem = CRF().problem(X, y)
    a, b, c, d = (
        run(problem, max_iter=5, tol=0.0, seed=s, n_jobs=j)
        for s, j in ((5, 1), (5, 1), (6, 1), (5, 3))
    )
    assert np.array_equal(a.weights, b.weights)
    assert not np.array_equal(a.weights, c.weights)
    assert np.array_equal(a.weights, d.weights)
    assert a.gap == d.gap


def test_records_and_callbacks():
    X, y = sequences(np.random.default_rng(4))
    problem = CRF().problem(X, y)
    found = run(problem, tol=1e-4)
    assert found.converged
    calls = [r["oracle_calls"] for r in found.history]
    assert calls == sorted(calls)
    assert calls[0] >= len(X)
    last = found.history[-1]
    assert last["objective"] == found.objective
    assert last["gap"] == found.gap == pytest.approx(found.objective - last["dual"])
    assert {"iteration", "seconds", "loss"} <= set(last)
    stopped = run(problem, tol=0.0, callbacks=lambda record: record["iteration"] == 3)
    assert stopped.stopped
    assert len(stopped.history) == 3
    assert stopped.gap is not None


class Interrupting(Exhaustive):
    """Ctrl-C while it infers for the 100th time."""

    calls = 0

    def infer(self, *args, **options):
        type(self).calls += 1
        if type(self).calls == 100:
            raise KeyboardInterrupt
        return super().infer(*args, **options)


def test_interruption_in_a_structure_keeps_weights_and_dual():
    X, y = sequences(np.random.default_rng(4), K=2, longest=3)
    plain = CRF(Exhaustive(Chain())).problem(X, y)
    Interrupting.calls = 0
    found = run(CRF(Interrupting(Chain())).problem(X, y), tol=0.0)
    assert Interrupting.calls == 100
    assert found.interrupted
    # The weights are written out: better than none, and than those of half a representation.
    assert (
        plain.objective(found.weights, C=0.7, margin=0.0, temperature=1.0)[0]
        < (plain.objective(0 * found.weights, C=0.7, margin=0.0, temperature=1.0)[0])
    )
    g = np.zeros(plain.n_weights)
    state = found.state
    for i in range(plain.n_examples):
        plain.native.scatter(i, None, state.memory[slice(*state.part_ptr[i : i + 2])], 1.0, g)
    np.testing.assert_allclose(state.g, g, atol=1e-12)
    after = run(plain, start=state, tol=1e-6)
    assert after.objective == pytest.approx(best(plain).objective, rel=2e-6)


def test_interruption_in_a_callback():
    def interrupt(record):
        raise KeyboardInterrupt

    found = run(CRF().problem(*sequences(np.random.default_rng(4))), callbacks=interrupt)
    assert found.interrupted
    assert np.abs(found.weights).sum() > 0


def test_what_it_cannot_do():
    rng = np.random.default_rng(0)
    for options, message in (
        ({"temperature": 0.0}, "temperature > 0"),
        ({"temperature": 1.0, "l1": 0.5}, "lbfgs"),
        ({"temperature": 1.0, "convex": False}, "all labels"),
    ):
        with pytest.raises(ValueError, match=message):
            SAG(Settings(margin=0.0, **options), random_state=rng)


def test_same_bits_on_every_instruction_set():
    same_bits_on_every_instruction_set(lambda problem: run(problem, tol=0.0, max_iter=3).weights)
