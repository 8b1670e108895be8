"""L-BFGS and OWL-QN find what SciPy's L-BFGS-B finds, and prove it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.estimators import StructuredModel
from structlearn.learners.lbfgs import LBFGS
from structlearn.learners.owlqn import OWLQN
from tests.learners.quasi_newton_problems import (
    crf,
    learn,
    problem_of,
    scipy_optimum,
    words_problem,
)
from tests.learners.test_certificates import KINDS, data


def learner_for(settings, **options):
    return (OWLQN if settings.l1 else LBFGS)(settings, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("l1", [0.0, 0.3, 3.0])
@pytest.mark.parametrize(("margin", "temperature", "C"), [(0, 1, 1), (1, 0.1, 5), (0.5, 3, 0.02)])
def test_same_optimum_as_scipy(kind, l1, margin, temperature, C):
    s = crf(margin=margin, temperature=temperature, C=C, l1=l1)
    problem = problem_of(kind)
    found = learn(learner_for(s), problem)
    assert found.converged
    assert found.gap <= 1e-6 * found.objective
    optimum = scipy_optimum(problem, s)
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    assert found.objective - optimum <= found.gap + 1e-9 * optimum


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("l1", "C"), [(0, 0.1), (0, 10), (0.5, 1), (0.2, 5), (5, 1)])
def test_words(order, l1, C):
    s = crf(C=C, l1=l1)
    problem = words_problem(order=order)
    found = learn(learner_for(s), problem)
    assert found.converged
    assert found.objective == pytest.approx(scipy_optimum(problem, s), rel=1e-6)
    at = problem.objective(found.weights, C=C, margin=0, temperature=1, l1=l1)[0]
    assert found.objective == pytest.approx(at, rel=1e-12)
    if l1:
        assert (found.weights == 0).any()


@given(
    kind=st.sampled_from(["multiclass", "chain", "lattice"]),
    seed=st.integers(0, 20),
    C=st.floats(0.01, 20),
    l1=st.sampled_from([0.0, 0.1, 1.0]),
    margin=st.sampled_from([0.0, 1.0]),
    temperature=st.floats(0.05, 3),
    iterations=st.integers(1, 12),
    weighted=st.booleans(),
)
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
def test_gap_is_a_bound(kind, seed, C, l1, margin, temperature, iterations, weighted):
    n = len(data(kind)[1])
    weights = np.random.default_rng(seed).uniform(0, 2, size=n) if weighted else None
    problem = problem_of(kind, seed, sample_weight=weights)
    s = crf(C=C, l1=l1, margin=margin, temperature=temperature, max_iter=iterations, tol=0.0)
    found = learn(learner_for(s), problem)
    optimum = scipy_optimum(problem, s)
    assert found.objective - optimum <= found.gap + 1e-9 * optimum
    for record in found.history:
        assert record["dual"] <= optimum + 1e-9 * optimum
        assert record["objective"] - record["gap"] == pytest.approx(record["dual"])


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_records(l1):
    problem = words_problem()
    seen = []
    found = learn(learner_for(crf(l1=l1)), problem, callbacks=seen.append)
    assert [r["iteration"] for r in found.history] == list(range(1, len(found.history) + 1))
    values = [r["objective"] for r in found.history]
    assert values == sorted(values, reverse=True)
    calls = [r["oracle_calls"] for r in found.history]
    assert all(c % problem.n_examples == 0 for c in calls)
    assert calls == sorted(set(calls))
    assert calls[-1] < 3 * len(calls) * problem.n_examples + 10 * problem.n_examples
    assert values[-1] == found.objective
    assert found.history[-1]["gap"] == found.gap
    np.testing.assert_array_equal(seen[-1]["weights"](), found.weights)


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_a_callback_stops_it_and_it_goes_on_from_there(l1):
    problem = words_problem()
    s = crf(l1=l1)
    first = learn(learner_for(s), problem, callbacks=lambda record: record["iteration"] == 4)
    assert (len(first.history), first.stopped, first.converged) == (4, True, False)
    end = learn(learner_for(s), problem, start=first.state)
    assert end.converged
    again = learn(learner_for(s), problem, start=end.state)
    # The proof may have come from an earlier point, and is to be found again.
    assert again.converged
    assert len(again.history) <= 5 < len(end.history)
    assert again.objective <= end.objective


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_threads_and_kernels_change_no_bit(l1):
    problem = words_problem(n=80)
    before = _core.kernels()
    runs = []
    try:
        for kernels in ("baseline", "avx2", "avx512"):
            if _core.use_kernels(kernels):
                runs += [learn(learner_for(crf(l1=l1)), problem, n_jobs=jobs) for jobs in (1, 3)]
    finally:
        _core.use_kernels(before)
    for run in runs[1:]:
        np.testing.assert_array_equal(run.weights, runs[0].weights)
        assert (run.objective, run.gap) == (runs[0].objective, runs[0].gap)


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_unknown_labels_end_where_the_gradient_does(l1):
    problem = words_problem(partial=0.3)
    s = crf(l1=l1, convex=False)
    found = learn(learner_for(s), problem)
    assert found.converged
    assert found.gap is None
    assert "gap" not in found.history[-1]
    _, slope = problem.objective(found.weights, C=1, margin=0, temperature=1)
    zero = found.weights == 0
    rest = np.where(zero, np.maximum(np.abs(slope) - l1, 0), slope + l1 * np.sign(found.weights))
    assert np.abs(rest).max() < 1e-4


@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_to_the_last_digit(l1):
    """tol = 0 ends by itself once rounding errors are all that is left, and says so."""
    found = learn(learner_for(crf(l1=l1, tol=0.0, max_iter=5000)), words_problem())
    assert found.converged
    assert found.gap <= 1e-9 * found.objective
    assert len(found.history) < 1000


@pytest.mark.parametrize("memory", [1, 3, 30])
def test_any_memory_leads_there(memory):
    s, problem = crf(), words_problem()
    assert learn(LBFGS(s, memory=memory), problem).converged
    s = crf(l1=0.3)
    assert learn(OWLQN(s, memory=memory), problem).converged


def test_owlqn_without_l1_is_a_quasi_newton_method():
    problem = words_problem()
    one, two = learn(OWLQN(crf()), problem), learn(LBFGS(crf()), problem)
    assert one.objective == pytest.approx(two.objective, rel=2e-6)


def test_refusals():
    with pytest.raises(ValueError, match="for l1 > 0 use OWL-QN"):
        LBFGS(crf(l1=0.1))
    for learner in (LBFGS, OWLQN):
        with pytest.raises(ValueError, match="needs a smooth loss: temperature > 0"):
            learner(crf(temperature=0))


def test_overflow_is_said():
    structure, X, y, *_ = data("chain")
    problem = StructuredModel(structure).problem([1e200 * x for x in X], y)
    with pytest.raises(ValueError, match="too large for floating point"):
        learn(LBFGS(crf()), problem)
