"""Cliques that earn in part where some of their nodes disagree (robust P^n)."""

import itertools

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError
from structlearn.structures import Graph

TOLERANCES = (0.0, 0.3, 0.5)


def random_scores(rng, labels, n=6):
    edges = np.array([(a, b) for a in range(n) for b in range(a) if rng.random() < 0.4])
    groups = [rng.permutation(n)[: rng.integers(1, n + 1)].tolist() for _ in range(3)]
    return {
        "label": rng.normal(size=(n, labels)),
        "edge": rng.random() * np.eye(labels),
        "edges": edges.reshape(-1, 2),
        "clique": 3 * rng.random((3, labels)),
        "cliques": groups,
    }


def value_of(scores, y, tolerance):
    """Return the score by its definition."""
    found = scores["label"][np.arange(len(y)), y].sum()
    found += sum(scores["edge"][y[a], y[b]] for a, b in scores["edges"])
    for group, reward in zip(scores["cliques"], scores["clique"], strict=True):
        slack = max(1.0, tolerance * len(group))
        for k, earned in enumerate(reward):
            found += earned * max(0.0, 1 - np.sum(y[group] != k) / slack)
    return found


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_scores_and_parts(tolerance):
    rng = np.random.default_rng(0)
    graph = Graph(tolerance=tolerance)
    for _ in range(20):
        scores = random_scores(rng, 3)
        y = rng.integers(3, size=6)
        y[rng.random(6) < 0.6] = 1
        expected = value_of(scores, y, tolerance)
        assert graph.score(y, **scores) == pytest.approx(expected)
        parts = graph.encode(y, **scores)
        assert sum((parts[name] * scores[name]).sum() for name in parts) == pytest.approx(expected)


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_cut_is_the_best_of_two_labels(tolerance):
    rng = np.random.default_rng(1)
    graph = Graph(tolerance=tolerance)
    for _ in range(25):
        scores = random_scores(rng, 2)
        every = (np.array(y) for y in itertools.product(range(2), repeat=6))
        best = max(value_of(scores, y, tolerance) for y in every)
        for method in ("auto", "cut"):
            found = graph.solve(method=method, **scores)
            assert found.exact
            assert found.value == pytest.approx(best)


@pytest.mark.parametrize("method", ["expansion", "swap"])
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_no_single_move_is_left(tolerance, method):
    """What a cut says is the best move is: none of all moves, tried one by one, gains."""
    rng = np.random.default_rng(2)
    graph = Graph(tolerance=tolerance)
    for _ in range(10):
        scores = random_scores(rng, 3)
        found = graph.solve(method=method, **scores)
        assert found.value == pytest.approx(value_of(scores, found.output, tolerance))
        best = max(
            value_of(scores, np.array(y), tolerance) for y in itertools.product(range(3), repeat=6)
        )
        assert found.value <= best + 1e-9 <= found.bound + 2e-9
        for alpha, beta in itertools.permutations(range(3), 2):
            for move in itertools.product([False, True], repeat=6):
                chosen = np.array(move)
                if method == "expansion":
                    y = np.where(chosen, alpha, found.output)
                else:
                    taking_part = np.isin(found.output, (alpha, beta))
                    y = np.where(taking_part, np.where(chosen, alpha, beta), found.output)
                assert value_of(scores, y, tolerance) <= found.value + 1e-9


def test_a_few_that_disagree_keep_their_labels():
    label = np.tile([1.0, 0.0], (10, 1))
    label[0] = [0.0, 2.0]  # one pixel of a region is different, and sure of it
    scores = {"label": label, "clique": np.full(2, 3.0), "cliques": [list(range(10))]}
    strict, robust = Graph([]), Graph([], tolerance=0.3)
    assert strict.argmax(**scores).tolist() == [0] * 10
    assert robust.argmax(**scores).tolist() == [1] + [0] * 9


def test_what_takes_no_tolerance_says_so():
    scores = random_scores(np.random.default_rng(3), 3)
    scores["cliques"][0] = list(range(6))
    for method in ("ilp", "lp"):
        with pytest.raises(CapabilityError, match="tolerance"):
            Graph(method=method, tolerance=0.5).argmax(**scores)
    for tolerance in (-0.1, 0.6, np.nan):
        with pytest.raises(ValueError, match=r"from 0 to 0\.5"):
            Graph(tolerance=tolerance)
    assert "tolerance=0.3" in repr(Graph(tolerance=0.3))
