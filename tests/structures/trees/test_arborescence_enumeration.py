"""Dependency trees against the list of all trees."""

import numpy as np
import pytest

from structlearn.structures import Arborescence, SpanningTree
from structlearn.structures.trees.heads import all_heads
from structlearn.testing import check_structure

KINDS = [(projective, single) for projective in (False, True) for single in (False, True)]


def draw(n, *, labels=0, sibling=False):
    def make(rng):
        scores = {"arc": rng.normal(size=(n + 1, n + 1, labels) if labels else (n + 1, n + 1))}
        if sibling:
            scores["sibling"] = rng.normal(size=(n + 1,) * 3)
        return scores

    return make


@pytest.mark.parametrize(("projective", "single"), KINDS)
@pytest.mark.parametrize(("n", "labels"), [(1, 0), (3, 0), (4, 0), (1, 1), (2, 3)])
def test_every_query(projective, single, n, labels):
    report = check_structure(
        Arborescence(projective, single),
        draw(n, labels=labels),
        n_inputs=2,
        n_samples=600,
        max_kbest=30,
    )
    assert report.missing == {}


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(("n", "labels"), [(1, 0), (4, 0), (2, 2)])
def test_every_query_with_siblings(single, n, labels):
    report = check_structure(
        Arborescence(True, single),
        draw(n, labels=labels, sibling=True),
        n_inputs=2,
        n_samples=600,
        max_kbest=30,
    )
    assert report.missing == {}


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_every_query_of_spanning_trees(n):
    def make(rng):
        half = rng.normal(size=(n, n))
        return {"edge": half + half.T}

    # A single node has a tree without parts: nothing to forbid.
    report = check_structure(
        SpanningTree(), make, n_inputs=2, n_samples=400, max_kbest=30, variations=n > 1
    )
    assert report.missing == {}


@pytest.mark.parametrize(("projective", "single"), KINDS)
def test_best_of_five_words(projective, single):
    rng = np.random.default_rng(7)
    structure = Arborescence(projective, single)
    trees = np.array(list(all_heads(5, projective=projective, single_root=single)))
    words = np.arange(1, 6)
    for trial in range(200):
        arc = rng.normal(size=(6, 6)) * (1.0, 1e3, 3.0, 1.0)[trial % 4]
        if trial % 4 == 2:
            arc = np.round(arc)  # ties
        if trial % 4 == 3:
            arc[rng.random(arc.shape) < 0.45] = -np.inf
        best = arc[trees, words].sum(axis=1).max()
        unread = arc.copy()
        unread[:, 0] = np.nan
        np.fill_diagonal(unread, np.nan)
        if best == -np.inf:
            with pytest.raises(ValueError, match="no legal output"):
                structure.argmax(arc=unread)
            continue
        found = structure.solve(arc=unread)
        assert found.value == pytest.approx(best, abs=1e-9)
        assert structure.score(found.output, arc=unread) == pytest.approx(best, abs=1e-9)
