"""How many trees there are."""

from math import comb

import numpy as np
import pytest

from structlearn.structures import Arborescence, SpanningTree
from structlearn.structures.trees.heads import all_heads


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 30])
def test_numbers_of_trees(n):
    arc = np.zeros((n + 1, n + 1))
    assert Arborescence(single_root=False).count(arc=arc) == (n + 1) ** (n - 1)
    assert Arborescence().count(arc=arc) == n ** (n - 1)
    assert Arborescence(True, False).count(arc=arc) == comb(3 * n, n) // (2 * n + 1)
    assert SpanningTree().count(edge=np.zeros((n, n))) == (n ** (n - 2) if n > 1 else 1)
    labelled = np.zeros((n + 1, n + 1, 3))
    assert Arborescence().count(arc=labelled) == 3**n * n ** (n - 1)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_log_partition_counts_too(n):
    arc = np.zeros((n + 1, n + 1))
    for projective in (False, True):
        for single in (False, True):
            structure = Arborescence(projective, single)
            assert structure.log_partition(arc=arc) == pytest.approx(
                np.log(float(structure.count(arc=arc))), abs=1e-9
            )


def test_forbidden_arcs_and_siblings_are_not_counted():
    rng = np.random.default_rng(0)
    for _ in range(20):
        arc = np.where(rng.random((5, 5)) < 0.3, -np.inf, 0.0)
        sibling = np.where(rng.random((5, 5, 5)) < 0.2, -np.inf, 0.0)
        for single in (False, True):
            structure = Arborescence(True, single)
            legal = sum(
                structure.score(y, arc=arc, sibling=sibling) > -np.inf
                for y in all_heads(4, projective=True, single_root=single)
            )
            assert structure.count(arc=arc, sibling=sibling) == legal


def test_large_counts_are_exact():
    n = 60
    arc = np.zeros((n + 1, n + 1))
    assert Arborescence().count(arc=arc) == n ** (n - 1)
    assert Arborescence(True, False).count(arc=arc) == comb(3 * n, n) // (2 * n + 1)
