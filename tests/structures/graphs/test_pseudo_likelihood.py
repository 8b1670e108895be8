"""Pseudo-likelihoods and loopy sums of grids and graphs, against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from structlearn.exceptions import CapabilityError
from structlearn.structures import Chain, Graph, Grid

EDGES = np.array([[0, 1], [1, 2], [3, 2], [0, 3], [1, 3], [2, 4]])


def draw(kind, rng, labels=3, forbid=False):
    """Return a structure with scores, and a labelling."""
    if kind == "graph":
        scores = {
            "label": rng.normal(size=(5, labels)),
            "edge": rng.normal(size=(6, labels, labels)),
        }
        y = rng.integers(labels, size=5)
        structure = Graph(EDGES)
    elif kind == "shared":
        scores = {"label": rng.normal(size=(5, labels)), "edge": rng.normal(size=(labels, labels))}
        y = rng.integers(labels, size=5)
        structure = Graph(EDGES)
    else:
        scores = {
            "label": rng.normal(size=(3, 4, labels)),
            "right": rng.normal(size=(labels, labels)),
            "down": rng.normal(size=(2, 4, labels, labels)),
            "potts_right": rng.normal(size=(3, 3)),
            "potts_down": np.array(rng.normal()),
        }
        y = rng.integers(labels, size=(3, 4))
        structure = Grid()
    if forbid:
        at = (0,) * (y.ndim) + ((y.flat[0] + 1) % labels,)
        scores["label"][at] = -np.inf
    return structure, scores, y


def by_definition(structure, scores, y, temperature):
    """score(y) − ε Σ_v log P(y_v | the others), by scoring every change of one label."""
    total = structure.score(y, **scores)
    gold = total
    for v in range(y.size):
        others = []
        for k in range(scores["label"].shape[-1]):
            changed = y.copy()
            changed.flat[v] = k
            others.append(structure.score(changed, **scores))
        total += temperature * logsumexp(np.array(others) / temperature) - gold
    return total


@pytest.mark.parametrize("kind", ["graph", "shared", "grid"])
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6), temperature=st.sampled_from([0.3, 1.0, 2.0]), forbid=st.booleans()
)
def test_value_is_its_definition(kind, seed, temperature, forbid):
    structure, scores, y = draw(kind, np.random.default_rng(seed), forbid=forbid)
    value, _ = structure.pseudo_infer(y, temperature=temperature, **scores)
    assert value == pytest.approx(by_definition(structure, scores, y, temperature), rel=1e-12)


@pytest.mark.parametrize("kind", ["graph", "shared", "grid"])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_gradient_by_differences(kind, temperature):
    structure, scores, y = draw(kind, np.random.default_rng(3))
    _, gradient = structure.pseudo_infer(y, temperature=temperature, **scores)
    h = 1e-6
    for name, array in scores.items():
        assert gradient[name].shape == array.shape
        for at in itertools.islice(np.ndindex(array.shape), 0, None, 5):
            ends = []
            for sign in (1, -1):
                moved = array.copy()
                moved[at] += sign * h
                ends.append(
                    structure.pseudo_infer(y, temperature=temperature, **{**scores, name: moved})[0]
                )
            assert gradient[name][at] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=2e-8)


def test_without_edges_it_is_the_log_loss():
    rng = np.random.default_rng(0)
    label, y = rng.normal(size=(4, 3)), rng.integers(3, size=4)
    graph = Graph(np.empty((0, 2), dtype=int))
    value, p = graph.pseudo_infer(y, label=label)
    exact, q = graph.infer(label=label)
    assert value == pytest.approx(exact, rel=1e-14)
    np.testing.assert_allclose(p["label"], q["label"], atol=1e-14)


def test_huge_scores():
    structure, scores, y = draw("grid", np.random.default_rng(1))
    scores = {name: 1e4 * a for name, a in scores.items()}
    value, p = structure.pseudo_infer(y, **scores)
    assert np.isfinite(value)
    assert all(np.isfinite(a).all() for a in p.values())


def test_loopy_sums_are_exact_on_trees_and_differ_on_cycles():
    rng = np.random.default_rng(2)
    label, edge = rng.normal(size=(4, 2)), 2 * rng.normal(size=(4, 2, 2))
    tree = Graph([[0, 1], [1, 2], [1, 3]])
    value, p = tree.loopy_infer(label=label, edge=edge[:3])
    exact, q = tree.infer(label=label, edge=edge[:3])
    assert value == pytest.approx(exact, rel=1e-9)
    np.testing.assert_allclose(p["edge"], q["edge"], atol=1e-8)
    cycle = Graph([[0, 1], [1, 2], [2, 3], [3, 0]])
    value, _ = cycle.loopy_infer(label=label, edge=edge)
    exact, _ = cycle.infer(label=label, edge=edge)
    assert abs(value - exact) > 1e-6


def test_bethe_gradient_by_differences():
    rng = np.random.default_rng(4)
    label, edge = rng.normal(size=(4, 2)), rng.normal(size=(2, 2))
    cycle = Graph([[0, 1], [1, 2], [2, 3], [3, 0]])
    _, p = cycle.loopy_infer(label=label, edge=edge)
    for at in np.ndindex(2, 2):
        ends = []
        for h in (1e-5, -1e-5):
            moved = edge.copy()
            moved[at] += h
            ends.append(cycle.loopy_infer(label=label, edge=moved)[0])
        assert p["edge"][at] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-5)


def test_what_has_neither_says_so():
    scores = {"label": np.zeros((2, 2))}
    with pytest.raises(CapabilityError, match="Grid and Graph have"):
        Chain().pseudo_infer(np.zeros(2, int), **scores)
    with pytest.raises(CapabilityError, match="Grid and Graph have"):
        Chain().loopy_infer(**scores)
    with pytest.raises(CapabilityError, match="Grid and Graph"):
        Chain().submodular_rows(2)
    with pytest.raises(CapabilityError, match="cliques"):
        Graph(EDGES).pseudo_infer(
            np.zeros(5, int), label=np.zeros((5, 2)), clique=np.zeros((1, 2)), cliques=[[0, 1]]
        )
    with pytest.raises(ValueError, match="shape"):
        Graph(EDGES).pseudo_infer(np.zeros(4, int), label=np.zeros((5, 2)))
    with pytest.raises(ValueError, match="labels must be"):
        Graph(EDGES).pseudo_infer(np.full(5, 2), label=np.zeros((5, 2)))


def test_bounds_are_not_worked_out_where_nobody_asks(monkeypatch):
    rng = np.random.default_rng(0)
    scores = {"label": rng.normal(size=(12, 12, 3)), "potts_right": 0.5, "potts_down": 0.5}
    grid = Grid()
    proven, quick = grid.solve(**scores), grid.solve_without_bound(**scores)
    np.testing.assert_array_equal(proven.output, quick.output)
    assert quick.value == proven.value
    assert quick.bound == np.inf
    assert not quick.exact
    assert proven.bound < np.inf
    two = {"label": rng.normal(size=(12, 12, 2)), "potts_right": 0.5, "potts_down": 0.5}
    assert grid.solve_without_bound(**two).exact
    assert grid.solve_without_bound(**two).value == pytest.approx(grid.solve(**two).value)
