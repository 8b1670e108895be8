"""Chains of every order against enumeration, on inputs of every kind."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain
from structlearn.testing import check_structure, enumerate_outputs
from tests.structures.score_strategies import REPEATABLE, chain_scores


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_conforms(order):
    report = check_structure(Chain(order), n_inputs=3)
    assert not report.missing
    assert report.checked["finite differences"] > 50


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@settings(REPEATABLE, max_examples=80)
@given(data=st.data())
def test_agrees_with_enumeration(order, data):
    scores = data.draw(chain_scores(order))
    check_structure(Chain(order), scores, variations=False, n_samples=300)


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_short_inputs_and_few_labels(order, length, n_labels, shared):
    """A chain shorter than its order has no transition; one label has one output."""
    rng = np.random.default_rng(10 * order + length)
    scores = {
        "label": rng.normal(size=(length, n_labels)),
        "start": rng.normal(size=n_labels),
        "end": rng.normal(size=n_labels),
    }
    for j in range(1, order + 1):
        name = "transition" if j == order else f"transition{j}"
        positions = () if shared else (max(length - j, 0),)
        scores[name] = rng.normal(size=positions + (n_labels,) * (j + 1))
    check_structure(Chain(order), scores, variations=False, n_samples=0)


def test_marginals_come_by_position_and_infer_sums_them():
    rng = np.random.default_rng(0)
    scores = {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}
    marginals = Chain().marginals(**scores)
    assert marginals["transition"].shape == (3, 3, 3)
    np.testing.assert_allclose(
        marginals["transition"].sum(axis=0), Chain().infer(**scores)[1]["transition"], atol=1e-14
    )
    np.testing.assert_allclose(marginals["label"].sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(marginals["transition"].sum(axis=2), marginals["label"][:-1])
    np.testing.assert_allclose(marginals["transition"].sum(axis=1), marginals["label"][1:])
    at_zero = Chain().marginals(temperature=0, **scores)
    assert at_zero["transition"].shape == (3, 3, 3)
    assert at_zero["transition"].sum() == 3


def test_transitions_may_be_left_out():
    label = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_array_equal(Chain(2).argmax(label=label), label.argmax(axis=1))
    assert Chain(2).argmax(label=label, transition=None).shape == (5,)
    lower = np.random.default_rng(2).normal(size=(4, 4))
    np.testing.assert_array_equal(
        Chain(2).argmax(label=label, transition1=lower),
        Chain(1).argmax(label=label, transition=lower),
    )
    assert Chain(3).log_partition(label=label, transition1=lower) == pytest.approx(
        Chain(1).log_partition(label=label, transition=lower), rel=1e-14
    )


def test_ties_go_to_the_first_label():
    label = np.zeros((4, 3))
    np.testing.assert_array_equal(Chain().argmax(label=label, transition=np.zeros((3, 3))), 0)
    np.testing.assert_array_equal(Chain(0).argmax(label=label), 0)
    np.testing.assert_array_equal(Chain(2).argmax(label=label, transition=np.zeros((3, 3, 3))), 0)


def test_a_mask_can_leave_one_path():
    """The only legal path is the one that every score speaks against."""
    label = np.full((6, 3), 50.0)
    path = np.array([0, 2, 1, 1, 0, 2])
    label[np.arange(6), path] = -1000.0
    transition = np.full((5, 3, 3), -np.inf)
    transition[np.arange(5), path[:-1], path[1:]] = -7.0
    for temperature in (0.0, 0.3, 1.0, 5.0):
        value, p = Chain().infer(label=label, transition=transition, temperature=temperature)
        assert value == pytest.approx(-6035.0, rel=1e-14)
        np.testing.assert_array_equal(p["label"].argmax(axis=1), path)
        np.testing.assert_allclose(p["label"].sum(axis=1), 1.0, atol=1e-12)
    assert Chain().count(label=label, transition=transition) == 1
    assert len(Chain().kbest(5, label=label, transition=transition)) == 1
    drawn = Chain().sample(3, label=label, transition=transition, random_state=0)
    np.testing.assert_array_equal(drawn, [path] * 3)


@pytest.mark.parametrize("block", ["label", "transition", "start", "end"])
def test_nothing_legal(block):
    scores = {
        "label": np.zeros((3, 2)),
        "transition": np.zeros((2, 2)),
        "start": np.zeros(2),
        "end": np.zeros(2),
    }
    scores[block] = np.full(scores[block].shape, -np.inf)
    chain = Chain()
    assert chain.count(**scores) == 0
    for ask in (chain.argmax, chain.solve, chain.infer, chain.marginals, chain.entropy):
        with pytest.raises(InfeasibleError):
            ask(**scores)
    with pytest.raises(InfeasibleError):
        chain.kbest(2, **scores)
    with pytest.raises(InfeasibleError):
        chain.sample(2, **scores)
    with pytest.raises(ValueError, match="no legal output"):
        chain.argmax(**scores)


def test_dead_ends_are_illegal_together():
    """Each part is allowed somewhere, but no path is."""
    transition = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    with pytest.raises(InfeasibleError):
        Chain().argmax(label=np.zeros((3, 2)), transition=transition)
    with pytest.raises(InfeasibleError):
        Chain().log_partition(label=np.zeros((3, 2)), transition=transition)
    assert Chain().count(label=np.zeros((2, 2)), transition=transition) == 1


@settings(REPEATABLE, max_examples=30)
@given(scores=chain_scores(2))
def test_minimum_bayes_risk_is_the_argmax_of_marginals(scores):
    """Under Hamming cost: label marginals as scores, zero elsewhere, −∞ kept."""
    truth = enumerate_outputs(Chain(2), scores)
    if not truth.n_legal:
        return
    p = Chain(2).marginals(**scores)["label"]
    risk = {k: np.where(np.isneginf(a), a, 0.0) for k, a in scores.items()}
    risk["label"] = risk["label"] + p
    y = Chain(2).argmax(**risk)
    weights = truth.probabilities(1.0)
    agreement = np.array([[np.sum(a == b) for b in truth.outputs] for a in truth.outputs]) @ weights
    agreement[np.isneginf(truth.values)] = -np.inf
    row = truth.find(Chain(2).encode(y, **scores))
    assert agreement[row] == pytest.approx(agreement.max(), abs=1e-9)
