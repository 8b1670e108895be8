"""Orders of a seed are NumPy's, and made without it."""

import numpy as np
import pytest

from structlearn.learners.orders import Orders, generator

SIZES = (0, 1, 2, 3, 17, 1000)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1, 2**32, 2**63 + 11, 2**64 - 1, True])
def test_orders_are_those_of_numpy(seed):
    orders, theirs = Orders(seed), np.random.default_rng(seed)
    for n in SIZES:
        found = np.asarray(orders.permutation(n))
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, theirs.permutation(n))
        assert orders.state == theirs.bit_generator.state


@pytest.mark.parametrize("seed", [3, 2**64, np.int64(3), None])
def test_other_seeds_and_generators_are_left_to_numpy(seed):
    drawn = np.asarray(Orders(seed).permutation(50))
    assert sorted(drawn) == list(range(50))
    if seed is not None:
        np.testing.assert_array_equal(drawn, np.random.default_rng(seed).permutation(50))
    given = np.random.default_rng(5)
    np.testing.assert_array_equal(
        Orders(given).permutation(9), np.random.default_rng(5).permutation(9)
    )
    drawn = Orders(np.random.RandomState(4)).permutation(9)
    np.testing.assert_array_equal(drawn, generator(np.random.RandomState(4)).permutation(9))


def test_a_state_goes_on_where_it_was():
    orders = Orders(7)
    orders.permutation(6)
    state = orders.state
    expected = bytes(orders.permutation(11))
    for other in (Orders(1), Orders(np.random.default_rng(2))):
        other.state = state
        assert bytes(other.permutation(11)) == expected


def test_other_draws_go_on_behind_the_orders():
    orders, theirs = Orders(8), np.random.default_rng(8)
    orders.permutation(5)
    theirs.permutation(5)
    assert orders.generator.integers(2**63) == theirs.integers(2**63)
    np.testing.assert_array_equal(orders.permutation(5), theirs.permutation(5))


def test_what_is_no_seed_is_refused():
    with pytest.raises(ValueError, match="random_state must be"):
        Orders(-1)
    with pytest.raises(ValueError, match="random_state must be"):
        Orders("seed")
