"""Time limits of searches under constraints, of structures and of estimators."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from structlearn import StructuredPerceptron
from structlearn.constraints import Label, Part, at_most, exactly, with_constraints
from structlearn.structures import Graph, Grid, Matching
from tests.estimators.estimator_data import quietly

EDGES = np.array([(p, q) for p in range(6) for q in range(p + 1, 6)])


def cases(rng):
    """A structure with its scores, and constraints that are rows of its program."""
    few = [at_most(2, Label(1))]
    label = rng.normal(size=(6, 2))
    yield Graph(EDGES, method="ilp"), few, {"label": label, "edge": rng.normal(size=(15, 2, 2))}
    grid = {"label": rng.normal(size=(2, 3, 2)), "right": rng.normal(size=(2, 2))}
    yield Grid(method="ilp"), few, grid
    pairs = [at_most(1, Part("pair", at=(0, 0)), Part("pair", at=(1, 1)))]
    yield Matching(), pairs, {"pair": rng.normal(size=(4, 4))}


def best_by_enumeration(constrained, scores):
    return max(constrained.structure.score(y, **scores) for y in constrained.outputs(**scores))


@pytest.mark.parametrize("number", range(3), ids=["graph", "grid", "matching"])
def test_limits_of_structures_against_enumeration(number):
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(12):
        structure, constraints, scores = list(cases(rng))[number]
        constrained = with_constraints(structure, constraints, time_limit=60.0)
        best = best_by_enumeration(constrained, scores)
        assert constrained.solve(**scores).value == pytest.approx(best)
        hurried = with_constraints(structure, constraints, time_limit=0.0)
        try:
            found = hurried.solve(**scores)
        except TimeoutError:
            outcomes.add("nothing")
            continue
        outcomes.add("something")
        assert hurried.broken(found.output, **scores) is None
        assert found.value <= best + 1e-9 <= found.bound + 2e-9
        assert not found.exact or found.value == pytest.approx(best)
    assert "something" in outcomes


def test_the_structure_is_given_the_limit():
    """Without it, a search of the structure's own would take as long as it likes."""
    seen = []

    class Watched(Graph):
        def solve(self, *, time_limit=None, **scores):
            seen.append(time_limit)
            return super().solve(time_limit=time_limit, **scores)

    scores = {"label": np.zeros((6, 2)), "edge": np.eye(2)}
    for limit in (None, 5.0):
        with_constraints(Watched(EDGES), [at_most(3, Label(1))], time_limit=limit).solve(**scores)
    assert seen == [None, 5.0]


def test_limits_of_estimators():
    rng = np.random.default_rng(1)
    X = [{"label": rng.normal(size=(6, 3)), "edges": EDGES} for _ in range(5)]
    y = [np.array([0, 1, 0, 0, 1, 0]) for _ in X]
    graph = StructuredPerceptron(
        "graph", constraints=[exactly(2, Label(1))], max_iter=3, random_state=0
    )
    limited = StructuredPerceptron(
        "graph", constraints=[exactly(2, Label(1))], max_iter=3, random_state=0, time_limit=30.0
    )
    for model in (graph, limited):
        quietly(model, X, y)
    assert (graph.structure_.time_limit, limited.structure_.time_limit) == (None, 30.0)
    assert [k.tolist() for k in limited.predict(X)] == [k.tolist() for k in graph.predict(X)]
    assert all(np.sum(k == 1) == 2 for k in limited.predict(X))
    hurried = StructuredPerceptron(
        "graph", constraints=[exactly(2, Label(1))], max_iter=3, random_state=0, time_limit=0.0
    )
    with pytest.raises(TimeoutError):
        hurried.fit(X, y)


def images(rng):
    X = [{"label": rng.normal(size=(2, 3, 3)), "right": np.ones((2, 2, 1))} for _ in range(4)]
    return X, [np.array([[0, 1, 0], [0, 0, 1]]) for _ in X], [exactly(2, Label(1))]


def pairings(rng):
    X = [{"pair": rng.normal(size=(3, 3, 2))} for _ in range(4)]
    y = [np.array([1, 0, 2]) for _ in X]
    return X, y, [at_most(1, Part("pair", at=(0, 0)), Part("pair", at=(1, 1)))]


@pytest.mark.parametrize(("structure", "make"), [(Grid(), images), (Matching(), pairings)])
def test_limits_of_other_estimators(structure, make):
    """Time enough changes nothing, and answers keep to the constraints."""
    X, y, constraints = make(np.random.default_rng(2))
    found = []
    for limit in (None, 30.0):
        model = StructuredPerceptron(
            structure, constraints=constraints, max_iter=3, random_state=0, time_limit=limit
        )
        quietly(model, X, y)
        assert model.structure_.time_limit == limit
        found.append([output.tolist() for output in model.predict(X)])
        for scores, output in zip(X, model.predict(X), strict=True):
            blank = {k: np.zeros(np.shape(v)[:2]) for k, v in scores.items() if k == "pair"}
            blank = blank or {"label": np.zeros((2, 3, 2))}
            assert model.structure_.broken(output, **blank) is None
    assert found[0] == found[1]
    hurried = StructuredPerceptron(
        structure, constraints=constraints, max_iter=3, random_state=0, time_limit=0.0
    )
    with contextlib.suppress(TimeoutError):  # or what the structure's own search has found
        quietly(hurried, X, y)
        assert hurried.structure_.time_limit == 0.0


@pytest.mark.parametrize("limit", [-1.0, float("nan"), "1", [1.0]])
def test_limits_that_are_no_times(limit):
    with pytest.raises(ValueError, match="time_limit must be a number of seconds"):
        with_constraints(Matching(), [at_most(1, Label(1))], time_limit=limit)
