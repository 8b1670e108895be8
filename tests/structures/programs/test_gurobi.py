"""Gurobi gives the answers that HiGHS gives; its free licence takes programs of this size."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("gurobipy")

from structlearn.constraints import at_most, with_constraints
from structlearn.exceptions import ConflictError, UnboundedError
from structlearn.structures import Chain, Program

INF = math.inf


def both(*args, **kwargs):
    return [Program(*args, solver=solver, **kwargs) for solver in ("highs", "gurobi")]


def knapsacks(rng, n_rows=8, n_parts=60):
    """Return rows that branch and bound takes long for, and scores close to them."""
    weights = rng.integers(1, 100, size=(n_rows, n_parts)).astype(float)
    program = Program(weights, -INF, weights.sum(axis=1) // 3, solver="gurobi")
    return program, weights.sum(axis=0) + rng.normal(size=n_parts) * 5


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_same_value_as_highs_whatever_the_size_of_the_scores(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 6, size=(4, 12)), -INF, rng.integers(0, 12, size=4)
    integer = rng.random(12) < 0.9
    programs = both(*rows, integer=integer)
    for _ in range(3):  # the model is kept
        part = rng.normal(size=12) * 10.0 ** rng.integers(-9, 9)
        part[rng.random(12) < 0.1] = -INF
        expected, found = (p.solve(part=part, method="ilp") for p in programs)
        assert found.method == "integer program (gurobi)"
        assert found.exact
        assert found.value == pytest.approx(expected.value, rel=1e-6)
        assert programs[0].rows.hold(np.asarray(found.output, dtype=float), 1e-5)


def test_the_same_answer_whatever_was_solved_before():
    rng = np.random.default_rng(0)
    program, part = knapsacks(rng, n_rows=3, n_parts=20)
    first = program.solve(part=part, method="ilp")
    program.solve(part=rng.normal(size=20), method="ilp")
    assert np.array_equal(program.solve(part=part, method="ilp").output, first.output)
    again = pickle.loads(pickle.dumps(program)).solve(part=part, method="ilp")
    assert np.array_equal(again.output, first.output)


def test_no_output_is_told_with_the_rows_that_contradict_each_other():
    for program in both([[1, 1], [1, 0]], [3, 0], INF, names=["three of two", "any"]):
        with pytest.raises(ConflictError, match="three of two"):
            program.solve(part=[1.0, 1.0], method="ilp")


def test_scores_without_end_are_told():
    for program in both([[1, -1]], -1, 1, column_upper=INF):
        with pytest.raises(UnboundedError, match="column_upper"):
            program.solve(part=[1.0, 1.0], method="ilp")


def test_the_time_limit_is_kept_and_the_best_so_far_comes_with_its_bound():
    program, part = knapsacks(np.random.default_rng(0), n_rows=30, n_parts=120)
    found = program.solve(part=part, time_limit=0.2, method="ilp")
    assert not found.exact
    assert found.value <= found.bound < INF
    assert program.rows.hold(found.output.astype(float))
    with pytest.raises(TimeoutError, match=r"none scores more than [0-9]"):
        program.solve(part=part, time_limit=0.0, method="ilp")


def test_a_program_too_large_for_the_licence():
    rows = np.ones((1, 5000)), 0, 3
    part = np.arange(5000.0)
    found = Program(*rows).solve(part=part, method="ilp")
    assert found.value == 4999 + 4998 + 4997
    if "highs" in found.method:  # no full licence
        with pytest.raises(RuntimeError, match='solver="highs" has no limit'):
            Program(*rows, solver="gurobi").solve(part=part, method="ilp")


def test_programs_of_structures_with_constraints():
    rng = np.random.default_rng(1)
    scores = {"label": rng.normal(size=(6, 3)), "transition": rng.normal(size=(3, 3))}
    chain = with_constraints(Chain(), [at_most(1, 0), at_most(2, 1)])
    program = chain.as_program(**scores)
    program.solver = "gurobi"
    assert program.solve(method="ilp").value == pytest.approx(chain.solve(**scores).value)
