"""How many segmentations there are: closed forms."""

from math import comb

import numpy as np
import pytest

from structlearn.structures import SemiMarkov


def count(length, width, n_labels, **scores):
    return SemiMarkov(width).count(segment=np.zeros((length, width, n_labels)), **scores)


@pytest.mark.parametrize("n_labels", [1, 2, 7])
@pytest.mark.parametrize("length", [1, 2, 5, 12])
def test_closed_forms(length, n_labels):
    assert count(length, 1, n_labels) == n_labels**length
    # Any cut between two positions, or none; K labels a segment.
    assert count(length, length, n_labels) == n_labels * (n_labels + 1) ** (length - 1)
    assert count(length, length + 9, n_labels) == n_labels * (n_labels + 1) ** (length - 1)
    # Parts one and two: choose which are two.
    pairs = sum(
        comb(length - twos, twos) * n_labels ** (length - twos) for twos in range(length // 2 + 1)
    )
    assert count(length, 2, n_labels) == pairs


def test_compositions_with_bounded_parts():
    """Fibonacci, tribonacci, tetranacci."""
    assert [count(n, 2, 1) for n in range(1, 9)] == [1, 2, 3, 5, 8, 13, 21, 34]
    assert [count(n, 3, 1) for n in range(1, 9)] == [1, 2, 4, 7, 13, 24, 44, 81]
    assert [count(n, 4, 1) for n in range(1, 9)] == [1, 2, 4, 8, 15, 29, 56, 108]


def test_numbers_beyond_floating_point_are_exact():
    assert count(200, 250, 9) == 9 * 10**199
    assert count(100, 1, 3) == 3**100


def test_log_partition_of_zeros_is_the_logarithm_of_the_count():
    for length, width, n_labels in ((7, 3, 2), (40, 6, 9), (3, 8, 1)):
        value = SemiMarkov(width).log_partition(segment=np.zeros((length, width, n_labels)))
        assert value == pytest.approx(np.log(float(count(length, width, n_labels))), rel=1e-12)
        entropy = SemiMarkov(width).entropy(segment=np.zeros((length, width, n_labels)))
        assert entropy == pytest.approx(value, rel=1e-10)


def test_forbidden_parts():
    never = np.array([[0.0, -np.inf], [0.0, 0.0]])
    # Labels never go from 0 to 1: ones, then zeros.
    assert count(3, 1, 2, transition=never) == 4
    assert count(3, 1, 2, transition=never, start=np.array([-np.inf, 0.0])) == 3
    assert count(3, 1, 2, transition=never, end=np.array([-np.inf, 0.0])) == 1
    anchored = np.stack([never, np.zeros((2, 2))])
    assert count(3, 1, 2, transition=anchored) == 6
    batch = SemiMarkov(2).count(segment=[np.zeros((2, 2, 1)), np.zeros((3, 2, 1))])
    assert batch == [2, 3]
