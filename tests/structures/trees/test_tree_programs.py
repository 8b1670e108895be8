"""Trees as integer programs, and projective ones by the hyperedge engine."""

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Arborescence, SpanningTree
from structlearn.structures.parts import flatten
from tests.structures.trees.tree_references import nested_cycles

KINDS = [(projective, single) for projective in (False, True) for single in (False, True)]


def assert_same_best(structure, scores):
    program = structure.as_program(**scores)
    try:
        expected = structure.solve(**scores)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            program.solve()
        return
    found = program.solve()
    assert found.value == pytest.approx(expected.value)
    assert structure.score(found.output, **scores) == pytest.approx(expected.value)


@pytest.mark.parametrize(("projective", "single"), KINDS)
@pytest.mark.parametrize("labels", [0, 2])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_programs_of_arborescences(projective, single, labels, n):
    rng = np.random.default_rng([projective, single, labels, n])
    structure = Arborescence(projective, single)
    for forbid in (0.0, 0.3):
        arc = nested_cycles(n, rng)
        if labels:
            arc = arc[:, :, None] + rng.normal(size=(n + 1, n + 1, labels))
        arc[rng.random(arc.shape) < forbid] = -np.inf
        assert_same_best(structure, {"arc": arc})


@pytest.mark.parametrize("single", [False, True])
def test_programs_with_siblings(single):
    rng = np.random.default_rng(single)
    structure = Arborescence(True, single)
    for n in (1, 3, 6):
        scores = {"arc": rng.normal(size=(n + 1, n + 1)), "sibling": rng.normal(size=(n + 1,) * 3)}
        assert_same_best(structure, scores)


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_programs_of_spanning_trees(n):
    edge = np.random.default_rng(n).normal(size=(n, n))
    assert_same_best(SpanningTree(), {"edge": edge + edge.T})


def test_a_constraint_on_a_tree():
    """At most two words below each head: what Chu-Liu/Edmonds does not know."""
    rng = np.random.default_rng(5)
    arc = rng.normal(size=(5, 5))
    arc[2, 1:] += 3.0
    structure = Arborescence()
    rows = np.zeros((5, 25))
    for h in range(5):
        rows[h, h * 5 : h * 5 + 5] = 1
    found = structure.as_program(arc=arc).with_rows(rows, 0, 2).solve()
    few = [y for y in structure.outputs(arc=arc) if np.bincount(y, minlength=5).max() <= 2]
    assert found.value == pytest.approx(max(structure.score(y, arc=arc) for y in few))
    assert found.value < structure.solve(arc=arc).value


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("sibling", [False, True])
@pytest.mark.parametrize("labels", [0, 2])
def test_hyperedges_agree(single, sibling, labels):
    """The loops against the generic engine, on sentences too long to enumerate."""
    rng = np.random.default_rng(9)
    n = 9
    shape = (n + 1, n + 1, labels) if labels else (n + 1, n + 1)
    scores = {"arc": rng.normal(size=shape)}
    if sibling:
        scores["sibling"] = rng.normal(size=(n + 1,) * 3)
    structure = Arborescence(True, single)
    theta = structure._scores(scores)
    engine = structure.edges(**theta).compile(flatten(theta).size)
    value, _, _ = engine.best(flatten(theta))
    assert structure.solve(**scores).value == pytest.approx(value)
    for temperature in (0.3, 1.0):
        total, p = engine.infer(flatten(theta), temperature)
        found, q = structure.infer(temperature=temperature, **scores)
        assert found == pytest.approx(total)
        np.testing.assert_allclose(flatten(q), p, atol=1e-12)
    ours = [v for v, _ in structure.kbest(20, **scores)]
    assert ours == pytest.approx([v for v, _, _ in engine.kbest(flatten(theta), 20)])
    assert structure.count(**scores) == structure.edges(**theta).count(flatten(theta))
