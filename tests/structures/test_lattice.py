"""Paths through a directed acyclic graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Lattice
from structlearn.testing import check_structure
from tests.structures.score_strategies import (
    REPEATABLE,
    draw_array,
    forbid,
    forbidden_shares,
    seeds,
    styles,
)

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (0, 3)]


def test_conforms():
    report = check_structure(Lattice(DIAMOND), lambda rng: {"edge": rng.normal(size=6)})
    assert not report.missing


@st.composite
def lattices(draw):
    """Random graphs over numbered nodes; some edges lead nowhere, some are doubled."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.6]
    pairs += [pairs[0]] if pairs and rng.random() < 0.5 else []
    pairs.append((0, n - 1))
    shuffled = rng.permutation(len(pairs))
    names = rng.permutation(n)  # node numbers need not be in topological order
    edges = [(int(names[pairs[i][0]]), int(names[pairs[i][1]])) for i in shuffled]
    lattice = Lattice(edges, source=int(names[0]), target=int(names[-1]))
    scores = {"edge": draw_array(rng, len(edges), draw(styles))}
    return lattice, forbid(rng, scores, draw(forbidden_shares))


@settings(REPEATABLE, max_examples=40)
@given(lattices())
def test_agrees_with_enumeration(case):
    lattice, scores = case
    check_structure(lattice, scores, variations=False, n_samples=200)


def trellis(label, transition, start, end):
    """Write a first-order chain as a lattice: its edges, and their scores."""
    length, n_labels = label.shape
    goal = 1 + length * n_labels
    edges, scores, labels = [], [], []
    for k in range(n_labels):
        edges.append((0, 1 + k))
        scores.append(label[0, k] + start[k])
        labels.append(k)
    for t in range(1, length):
        for a in range(n_labels):
            for b in range(n_labels):
                edges.append((1 + (t - 1) * n_labels + a, 1 + t * n_labels + b))
                scores.append(label[t, b] + transition[a, b])
                labels.append(b)
    for k in range(n_labels):
        edges.append((1 + (length - 1) * n_labels + k, goal))
        scores.append(end[k])
        labels.append(None)
    return Lattice(edges), np.array(scores), labels


@pytest.mark.parametrize(("length", "n_labels"), [(1, 3), (2, 2), (5, 4), (12, 9)])
def test_a_trellis_is_a_chain(length, n_labels):
    """Any maximum-weight path algorithm finds the chain's argmax."""
    rng = np.random.default_rng(length)
    scores = {
        "label": rng.normal(size=(length, n_labels)),
        "transition": rng.normal(size=(n_labels, n_labels)),
        "start": rng.normal(size=n_labels),
        "end": rng.normal(size=n_labels),
    }
    lattice, edge, labels = trellis(**scores)
    path = lattice.argmax(edge=edge)
    np.testing.assert_array_equal([labels[e] for e in path[:-1]], Chain().argmax(**scores))
    assert lattice.solve(edge=edge).value == pytest.approx(Chain().solve(**scores).value, rel=1e-13)
    for temperature in (0.3, 1.0, 5.0):
        assert lattice.log_partition(edge=edge, temperature=temperature) == pytest.approx(
            Chain().log_partition(temperature=temperature, **scores), rel=1e-12
        )
    assert lattice.count(edge=edge) == n_labels**length == Chain().count(**scores)
    for (a, y), (b, z) in zip(lattice.kbest(5, edge=edge), Chain().kbest(5, **scores), strict=True):
        assert a == pytest.approx(b, rel=1e-12)
        assert [labels[e] for e in y[:-1]] == z.tolist()


def test_nodes_of_a_path():
    lattice = Lattice(DIAMOND)
    path = lattice.argmax(edge=[1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    assert path.tolist() == [0, 4, 3]
    assert lattice.nodes(path).tolist() == [0, 1, 2, 3]


def test_default_ends():
    lattice = Lattice([(0, 5), (5, 7)])
    assert (lattice.source, lattice.target) == (0, 7)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (1, 2), (2, 1)], "cycle"),
        ([(0, 0), (0, 1)], "cycle"),
        ([(0, 1, 2)], r"\(E, 2\)"),
        ([], r"\(E, 2\)"),
        ([(0.5, 1.0)], "whole numbers"),
        ([(-1, 1)], "numbered from 0"),
    ],
)
def test_wrong_graphs_are_refused(edges, message):
    with pytest.raises(ValueError, match=message):
        Lattice(edges)


def test_no_path_is_an_error_at_once():
    with pytest.raises(InfeasibleError, match="no path leads from node 2"):
        Lattice([(0, 1), (2, 3)], source=2, target=1)
    with pytest.raises(InfeasibleError, match="no path"):
        Lattice([(0, 1)], source=1, target=1)


def test_number_of_scores_is_checked():
    with pytest.raises(ValueError, match=r"shape \(5,\), the lattice 6 edges"):
        Lattice(DIAMOND).argmax(edge=np.zeros(5))
    with pytest.raises(ValueError, match="needs scores"):
        Lattice(DIAMOND).argmax()
