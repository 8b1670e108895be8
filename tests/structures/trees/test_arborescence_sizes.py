"""Trees of every size: the smallest, those that fail, and long sentences."""

import numpy as np
import pytest

from structlearn.structures import Arborescence, SpanningTree
from structlearn.structures.trees.heads import check_tree, inner_siblings, is_projective
from tests.structures.trees.tree_references import best_by_program, nested_cycles

KINDS = [(projective, single) for projective in (False, True) for single in (False, True)]


@pytest.mark.parametrize(("projective", "single"), KINDS)
def test_one_word(projective, single):
    structure = Arborescence(projective, single)
    arc = np.array([[np.nan, 2.0], [np.nan, np.nan]])
    assert structure.argmax(arc=arc).tolist() == [0]
    assert structure.log_partition(arc=arc) == pytest.approx(2.0)
    assert structure.count(arc=arc) == 1


def test_no_words():
    for size in (0, 1):
        with pytest.raises(ValueError, match="at least one word"):
            Arborescence().argmax(arc=np.zeros((size, size)))
    with pytest.raises(ValueError, match="at least one node"):
        SpanningTree().argmax(edge=np.zeros((0, 0)))
    assert SpanningTree().argmax(edge=np.zeros((1, 1))).shape == (0, 2)


@pytest.mark.parametrize("single", [False, True])
def test_integer_program_agrees(single):
    rng = np.random.default_rng(11)
    structure = Arborescence(single_root=single)
    for trial in range(12):
        n = int(rng.integers(2, 9))
        arc = nested_cycles(n, rng) if trial % 2 else rng.normal(size=(n + 1, n + 1))
        arc[rng.random(arc.shape) < 0.2] = -np.inf
        expected = best_by_program(arc, single_root=single)
        if expected == -np.inf:
            with pytest.raises(ValueError, match="no legal output"):
                structure.argmax(arc=arc)
        else:
            assert structure.solve(arc=arc).value == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n", [7, 8, 9, 16, 17, 33, 60])
def test_cycles_within_cycles(n):
    """The best tree beats every change of one head, and the dual root penalty proves a root."""
    rng = np.random.default_rng(n)
    arc = nested_cycles(n, rng)
    words = np.arange(1, n + 1)
    many = Arborescence(single_root=False)
    one = Arborescence()
    best = many.solve(arc=arc)
    check_tree(best.output)
    single = one.solve(arc=arc)
    check_tree(single.output, single_root=True)
    assert single.value <= best.value + 1e-9
    # The best tree with a fixed root, over all roots: the definition of one root.
    by_root = []
    for root in words:
        fixed = arc.copy()
        fixed[0, :] = -np.inf
        fixed[0, root] = arc[0, root]
        by_root.append(many.solve(arc=fixed).value)
    assert single.value == pytest.approx(max(by_root))
    second = many.kbest(2, arc=arc)[1][0]
    assert second <= best.value
    for m in words[:10]:
        for h in range(n + 1):
            changed = best.output.copy()
            changed[m - 1] = h
            try:
                check_tree(changed)
            except ValueError:
                continue
            if h != best.output[m - 1]:
                assert many.score(changed, arc=arc) <= second + 1e-9


@pytest.mark.parametrize(("projective", "single"), KINDS)
def test_four_hundred_words(projective, single):
    rng = np.random.default_rng(0)
    arc = rng.normal(size=(401, 401))
    structure = Arborescence(projective, single)
    heads = structure.argmax(arc=arc)
    check_tree(heads, projective=projective, single_root=single)
    p = structure.marginals(arc=arc)["arc"]
    np.testing.assert_allclose(p[:, 1:].sum(axis=0), 1.0)
    drawn = structure.sample(1, arc=arc, random_state=0)[0]
    check_tree(drawn, projective=projective, single_root=single)


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    arcs = [rng.normal(size=(n + 1, n + 1)) for n in rng.integers(1, 30, size=200)]
    for structure in (Arborescence(), Arborescence(projective=True)):
        alone = structure.argmax(arc=arcs)
        for a, b in zip(alone, structure.argmax(arc=arcs, n_jobs=2), strict=True):
            assert (a == b).all()
        for a, b in zip(
            structure.marginals(arc=arcs[:20]),
            structure.marginals(arc=arcs[:20], n_jobs=2),
            strict=True,
        ):
            assert (a["arc"] == b["arc"]).all()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"arc": np.zeros((3, 4))}, "expected"),
        ({"arc": np.zeros(3)}, "expected"),
        ({"arc": np.full((3, 3), np.nan)}, "NaN"),
        ({"arc": np.full((3, 3), np.inf)}, "inf"),
        ({"arc": np.zeros((3, 3, 0))}, "labels"),
        ({"arc": np.zeros((3, 3)), "sibling": np.zeros((3, 3, 3))}, "projective=True"),
        ({"arc": np.zeros((3, 3)), "edge": np.zeros((3, 3))}, "no score block"),
        ({}, "needs arc scores"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(ValueError, match=message):
        Arborescence().argmax(**scores)


def test_siblings_of_another_size():
    with pytest.raises(ValueError, match=r"\(3, 3, 3\)"):
        Arborescence(True).argmax(arc=np.zeros((3, 3)), sibling=np.zeros((4, 4, 4)))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], "1 heads"),
        ([0, 3], "not among"),
        ([2, 1], "cycle"),
        ([0, 0], "single_root"),
        ([0, 1.5], "whole"),
        ("ab", "whole"),
    ],
)
def test_bad_trees(y, message):
    with pytest.raises(ValueError, match=message):
        Arborescence().score(y, arc=np.zeros((3, 3)))


def test_helpers_of_trees():
    assert is_projective([2, 0, 2, 3])
    assert not is_projective([3, 0, 2])  # an arc over the root's
    assert inner_siblings([2, 0, 2, 2]).tolist() == [2, 0, 2, 3]
