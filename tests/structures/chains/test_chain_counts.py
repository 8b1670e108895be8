"""How many outputs are legal, as exact integers."""

import numpy as np
import pytest
from hypothesis import given, settings

from structlearn.structures import Chain, Lattice, Multiclass
from structlearn.testing import enumerate_outputs
from tests.structures.score_strategies import REPEATABLE, chain_scores


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_all_sequences(order):
    transition = {"transition": np.zeros((4,) * (order + 1))} if order else {}
    for length in (1, 2, 3, 9):
        scores = {"label": np.zeros((length, 4)), **transition}
        assert Chain(order).count(**scores) == 4**length


@settings(REPEATABLE, max_examples=60)
@given(chain_scores(2))
def test_masks_are_counted(scores):
    assert Chain(2).count(**scores) == enumerate_outputs(Chain(2), scores).n_legal


@pytest.mark.parametrize(("n_labels", "length"), [(10, 40), (2, 64), (3, 41), (26, 14), (45, 60)])
def test_exact_beyond_floating_point_and_machine_integers(n_labels, length):
    """Powers with more digits than a double or 64 bits hold."""
    scores = {"label": np.zeros((length, n_labels))}
    count = Chain().count(**scores)
    assert type(count) is int
    assert count == n_labels**length


def test_fibonacci():
    """Two labels, never the second twice in a row: Fibonacci numbers."""
    transition = np.array([[0.0, 0.0], [0.0, -np.inf]])
    a, b = 1, 2
    for length in range(1, 110):
        assert Chain().count(label=np.zeros((length, 2)), transition=transition) == b
        a, b = b, a + b


def test_counts_beyond_the_largest_double():
    assert Chain().count(label=np.zeros((400, 10))) == 10**400
    label = np.where(np.arange(10) < 5, 0.0, -np.inf) * np.ones((600, 1))
    assert Chain().count(label=label, transition=np.zeros((10, 10))) == 5**600


def test_lattice_counts_paths():
    """n diamonds in a row: 2^n paths."""
    edges = []
    for i in range(80):
        edges += [(3 * i, 3 * i + 1), (3 * i, 3 * i + 2)]
        edges += [(3 * i + 1, 3 * i + 3), (3 * i + 2, 3 * i + 3)]
    assert Lattice(edges).count(edge=np.zeros(len(edges))) == 2**80


def test_log_partition_of_zeros_is_the_log_of_the_count():
    rng = np.random.default_rng(0)
    transition = np.where(rng.random((6, 6)) < 0.4, -np.inf, 0.0)
    np.fill_diagonal(transition, 0.0)
    scores = {"label": np.zeros((30, 6)), "transition": transition}
    count = Chain().count(**scores)
    assert count > 2**53
    assert Chain().log_partition(**scores) == pytest.approx(np.log(float(count)), rel=1e-13)


def test_multiclass():
    assert Multiclass().count(label=[0.0, -np.inf, 1.0]) == 2
