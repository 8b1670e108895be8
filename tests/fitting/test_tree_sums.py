"""Sums over shards: the same bits whoever adds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from structlearn.fitting.tree_sums import add, cover, halves, tree_sum


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_nodes_cover_a_range_once(n: int) -> None:
    for low in range(n):
        for high in range(low + 1, n + 1):
            nodes = cover(n, low, high)
            assert [k for node in nodes for k in range(*node)] == list(range(low, high))
            assert len(nodes) <= 2 * n.bit_length()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_sums_have_the_same_bits_however_shards_are_shared_out(n: int) -> None:
    rng = np.random.default_rng(n)
    values = [(rng.normal(size=50) * 10.0 ** rng.integers(-8, 8), rng.normal()) for _ in range(n)]

    def single(node: tuple[int, int]) -> object:
        vector, number = values[node[0]]
        return (vector.copy(), number) if node[1] - node[0] == 1 else None

    whole = tree_sum((0, n), single)
    np.testing.assert_allclose(whole[0], np.sum([v for v, _ in values], axis=0), rtol=1e-6)
    for _ in range(20):
        ends = sorted({0, n, *rng.integers(0, n + 1, size=3).tolist()})
        parts = {
            node: tree_sum(node, single)
            for low, high in itertools.pairwise(ends)
            for node in cover(n, low, high)
        }
        found = tree_sum((0, n), parts.get)
        assert np.array_equal(found[0], whole[0])
        assert found[1] == whole[1]


def test_halves_are_nodes_and_lists_are_joined() -> None:
    assert halves((0, 5)) == ((0, 4), (4, 5))
    assert halves((4, 6)) == ((4, 5), (5, 6))
    assert add({"a": [1], "b": (2, None)}, {"a": [3], "b": (4, None)}) == {
        "a": [1, 3],
        "b": (6, None),
    }
