"""Probabilities in bins."""

import pytest

from structlearn.metrics import reliability


@pytest.mark.parametrize("n_bins", [1, 10, 29, 100])
def test_a_probability_on_a_border_is_in_the_bin_above_it(n_bins):
    p = [k / n_bins for k in range(n_bins + 1)]
    found = reliability(p, [True] * len(p), n_bins)
    for b in found.bins[:-1]:
        assert (b.n, b.probability) == (1, b.low)
    assert found.bins[-1].n == 2  # 1 is in it, too
