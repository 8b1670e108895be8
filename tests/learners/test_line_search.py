"""Steps meet the Wolfe conditions, in few trials, and where values are all rounding error."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.learners.line_search import CURVATURE, DECREASE, wolfe_search

FUNCTIONS = {
    "quadratic": (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
    "quartic": (lambda t: (t - 2) ** 4, lambda t: 4 * (t - 2) ** 3),
    "logistic": (
        lambda t: math.log1p(math.exp(-t)) + 0.05 * t,
        lambda t: -1 / (1 + math.exp(t)) + 0.05,
    ),
    "waves": (lambda t: 0.1 * t * t - math.sin(3 * t), lambda t: 0.2 * t - 3 * math.cos(3 * t)),
    "steep": (lambda t: math.exp(min(t, 700)) - 20 * t, lambda t: math.exp(min(t, 700)) - 20),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@given(exponent=st.floats(-6, 2))
@settings(max_examples=50, deadline=None, derandomize=True, database=None)
def test_wolfe_conditions(name, exponent):
    value, slope = FUNCTIONS[name]
    trials = []

    def phi(t):
        trials.append(t)
        return value(t), slope(t)

    found = wolfe_search(phi, value(0), slope(0), 10.0**exponent)
    assert found is not None
    assert trials[-1] == found.step > 0
    assert found.value <= value(0) + DECREASE * found.step * slope(0)
    assert abs(found.slope) <= CURVATURE * abs(slope(0))
    assert len(trials) <= 15


def test_overflow_on_the_way():
    def phi(t):
        return (math.inf, math.nan) if t > 1e-3 else ((t - 5e-4) ** 2, 2 * (t - 5e-4))

    found = wolfe_search(phi, 25e-8, -1e-3, 1.0)
    assert found.value < 25e-8


def test_slopes_where_values_are_rounding_errors():
    """(t − 1)²·1e-14 on top of 1e3: no value tells one point from another."""
    rng = np.random.default_rng(0)

    def phi(t):
        return 1e3 + 1e-14 * (t - 1) ** 2 + 1e-13 * rng.normal(), 2e-14 * (t - 1)

    found = wolfe_search(phi, 1e3, -2e-14, 0.5)
    assert found.step == 0.5


def test_no_descent():
    assert wolfe_search(lambda t: (1.0 + t, 1.0), 1.0, 0.0, 1.0) is None
    assert wolfe_search(lambda t: (1.0 + t, 1.0), 1.0, 1.0, 1.0) is None
    assert wolfe_search(lambda t: (1.0 + t, 1.0), 1.0, -1.0, 1.0) is None  # the slope lies


def test_good_enough_for_the_caller():
    found = wolfe_search(lambda t: (t * t - t, 2 * t - 1), 0.0, -1.0, 1e-3, enough=lambda: True)
    assert found.step == 1e-3
