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


def exact_determinant(matrix):
    """Return the determinant of whole numbers, by fractions without denominators (Bareiss)."""
    a = [[int(x) for x in row] for row in matrix]
    sign, before = 1, 1
    for k in range(len(a) - 1):
        rows = [r for r in range(k, len(a)) if a[r][k]]
        if not rows:
            return 0
        if rows[0] != k:
            a[k], a[rows[0]] = a[rows[0]], a[k]
            sign = -sign
        for i in range(k + 1, len(a)):
            for j in range(k + 1, len(a)):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // before
        before = a[k][k]
    return sign * a[-1][-1]


@pytest.mark.parametrize("n", [2, 7, 21, 66])  # more products than fit one sum
@pytest.mark.parametrize("share", [0.25, 0.9])
def test_counts_are_determinants(n, share):
    rng = np.random.default_rng(n)
    arc = np.where(rng.random((n + 1, n + 1, 3)) < share, 0.0, -np.inf)
    ways = np.isfinite(arc).sum(axis=2)
    np.fill_diagonal(ways, 0)
    laplacian = np.diag(ways[:, 1:].sum(axis=0)) - ways[1:, 1:]
    expected = exact_determinant(laplacian)
    assert Arborescence(single_root=False).count(arc=arc) == expected
    with_root = np.diag(ways[1:, 1:].sum(axis=0)) - ways[1:, 1:]
    with_root[0] = ways[0, 1:]
    assert Arborescence().count(arc=arc, n_jobs=2) == exact_determinant(with_root)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("siblings", [False, True])
def test_projective_counts_are_sums(single, siblings):
    rng = np.random.default_rng(8)
    n = 80
    arc = np.where(rng.random((n + 1, n + 1, 2)) < 0.6, 0.0, -np.inf)
    scores = {"arc": arc}
    if siblings:
        scores["sibling"] = np.where(rng.random((n + 1,) * 3) < 0.7, 0.0, -np.inf)
    structure = Arborescence(True, single)
    number = structure.count(**scores)
    assert isinstance(number, int)
    shift = number.bit_length() - 60
    assert np.log(number >> shift) + shift * np.log(2) == pytest.approx(
        structure.log_partition(**scores), rel=1e-12
    )
