"""Scores so large that exponentials underflow: the sums go on with logarithms."""

import numpy as np
import pytest

from structlearn.structures import Chain
from tests.structures.chains.chain_reference import best_value, forward_backward, summed
from tests.structures.score_strategies import draw_array


def check(order, scores, temperature):
    value, marginals = forward_backward(scores, order, temperature)
    got, p = Chain(order).infer(temperature=temperature, **scores)
    assert got == pytest.approx(value, rel=1e-12)
    for name, right in summed(marginals, scores).items():
        np.testing.assert_allclose(p[name], right, atol=1e-6, err_msg=name)
        assert (p[name][np.isneginf(scores[name])] == 0).all()
    for name, right in Chain(order).marginals(temperature=temperature, **scores).items():
        np.testing.assert_allclose(right, marginals[name], atol=1e-6, err_msg=name)


@pytest.mark.parametrize("style", ["thousands", "hundred thousands", "mixed sizes"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n_labels", [2, 5, 9])
def test_large_scores(style, order, shared, n_labels):
    rng = np.random.default_rng([order, n_labels])
    length = 8
    positions = () if shared else (length - order,)
    shapes = {
        "label": (length, n_labels),
        "transition": positions + (n_labels,) * (order + 1),
        "start": (n_labels,),
        "end": (n_labels,),
    }
    for _ in range(3):
        scores = {name: draw_array(rng, shape, style) for name, shape in shapes.items()}
        assert Chain(order).solve(**scores).value == pytest.approx(
            best_value(scores, order), rel=1e-13
        )
        for temperature in (0.3, 1.0, 5.0):
            check(order, scores, temperature)


@pytest.mark.parametrize("drop", [10.0, 100.0, 500.0, 570.0, 580.0, 700.0, 710.0, 750.0, 1e4])
@pytest.mark.parametrize("n_labels", [2, 3, 8, 17])
@pytest.mark.parametrize("shared", [True, False])
def test_what_seemed_lost_can_be_all_that_is_left(drop, n_labels, shared):
    """A label that falls behind by ``drop`` everywhere is the only legal one at the end."""
    length = 5
    rng = np.random.default_rng(n_labels)
    label = rng.normal(size=(length, n_labels))
    label[:, -1] -= drop
    transition = rng.normal(size=(n_labels, n_labels))
    transition[:-1, -1] = -np.inf  # the last label can only be reached from itself
    label[-1, :-1] = -np.inf
    if not shared:
        transition = np.repeat(transition[np.newaxis], length - 1, axis=0)
    check(1, {"label": label, "transition": transition}, 1.0)
    check(1, {"label": label, "transition": transition}, 0.3)
    y = Chain().argmax(label=label, transition=transition)
    np.testing.assert_array_equal(y, n_labels - 1)
    drawn = Chain().sample(5, label=label, transition=transition, random_state=0)
    np.testing.assert_array_equal(drawn, n_labels - 1)


@pytest.mark.parametrize("lead", [100.0, 500.0, 600.0, 720.0, 1000.0])
@pytest.mark.parametrize("loss", [20.0, 60.0, 80.0, 90.0, 95.0])
@pytest.mark.parametrize("shared", [True, False])
def test_a_slow_return(lead, loss, shared):
    """One label leads by far and loses a little at every position: no single step shows it."""
    for n_labels, length in ((2, 12), (9, 30)):
        label = np.zeros((length, n_labels))
        label[0, 0] = lead
        label[1:, 0] = -loss
        transition = np.full((n_labels, n_labels), -np.inf)
        np.fill_diagonal(transition, 0.0)
        if not shared:
            transition = np.repeat(transition[np.newaxis], length - 1, axis=0)
        check(1, {"label": label, "transition": transition}, 1.0)


@pytest.mark.parametrize("drop", [100.0, 600.0, 705.0, 720.0, 3000.0])
def test_a_transition_that_underflows_may_be_the_only_way(drop):
    """Leaving label 0 costs ``drop``, but the last position forbids it."""
    label = np.zeros((4, 3))
    label[-1, 0] = -np.inf
    label[0, 1:] = -np.inf
    transition = np.zeros((3, 3))
    transition[0, 1:] = -drop
    for table in (transition, np.repeat(transition[np.newaxis], 3, axis=0)):
        check(1, {"label": label, "transition": table}, 1.0)


@pytest.mark.parametrize("temperature", [1e-8, 1e-3, 1e3, 1e8])
def test_extreme_temperatures(temperature):
    rng = np.random.default_rng(5)
    scores = {"label": rng.normal(size=(6, 4)), "transition": rng.normal(size=(4, 4))}
    value, p = Chain().infer(temperature=temperature, **scores)
    assert value == pytest.approx(forward_backward(scores, 1, temperature)[0], rel=1e-12)
    np.testing.assert_allclose(p["label"].sum(axis=1), 1.0, atol=1e-6)
    if temperature < 1:
        assert value == pytest.approx(Chain().solve(**scores).value, abs=100 * temperature)
        np.testing.assert_array_equal(p["label"].argmax(axis=1), Chain().argmax(**scores))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_enormous_scores_have_probabilities(order):
    """Of scores of 1e20 rounding leaves differences of thousands: still nothing above 1."""
    rng = np.random.default_rng(order)
    for _ in range(50):
        shapes = {
            "label": (5, 2),
            "transition1": (4, 2, 2),
            "transition": (5 - order,) + (2,) * (order + 1),
        }
        if order == 1:
            del shapes["transition1"]
        scores = {k: 10.0 ** rng.integers(0, 21, n) * rng.normal(size=n) for k, n in shapes.items()}
        value, p = Chain(order).infer(temperature=0.3, **scores)
        assert value == pytest.approx(best_value(scores, order), rel=1e-9)
        for block in p.values():
            assert ((block >= 0) & (block <= 1)).all()


def test_sums_that_overflow_do_not_crash():
    """Finite scores whose sum is not: some answer or a clear error, never a crash."""
    label = np.full((3, 2), 1e308)
    transition = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    y = Chain().argmax(label=label, transition=transition)
    assert y.shape == (3,)
    assert set(y.tolist()) <= {0, 1}


@pytest.mark.parametrize("n_labels", [3, 9])
def test_samples_of_large_scores_are_legal_and_near_the_best(n_labels):
    rng = np.random.default_rng(0)
    scores = {
        "label": 1e5 * rng.uniform(-1, 1, size=(6, n_labels)),
        "transition": 1e5 * rng.uniform(-1, 1, size=(n_labels, n_labels)),
    }
    scores["transition"][rng.random((n_labels, n_labels)) < 0.3] = -np.inf
    best = Chain().solve(**scores).value
    for y in Chain().sample(20, random_state=1, **scores):
        assert Chain().score(y, **scores) == pytest.approx(best, rel=1e-12)
