"""Weights in a cone: projections, and every solver that keeps to one, against programs."""

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from structlearn import StructuredModel
from structlearn.exceptions import ConvergenceWarning
from structlearn.problem import WeightCone
from structlearn.scoring.layout import WeightBlock, WeightLayout
from tests.learners.cone_problems import ConeReference, checkered

KINDS = {"tables": {}, "potts": {"potts": True}, "graph": {"graph": True}}
HINGE = {"margin": 1.0, "temperature": 0.0}
SMOOTH = {"margin": 0.0, "temperature": 1.0}


def fitted(kind, **options):
    X, y = checkered(**KINDS[kind])
    structure = "graph" if kind == "graph" else "grid"
    options = {"C": 0.5, "submodular": True, "random_state": 0, "max_iter": 3000, **options}
    model = StructuredModel(structure, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return model, model.problem(X, y)


@functools.cache
def reference(kind, temperature):
    loss = SMOOTH if temperature else HINGE
    X, y = checkered(**KINDS[kind])
    structure = "graph" if kind == "graph" else "grid"
    problem = StructuredModel(structure, submodular=True, **loss).problem(X, y)
    return ConeReference(problem, 0.5, **loss).optimum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("solver", "tol", "loss"),
    [
        ("frank-wolfe", 1e-5, HINGE),
        ("n-slack", 1e-6, HINGE),
        ("one-slack", 1e-6, HINGE),
        ("sgd", 1e-2, HINGE),
        ("projected", 1e-7, SMOOTH),
        ("sgd", 2e-2, SMOOTH),
    ],
)
def test_the_optimum_in_the_cone(solver, tol, loss, kind):
    model, problem = fitted(kind, solver=solver, tol=tol, **loss)
    optimum = reference(kind, loss["temperature"])
    free, _ = fitted(kind, solver="lbfgs", tol=1e-6, submodular=False, **SMOOTH)
    if loss is SMOOTH:
        assert free.objective_ < optimum - 1e-3  # the cone matters
    slack = 1e-6 * optimum
    assert problem.cone.products(model._weights).min() >= -1e-12
    # What is proven is true, and good.
    assert optimum - slack <= model.objective_ <= optimum + model.duality_gap_ + slack
    assert model.duality_gap_ <= tol * model.objective_
    if loss is HINGE:
        w, C = model._weights, model.C
        total, _ = problem.total_loss(w, 1.0, 0.0)
        assert model.objective_ == pytest.approx(0.5 * w @ w + C * total, rel=1e-9)


@pytest.mark.parametrize("solver", ["perceptron", "passive-aggressive", "sgd"])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("step", ["decaying", "constant"])
def test_online_learners_stay_inside(solver, average, step):
    if step == "constant" and solver != "sgd":
        return
    margin = 0.0 if solver == "perceptron" else 1.0
    options = {"solver": solver, "average": average, "step": step, "margin": margin, "C": 2.0}
    model, problem = fitted("tables", temperature=0.0, **{**options, "max_iter": 7})
    assert problem.cone.products(model._weights).min() >= -1e-12
    assert np.abs(model._weights).max() > 0
    # The average is the mean of what each step left behind.
    if average:
        steps = []
        X, y = checkered()
        one = StructuredModel("grid", submodular=True, **{**options, "average": False})
        one.set_params(temperature=0.0, shuffle=False, max_iter=1, random_state=0)
        both = StructuredModel("grid", submodular=True, **options)
        both.set_params(temperature=0.0, shuffle=False, max_iter=1, random_state=0)
        for x, truth in zip(X, y, strict=True):
            one.partial_fit([x], [truth], classes=[0, 1])
            both.partial_fit([x], [truth], classes=[0, 1])
            steps.append(one._weights)
        count = np.arange(1, len(X) + 1) if (solver, step) == ("sgd", "decaying") else None
        np.testing.assert_allclose(
            both._weights, np.average(steps, axis=0, weights=count), atol=1e-12
        )


def test_solvers_that_cannot_say_so():
    X, y = checkered()
    for solver, loss in (
        ("lbfgs", SMOOTH), ("dual", SMOOTH), ("sag", SMOOTH), ("annealing", HINGE),
        ("adagrad", HINGE), ("arow", HINGE),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"cannot keep.*frank-wolfe.*one-slack"):
            StructuredModel("grid", submodular=True, solver=solver, **loss).fit(X, y)


@pytest.mark.parametrize("solver", ["frank-wolfe", "n-slack", "one-slack"])
def test_goes_on_from_a_whole_state(solver):
    X, y = checkered()
    options = {"solver": solver, "C": 0.5, "submodular": True, "random_state": 0}
    whole = StructuredModel("grid", **options, tol=1e-6, max_iter=500).fit(X, y)
    first = StructuredModel("grid", **options, tol=1e-1, warm_start=True).fit(X, y)
    first.set_params(tol=1e-6, max_iter=500).fit(X, y)
    assert first.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    assert first.problem(X, y).cone.products(first._weights).min() >= -1e-12


def test_one_thread_or_many():
    for solver in ("frank-wolfe", "sgd", "one-slack"):
        one, _ = fitted("tables", solver=solver, n_jobs=1, max_iter=20, **HINGE)
        many, _ = fitted("tables", solver=solver, n_jobs=3, max_iter=20, **HINGE)
        np.testing.assert_array_equal(one._weights, many._weights)


def cone_of(sizes, sparse=False):
    table = np.array([[[1.0, -1.0], [-1.0, 1.0]]])
    blocks = {
        "edge": WeightBlock((2, 2), sizes[0], shared=False),
        "potts": WeightBlock((), sizes[1], shared=False),
        "label": WeightBlock((2,), 3, shared=False),
    }
    if sparse:
        blocks["edge"].row_ptr = np.arange(0, 2 * sizes[0] + 1, 2, dtype=np.uint32)
        blocks["edge"].column = np.tile([0, 1], sizes[0]).astype(np.uint32)
        blocks["edge"].real = np.tile([1, 0], sizes[0]).astype(np.uint8)
    layout = WeightLayout(blocks)
    return WeightCone(layout, {"edge": table, "potts": np.ones(1)}), layout


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_nearest_point(seed, sparse):
    cone, layout = cone_of((2, 3), sparse)
    assert cone.n_rows == 5
    u = np.random.default_rng(seed).normal(size=layout.n_weights)
    w = cone.project(u)
    rows = np.zeros((cone.n_rows, layout.n_weights))
    rows[np.repeat(np.arange(5), np.diff(cone.ptr)), cone.index] = cone.value
    found = minimize(
        lambda x: (0.5 * (x - u) @ (x - u), x - u), np.zeros(len(u)), jac=True, method="SLSQP",
        constraints=[LinearConstraint(rows, 0.0, np.inf)], options={"ftol": 1e-14},
    )  # fmt: skip
    np.testing.assert_allclose(w, found.x, atol=1e-6)
    assert (rows @ w).min() > -1e-12
    np.testing.assert_allclose(cone.project(w), w, atol=1e-12)
    np.testing.assert_allclose(cone.shifted(u, cone.multipliers(u)), w, atol=1e-12)
    if sparse:  # a weight that only fills up a row stays zero
        filler = layout.blocks["edge"].offset + np.flatnonzero(layout.blocks["edge"].real == 0)
        np.testing.assert_array_equal(w[filler], u[filler])
