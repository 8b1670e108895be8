"""Features in any units: every solver gets to its tolerance, or says that it has not.

The optima of the multiclass SVM are Clarabel's (0.11, an interior-point method), with every
constraint written down. With features times s, C/s² has the same solution divided by s, and the
objective is divided by s².
"""

import functools
import pickle
import warnings

import numpy as np
import pytest
from sklearn import datasets

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.estimators import CRF, StructuredSVM
from structlearn.exceptions import ConvergenceWarning
from structlearn.learners.base import Progress, Settings
from structlearn.learners.cutting_planes import NSlack
from structlearn.learners.frank_wolfe import FrankWolfe
from structlearn.learners.one_slack import OneSlack

SOLVERS = ["frank-wolfe", "n-slack", "one-slack"]
TABLES = ["iris", "wine", "breast_cancer"]
#: By C. Wine is separable: from C = 1000 on, no margin is missed.
OPTIMA = {
    "iris": {1e-3: 0.136608820, 1.0: 22.4500581, 1e3: 10652.8046, 1e9: 10602272790.0},
    "wine": {1e-3: 0.0791814740, 1.0: 9.47093933, 1e3: 50.1326418, 1e9: 50.1326418},
    "breast_cancer": {1e-3: 0.0979915276, 1.0: 46.8362281, 1e3: 21975.1339, 1e9: 152599590.0},
}


@functools.cache
def table(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


def primal(X, y, w, C):
    """Return ½‖w‖² + C·Σ hinge at w, (labels, features)."""
    scores = X @ w.T
    scores = scores - scores[np.arange(len(y)), y][:, np.newaxis] + 1.0
    scores[np.arange(len(y)), y] = 0.0
    return 0.5 * float((w**2).sum()) + C * float(scores.max(axis=1).sum())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", TABLES)
def test_tables_as_they_come_and_in_other_units(name, solver):
    X, y = table(name)
    for C, optimum in OPTIMA[name].items():
        for scale in (1e-4, 1.0, 1e3):
            model = StructuredSVM("multiclass", C=C / scale**2, solver=solver, random_state=0)
            model.fit(scale * X, y)  # a warning would be an error
            found = primal(scale * X, y, model.coef_, C / scale**2)
            assert model.objective_ == pytest.approx(found, rel=1e-4)
            assert found * scale**2 <= 1.01 * optimum
            assert (model.objective_ - model.duality_gap_) * scale**2 <= optimum * (1 + 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_small_tolerance(solver):
    for name in TABLES:
        X, y = table(name)
        for C in (1.0, 1e3):
            model = StructuredSVM("multiclass", C=C, solver=solver, tol=1e-5).fit(X, y)
            found = primal(X, y, model.coef_, C)
            assert found == pytest.approx(OPTIMA[name][C], rel=1.1e-5)


def test_auto():
    X, y = table("wine")
    model = StructuredSVM("multiclass").fit(X, y)
    assert model.solver_ == "frank-wolfe"
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("solver", [*SOLVERS, "annealing", "sgd"])
def test_the_end_is_never_silent_above_the_tolerance(solver):
    X, y = table("wine")
    for scale in (1e-6, 1.0, 1e6):
        for C in (1e-3, 1e3):
            for max_iter in (1, 4, 12, 40):
                model = StructuredSVM(
                    "multiclass", C=C, solver=solver, max_iter=max_iter, random_state=0
                )
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    model.fit(scale * X, y)
                reached = model.duality_gap_ <= model.tol * model.objective_
                assert reached == (not [w for w in told if w.category is ConvergenceWarning])


@pytest.mark.parametrize("solver", ["n-slack", "one-slack"])
@pytest.mark.parametrize("epsilon", [1e-1, 1e-3])
def test_violations_decide_only_where_the_restricted_problem_is_solved(solver, epsilon):
    """Violations of at most ε at a solution of fewer constraints: C·n·ε above the optimum."""
    for name in TABLES:
        X, y = table(name)
        for C in (1e-3, 1.0, 1e3)[: 3 if epsilon < 1e-2 else 2]:  # slow at 1e3, whatever epsilon
            model = StructuredSVM("multiclass", C=C, solver=solver, tol=0, violation_tol=epsilon)
            model.fit(X, y)
            assert model.rounds_[-1].violation <= epsilon
            found = primal(X, y, model.coef_, C)
            assert found <= OPTIMA[name][C] * (1 + 1e-6) + C * len(y) * epsilon


def test_says_that_rounding_hides_the_rest():
    """Nine digits are out of reach where C·‖x‖² is 1e20."""
    X, y = table("breast_cancer")
    for solver in ("n-slack", "one-slack"):
        model = StructuredSVM("multiclass", C=1e3, solver=solver, tol=1e-9)
        with pytest.warns(ConvergenceWarning, match="nothing violated, but a gap of .* rounding"):
            model.fit(1e6 * X, y)
        assert model.duality_gap_ <= 1e-4 * model.objective_


# -- chains -----------------------------------------------------------------------------------


@functools.cache
def sentences():
    found = make_treebank(8, random_state=0)
    X = [
        [{f"word={w}": 1.0, f"suffix={w[-2:]}": 1.0, f"before={s.words[i - 1]}": 1.0}
         for i, w in enumerate(s.words)]
        for s in found
    ]  # fmt: skip
    return X, [list(s.tags) for s in found]


def scaled(X, scale):
    return [[{k: scale * v for k, v in place.items()} for place in x] for x in X]


@pytest.mark.parametrize(("scale", "C"), [(1e-4, 1e3), (1.0, 1e3), (1e3, 1.0), (1e3, 1e3)])
def test_chains(scale, C):
    """No solver's bound is above another's objective."""
    X, y = sentences()
    X = scaled(X, scale)
    models = [StructuredSVM(C=C, solver=s, random_state=0).fit(X, y) for s in SOLVERS]
    best = min(m.objective_ for m in models)
    for model in models:
        assert model.duality_gap_ <= 0.01 * model.objective_
        assert model.objective_ - model.duality_gap_ <= best * (1 + 1e-9)


# -- going on, threads --------------------------------------------------------------------------


def run(solver, problem, max_iter, C, start=None):
    s = Settings(margin=1.0, temperature=0.0, C=C, max_iter=max_iter, tol=0.0)
    if solver == "frank-wolfe":
        learner = FrankWolfe(s, random_state=np.random.default_rng(3))
    else:
        learner = {"n-slack": NSlack, "one-slack": OneSlack}[solver](s)
    return learner.run(problem, start=start, progress=Progress(), n_jobs=1)


@pytest.mark.parametrize(
    ("solver", "first", "more"),
    [("frank-wolfe", 19, 6), ("frank-wolfe", 22, 3), ("n-slack", 3, 1), ("one-slack", 11, 5)],
)
def test_a_saved_state_goes_on_bit_for_bit(solver, first, more):
    X, y = table("wine")
    problem = StructuredSVM("multiclass").problem(X, y)
    whole = run(solver, problem, first + more, 1e3)
    part = run(solver, problem, first, 1e3)
    rest = run(solver, problem, more, 1e3, pickle.loads(pickle.dumps(part.state)))
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert (rest.objective, rest.gap) == (whole.objective, whole.gap)


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_change_nothing(solver):
    X, y = table("breast_cancer")
    models = [
        StructuredSVM("multiclass", solver=solver, random_state=0, n_jobs=k).fit(X, y)
        for k in (1, 2)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


# -- the interior-point method ------------------------------------------------------------------


def joint_program(draw):
    """Solve a random program; return how far from the optimum it ended, as a share."""
    n, d = draw.integers(1, 13, size=2)
    scales = 10.0 ** draw.uniform(-draw.choice([0, 3, 6]), 0, size=d)
    G = draw.choice([1e-5, 1.0, 1e4]) * draw.normal(size=(n, d)) * scales
    b, gold = draw.uniform(0, 3, size=n), 0.2
    rows = None
    if draw.random() < 0.5 and d > 2:  # w_0 ≥ 0 and w_1 ≥ w_2
        rows = _core.WeightCone(np.array([0, 1, 3]), np.arange(3), np.array([1.0, 1.0, -1.0]), d)
    found = _core.joint_program(
        np.arange(n + 1) * d, np.tile(np.arange(d), n), G.ravel(), b, gold, d, rows, 0.0, 1e-6
    )
    assert found is not None
    alpha, rest, w, gap = found
    assert min(alpha.min(), rest) >= 0
    assert alpha.sum() + rest == pytest.approx(1.0, abs=1e-12)
    pull = -G.T @ alpha
    if rows is not None:
        assert w[0] >= 0
        assert w[1] >= w[2]
        pull[0] = max(pull[0], 0.0)
        if pull[1] < pull[2]:
            pull[1:3] = pull[1:3].mean()
    upper = 0.5 * w @ w + max(gold, (b + G @ w).max())
    lower = b @ alpha + rest * gold - 0.5 * pull @ pull
    assert lower <= upper * (1 + 1e-12)
    assert upper - lower <= max(gap, 1e-6 * upper) * (1 + 1e-6)
    return gap / upper


def test_joint_programs():
    """Weak duality is the oracle: α on the simplex and w in the cone, values that meet.

    The gap that is told is true every time. Rounding ends a few programs before they reach the
    tolerance; learners go on from there, or say so.
    """
    draw = np.random.default_rng(0)
    gaps = np.array([joint_program(draw) for _ in range(1000)])
    assert (gaps > 1e-6).mean() < 0.01


# -- smooth losses ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_log_loss(name):
    """f is ½‖w‖² and something convex: f(w) − optimum ≤ ½‖∇f(w)‖², here by NumPy."""
    X, y = table(name)
    for scale in (1e-4, 1.0, 1e3):
        for C in (1e-3, 1.0, 1e3):
            Z = scale * X
            model = CRF("multiclass", C=C, random_state=0).fit(Z, y)
            w = model.coef_
            scores = Z @ w.T
            top = scores.max(axis=1, keepdims=True)
            logs = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
            p = np.exp(scores - logs)
            losses = logs[:, 0] - scores[np.arange(len(y)), y]
            objective = 0.5 * float((w**2).sum()) + C * float(losses.sum())
            p[np.arange(len(y)), y] -= 1.0
            gradient = w + C * p.T @ Z
            assert model.objective_ == pytest.approx(objective, rel=1e-6)
            if model.solver_ == "lbfgs":  # dual ascent has a better proof than this one
                assert 0.5 * float((gradient**2).sum()) <= 1.1e-3 * objective
            assert model.duality_gap_ <= 1e-3 * model.objective_


@pytest.mark.parametrize("scale", [1.013**i for i in (64, 71, 85, 89, 93, 103)])
def test_rounding_errors_of_values_do_not_end_the_search(scale):
    """At the optimum of a huge C values differ by rounding errors only, slopes still by more."""
    X, y = table("breast_cancer")
    model = CRF("multiclass", C=1e9 / scale**2).fit(scale * X, y)  # a warning would be an error
    assert model.duality_gap_ <= 1e-3 * model.objective_


@pytest.mark.parametrize("solver", ["lbfgs", "dual", "sag", "sgd"])
def test_smooth_solvers_are_never_silent_above_the_tolerance(solver):
    X, y = table("iris")
    for scale in (1e-6, 1.0, 1e6):
        for C in (1e-3, 1e3):
            model = CRF("multiclass", C=C, solver=solver, max_iter=60, random_state=0)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model.fit(scale * X, y)
            reached = model.duality_gap_ <= model.tol * model.objective_
            assert reached == (not [w for w in told if w.category is ConvergenceWarning])


@pytest.mark.parametrize("curvature", [1e-20, 1.0, 1e16])
def test_pairs_of_any_curvature_are_kept(curvature):
    memory = _core.CurvatureMemory(3, 5)
    w = np.array([1.0, -2.0, 0.5]) / curvature**0.5
    g = curvature * w
    memory.remember(w, 0 * w, g, 0 * g, g, 1)
    assert memory.pairs == 1
    direction = np.zeros(3)
    memory.direction(g, direction, False, 1)
    np.testing.assert_allclose(direction, -w, rtol=1e-6)  # the Newton step
