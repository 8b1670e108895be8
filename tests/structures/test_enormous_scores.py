"""Scores far larger than the temperature: sums are maxima, expected counts those of the best."""

import numpy as np
import pytest

from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Grammar,
    Lattice,
    SemiMarkov,
    SpanningTree,
    Tree,
)
from tests.structures.edge_structures import EdgeChain

GRAMMAR = Grammar(2, [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)], [(0, 1)])

CASES = {
    "chain": (Chain(), {"label": (4, 3), "transition": (3, 3)}),
    "chain of order 2": (Chain(2), {"label": (4, 2), "transition": (2, 2, 2)}),
    "hyperedges": (EdgeChain(), {"label": (4, 3), "transition": (3, 3)}),
    "segments": (SemiMarkov(3), {"segment": (4, 3, 2), "transition": (2, 2)}),
    "tree": (Tree([-1, 0, 0, 1]), {"label": (4, 3), "edge": (3, 3)}),
    "spans": (Constituency(), {"span": (4, 5, 2)}),
    "grammar": (Constituency(GRAMMAR), {"word": (4, 2), "binary": (4,), "span": (4, 5, 2)}),
    "projective": (Arborescence(projective=True), {"arc": (5, 5)}),
    "siblings": (Arborescence(projective=True), {"arc": (5, 5), "sibling": (5, 5, 5)}),
    "arcs": (Arborescence(), {"arc": (5, 5)}),
    "one root": (Arborescence(single_root=True), {"arc": (5, 5)}),
    "spanning tree": (SpanningTree(), {"edge": (5, 5)}),
    "lattice": (Lattice([(0, 1), (0, 1), (1, 2), (0, 2), (1, 2)]), {"edge": (5,)}),
}


@pytest.mark.parametrize("size", [1e15, 1e20, 1e40, 1e150])
@pytest.mark.parametrize("name", CASES)
def test_sums_are_maxima(name, size):
    """Where the second best output is worse by more than rounding, nothing else counts."""
    structure, shapes = CASES[name]
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(10):
        scores = {block: rng.normal(size=shape) * size for block, shape in shapes.items()}
        if name == "spanning tree":
            scores["edge"] = np.triu(scores["edge"], 1) + np.triu(scores["edge"], 1).T
        outputs = list(structure.outputs(**scores))
        values = np.array([structure.score(y, **scores) for y in outputs])
        second, best = np.sort(values)[-2:]
        if best - second < 1e-3 * size:
            continue
        compared += 1
        value, p = structure.infer(temperature=0.5, **scores)
        assert value == pytest.approx(best, rel=1e-12, abs=1e-12 * size)
        counts = structure.encode(outputs[int(values.argmax())], **scores)
        for block in shapes:
            np.testing.assert_allclose(p[block], counts[block], atol=1e-9)
        assert structure.entropy(temperature=0.5, **scores) == pytest.approx(0.0, abs=1e-9)
    assert compared > 5


def test_entropy_where_enormous_scores_cancel():
    """The best output's score is 30, of numbers that 30 is lost beside."""
    label = [[0.0, 0.0, 0.0], [-1e20, -2e20, 1e20]]
    end = [-30.0, 30.0, -np.inf]
    transition = [[1e20, 0.0, -1e20], [0.0, -1e20, 1e20], [-1e20, 0.0, 0.0]]
    assert (
        Chain().entropy(label=label, end=end, transition=transition, start=[0.0, -30.0, -9.0]) == 0
    )
    only = Chain(2).entropy(label=[[-3e150], [1e150], [2e150]], end=[-1.0], transition=[[[0.0]]])
    assert only == 0


def test_ties_of_enormous_scores():
    """Expected counts are shared by equals, and a word has one head."""
    _, p = Chain().infer(
        label=[[1e20, 1e20], [0.0, -1e20], [1e20, 0.0]], transition=[[0.0, 0.0], [0.0, -1e20]]
    )
    np.testing.assert_allclose(p["label"], [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])
    for structure in (Arborescence(), Arborescence(projective=True)):
        _, p = structure.infer(arc=np.full((4, 4), 3e20))
        np.testing.assert_allclose(p["arc"][:, 1:].sum(axis=0), 1.0)


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize(("size", "temperature"), [(1e12, 0.3), (1e14, 5.0), (1e30, 1.0)])
def test_entropy_of_trees_whose_enormous_scores_cancel(projective, single_root, size, temperature):
    """A word's scores shifted, and equal ones: trees differ by whole multiples of the size."""
    structure = Arborescence(projective=projective, single_root=single_root)
    rng = np.random.default_rng(0)
    for labels in (1, 1, 1, 2, 2, 2):
        arc = size * rng.integers(-2, 3, (4, 4, labels)).astype(float)
        whole = arc / size
        scores = [structure.score(y, arc=whole) for y in structure.outputs(arc=whole)]
        ties = scores.count(max(scores))
        found = structure.entropy(temperature=temperature, arc=arc)
        assert found == pytest.approx(np.log(ties), abs=1e-11)


def test_entropy_beside_a_score_that_no_tree_can_have():
    """Sums are measured against the best arcs of words, here 3e20; two trees score 0."""
    arc = [[-1e20, -1e20, 3e20, 0.0], [0.0, -np.inf, -np.inf, -np.inf]]
    arc += [[-np.inf, 0.0, 0.0, -np.inf], [-2e20, 0.0, 0.0, 2e20]]
    structure = Arborescence(projective=True, single_root=True)
    assert structure.entropy(temperature=5.0, arc=arc) == pytest.approx(np.log(2), abs=1e-11)
