"""Integer programs: against enumeration and SciPy's solver, their errors, their limits."""

import os
import pickle
import signal
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from structlearn.exceptions import CapabilityError, ConflictError, InfeasibleError, UnboundedError
from structlearn.structures import Program
from structlearn.structures.programs import search
from structlearn.testing import check_structure


def random_program(rng, n_parts=6, n_rows=3, n_helpers=0):
    """A program that part 0 alone solves."""
    A = rng.integers(-2, 4, size=(n_rows, n_parts + n_helpers)).astype(float)
    first = A[:, 0]
    return Program(
        A,
        first - rng.integers(0, 4, n_rows),
        first + rng.integers(0, 4, n_rows),
        n_parts=n_parts,
        integer=np.arange(n_parts + n_helpers) < n_parts,
    )


@pytest.mark.parametrize(("n_parts", "n_helpers"), [(5, 0), (3, 2)])
def test_every_query_against_enumeration(n_parts, n_helpers):
    rng = np.random.default_rng(n_helpers)
    program = random_program(rng, n_parts=n_parts, n_helpers=n_helpers)
    report = check_structure(
        program,
        lambda rng: {"part": rng.normal(size=n_parts)},
        n_inputs=1,
        max_kbest=5,
        temperatures=(0.0, 1.0),
        variations=n_helpers == 0,
    )
    assert {"argmax", "solve", "kbest"} <= set(report.checked)
    assert "marginals" in report.missing


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_the_same_value_as_scipys_solver(seed):
    rng = np.random.default_rng(seed)
    program = random_program(rng, n_parts=12, n_rows=5)
    theta = rng.normal(size=12) * 10.0 ** rng.integers(-9, 9)
    rows = program.rows
    best = milp(
        -theta / np.abs(theta).max(),
        constraints=LinearConstraint(rows.matrix, rows.lower, rows.upper),
        integrality=1,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    found = program.solve(part=theta)
    assert found.exact
    assert found.bound == found.value
    assert rows.hold(found.output.astype(float))
    assert found.value == pytest.approx(-best.fun * np.abs(theta).max(), rel=1e-6)
    relaxed = program.relax(part=theta)
    assert relaxed.value >= found.value - 1e-6 * np.abs(theta).max()
    if relaxed.integral:
        np.testing.assert_array_equal(relaxed.output, found.output)


def test_other_scores_and_other_masks_on_the_same_model():
    rng = np.random.default_rng(1)
    program = random_program(rng)
    for _ in range(30):
        theta = rng.normal(size=6)
        theta[1:][rng.random(5) < 0.3] = -np.inf
        values = [program.score(y, part=theta) for y in program.outputs()]
        assert program.solve(part=theta).value == pytest.approx(max(values))


def test_whole_numbers_beyond_one():
    """A knapsack of 10: two of weight 4 are worth less than three of weight 3."""
    program = Program([[4, 3]], 0, 10, column_upper=[np.inf, 5])
    np.testing.assert_array_equal(program.argmax(part=[4.0, 3.3]), [1, 2])
    np.testing.assert_array_equal(program.argmax(part=[0.0, 1.0]), [0, 3])
    with pytest.raises(CapabilityError, match="0 or 1"):
        program.kbest(2, part=[1.0, 1.0])


def test_continuous_parts():
    program = Program([[1, 1]], 0, 1.5, integer=False)
    np.testing.assert_allclose(program.argmax(part=[2.0, 1.0]), [1.0, 0.5])


def test_a_relaxation_with_fractions_is_reported():
    """An odd cycle: no two neighbours; the relaxation takes half of each."""
    program = Program([[1, 1, 0], [0, 1, 1], [1, 0, 1]], 0, 1)
    relaxed = program.relax(part=np.ones(3))
    assert not relaxed.integral
    assert relaxed.value == pytest.approx(1.5)
    assert relaxed.output is None
    np.testing.assert_array_equal(relaxed.fractional["part"], [[0], [1], [2]])
    assert "3 of 3 fractional" in str(relaxed)
    found = program.solve(part=np.ones(3))
    assert found.value == 1.0
    assert found.method in ("integer program (highs)", "integer program (gurobi)")
    with pytest.raises(CapabilityError, match="not whole"):
        program.solve(part=np.ones(3), method="lp")
    assert program.solve(part=np.ones(3), method="ilp").value == 1.0


def test_batches():
    program = Program([[1, 1]], 0, 1)
    scores = [np.array([1.0, 2.0]), np.array([2.0, 1.0])]
    found = program.argmax(part=scores)
    np.testing.assert_array_equal(found, [[0, 1], [1, 0]])
    assert [one.value for one in program.solve(part=scores)] == [2.0, 2.0]


def test_sparse_matrices_and_pickles():
    program = Program(scipy.sparse.csc_matrix([[1.0, 1.0]]), 0, 1)
    program.argmax(part=[1.0, 2.0])
    again = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(again.argmax(part=[1.0, 2.0]), [0, 1])
    assert repr(again) == "Program(2 parts, 0 helpers, 1 rows)"


def test_ties_and_zero_scores_give_a_solution():
    program = Program([[1, 1, 1]], 2, 2)
    assert program.argmax(part=np.zeros(3)).sum() == 2
    assert len(program.kbest(9, part=np.zeros(3))) == 3


def test_the_end_of_a_list_is_not_explained(monkeypatch):
    """Names of constraints in conflict cost many programs, and nobody reads them there."""
    monkeypatch.setattr(search, "describe_conflict", None)
    assert len(Program([[1, 1, 1]], 2, 2).kbest(9, part=[3.0, 2.0, 1.0])) == 3
    with pytest.raises(InfeasibleError, match="no legal output is left"):
        Program([[1, 1, 1]], 5, 5).kbest(2, part=np.zeros(3))


# -- errors -------------------------------------------------------------------------------------


def test_conflicting_constraints_are_named_and_no_others():
    program = Program(
        [[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]],
        [2, 0, 0, 0],
        [2, 0, 4, 1],
        names=["a and b", "neither b nor c", "at most four", "maybe d"],
    )
    with pytest.raises(ConflictError, match=r"a and b; neither b nor c$") as caught:
        program.argmax(part=np.ones(4))
    assert caught.value.conflict == ["a and b", "neither b nor c"]
    assert pickle.loads(pickle.dumps(caught.value)).conflict == caught.value.conflict


def test_a_conflict_that_only_whole_numbers_have():
    program = Program([[2, 2], [1, 0]], [3, 0], [3, 1], names=["odd", "free"])
    with pytest.raises(ConflictError) as caught:
        program.argmax(part=np.ones(2))
    assert caught.value.conflict == ["odd"]


def test_a_conflict_with_forbidden_parts():
    program = Program([[1, 1], [1, 0]], [1, 0], [2, 1], names=["one of them", "first"])
    with pytest.raises(InfeasibleError) as caught:
        program.argmax(part=np.array([-np.inf, -np.inf]))
    assert caught.value.conflict == [
        "one of them",
        "part[0] is forbidden (its score is -inf)",
        "part[1] is forbidden (its score is -inf)",
    ]


def test_a_part_that_is_demanded_and_forbidden():
    program = Program([[1, 1]], 0, 2, column_lower=[1, 0])
    with pytest.raises(InfeasibleError, match=r"part\[0\] must be used and is forbidden"):
        program.argmax(part=np.array([-np.inf, 0.0]))


def test_conflicts_of_a_larger_program_are_minimal():
    rng = np.random.default_rng(2)
    n = 40
    A = np.vstack([np.eye(n)[rng.permutation(n)] + np.eye(n), np.ones(n)])
    lower = np.append(np.zeros(n), 0)
    lower[[3, 20]] = 1
    row = A[[3, 20]].any(axis=0)
    extra = np.where(row, 1.0, 0.0)[np.newaxis]
    program = Program(np.vstack([A, extra]), np.append(lower, 0), np.append(np.full(n + 1, 99), 0))
    with pytest.raises(ConflictError) as caught:
        program.argmax(part=np.zeros(n))
    assert len(caught.value.conflict) == 2
    assert f"row {n + 1}" in caught.value.conflict


def test_unbounded():
    program = Program([[1, -1]], 0, 0, column_upper=np.inf)
    with pytest.raises(UnboundedError, match=r"part\[0\].*column_upper"):
        program.argmax(part=[1.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[np.nan]], 0, 1), "NaN or infinite"),
        (([[1.0]], np.nan, 1), "lower contains NaN"),
        (([[1.0]], 2, 1), "row 0 has bounds from 2.0 to 1.0"),
        (([[1.0]], [0, 0], 1), "lower has shape"),
        (("abc", 0, 1), "not a matrix"),
    ],
)
def test_bad_programs(arguments, message):
    with pytest.raises(ValueError, match=message):
        Program(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_parts": 3}, "n_parts is 3"),
        ({"names": ["a", "b"]}, "2 names for 1 rows"),
        ({"solver": "abacus"}, "solver must be"),
        ({"time_limit": -1}, "time_limit"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Program([[1.0, 1.0]], 0, 1, **options)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"part": [np.nan, 0.0]}, "NaN"),
        ({"part": [np.inf, 0.0]}, "inf"),
        ({"part": [0.0]}, "shape"),
        ({"label": [0.0, 0.0]}, "not blocks of this program"),
        ({}, "needs scores"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        Program([[1.0, 1.0]], 0, 1).argmax(**scores)


# -- solvers ------------------------------------------------------------------------------------


def hard_program(n=200, n_rows=30):
    rng = np.random.default_rng(0)
    A = rng.integers(1, 1000, size=(n_rows, n))
    return Program(A, -np.inf, A.sum(axis=1) / 2), A.mean(axis=0) + 500 * rng.random(n)


def test_the_time_limit_gives_the_best_so_far_with_its_bound():
    program, theta = hard_program()
    began = time.perf_counter()
    found = program.solve(part=theta, time_limit=0.5)
    assert time.perf_counter() - began < 5
    assert not found.exact
    assert found.bound > found.value
    assert program.rows.hold(found.output.astype(float))
    assert program.score(found.output, part=theta) == pytest.approx(found.value)


def test_no_time_at_all():
    program, theta = hard_program()
    with pytest.raises(TimeoutError, match="none scores more than"):
        program.solve(part=theta, time_limit=0.0)


def test_gurobi_is_asked_for_by_name_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(ImportError, match=r"structlearn\[gurobi\]"):
        Program([[1.0, 1.0]], 0, 1, solver="gurobi")
    assert Program([[1.0, 1.0]], 0, 1).argmax(part=[1.0, 2.0]).tolist() == [0, 1]


def test_learners_take_programs():
    """Two of four things: which, is learned."""
    from structlearn import StructuredPerceptron

    rng = np.random.default_rng(0)
    program = Program([[1, 1, 1, 1]], 2, 2)
    w = rng.normal(size=3)
    X = [{"part": rng.normal(size=(4, 3))} for _ in range(40)]
    y = [program.argmax(part=x["part"] @ w) for x in X]
    model = StructuredPerceptron(program, max_iter=10, random_state=0).fit(X[:30], y[:30])
    assert model.score(X[30:], y[30:]) >= 0.8


@pytest.fixture
def ctrl_c():
    """Python's own answer to Ctrl-C, whatever other packages have made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_branch_and_bound(ctrl_c):
    program, theta = hard_program()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        program.solve(part=theta, time_limit=60)
    assert time.perf_counter() - began < 30
    assert not program.solve(part=theta, time_limit=0.2).exact, "and it can be asked again"


def test_each_call_has_its_own_time(monkeypatch):
    """What a call has used is not given to the next one, and not taken from it."""
    from structlearn.structures.programs.highs import _Kept

    limits = []
    run = _Kept._run

    def watched(self):
        if self.integer:  # the relaxation before it has a clock that runs on
            limits.append(self.highs.getOptionValue("time_limit")[1])
        run(self)

    monkeypatch.setattr(_Kept, "_run", watched)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 60, (30, 60)).astype(float)
    program = Program(weights, -np.inf, weights.sum(axis=1) // 2, solver="highs")
    for _ in range(3):
        program.solve(part=rng.random(60) + weights.mean(axis=0), time_limit=0.2)
    assert len(limits) == 3
    assert all(0.1 < limit <= 0.2 for limit in limits)
