"""Costs by themselves: Δ of two outputs, tables, weights, and what is refused."""

import itertools

import numpy as np
import pytest

from structlearn.losses import Cost, Hamming, LabelCost, StructuredLoss, ZeroOne
from structlearn.losses.costs import as_cost
from structlearn.structures import Chain, Lattice, Multiclass

TABLE = np.array([[0.0, 2.0, 0.5], [1.5, 0.0, 3.0], [0.25, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ("hamming", 2.0),
        ("hamming-mean", 0.5),
        ("zero-one", 1.0),
        (TABLE, 2.0 + 0.25),
        (LabelCost(TABLE, normalize=True), (2.0 + 0.25) / 4),
        (Hamming(weights={0: 7.0}), 7.0 + 1.0),
        (Hamming(weights=lambda labels: [1.0, 10.0, 100.0, 1000.0]), 1010.0),
        (Hamming(weights=[np.array([1.0, 10.0, 100.0, 1000.0])]), 1010.0),
    ],
)
def test_of_two_outputs(cost, expected):
    assert as_cost(cost)([1, 0, 1, 2], [1, 1, 1, 0]) == expected
    assert as_cost(cost)([1, 0, 1, 2], [1, 0, 1, 2]) == 0


def test_of_single_labels():
    assert Hamming()(2, 1) == 1
    assert LabelCost(TABLE)(1, 2) == 3.0
    assert ZeroOne()(1, 1) == 0


def test_hamming_takes_names():
    assert Hamming()(["N", "V", "N"], ["N", "N", "D"]) == 2
    assert ZeroOne()(["N", "V"], ["N", "V"]) == 0


def test_tables_take_no_names():
    """A table is by index; names that happen to occur say nothing about their indices."""
    with pytest.raises(ValueError, match="indices, not their names"):
        LabelCost(TABLE)(["A", "C"], ["C", "C"])


def test_label_outside_the_table():
    with pytest.raises(ValueError, match=r"among 0\.\.2"):
        LabelCost(TABLE)([0, 3], [0, 1])


def test_outputs_of_different_lengths():
    with pytest.raises(ValueError, match="different shapes"):
        Hamming()([0, 1], [0, 1, 1])


@pytest.mark.parametrize(
    "cost", ["hamming", "hamming-mean", TABLE, Hamming(weights={0: 7.0}, normalize=True)]
)
def test_parts_are_the_cost(cost):
    """Δ(y, z) = ⟨c, μ(z)⟩ + c₀ for every pair of outputs."""
    cost, chain = as_cost(cost), Chain()
    scores = {"label": np.zeros((3, 3)), "transition": np.zeros((3, 3))}
    outputs = list(itertools.product(range(3), repeat=3))
    for y in outputs[::5]:
        c, constant = cost.parts(chain, y, **scores)
        for z in outputs:
            total = (c["label"] * chain.encode(z, **scores)["label"]).sum() + constant
            assert total == pytest.approx(cost(y, z), abs=1e-14)


def test_parts_of_an_unknown_label_are_zero():
    c, _ = LabelCost(TABLE).parts(Chain(), [None, 1], label=np.zeros((2, 3)))
    np.testing.assert_array_equal(c["label"], [[0, 0, 0], TABLE[1]])
    c, _ = Hamming().parts(Multiclass(), None, label=np.zeros(3))
    np.testing.assert_array_equal(c["label"], np.zeros(3))


def test_weights_see_none_for_an_unknown_label():
    seen = []

    def weigh(labels):
        seen.append(labels)
        return np.ones(len(labels))

    Hamming(weights=weigh).parts(Chain(), [None, 1], label=np.zeros((2, 3)))
    assert seen == [[None, 1]]


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]])
def test_bad_position_weights(weights):
    with pytest.raises(ValueError, match="example 0: position weights must be 2 finite numbers"):
        Hamming(weights=lambda labels: weights).parts(Chain(), [0, 1], label=np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        ([[0, -1], [1, 0]], "must be finite and >= 0"),
        ([[0, np.nan], [1, 0]], "must be finite and >= 0"),
        ([[0, np.inf], [1, 0]], "must be finite and >= 0"),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(ValueError, match=message):
        LabelCost(table)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_table_of_the_wrong_size(n_labels):
    """Neither too small nor too large: which class would a row belong to?"""
    with pytest.raises(ValueError, match=rf"\(3, 3\), but there are {n_labels} labels"):
        LabelCost(TABLE).label_table(n_labels)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"'hamming', 'hamming-mean', 'zero-one'.*got 'accuracy'"):
        as_cost("accuracy")


def test_a_cost_of_ones_own_needs_parts():
    with pytest.raises(TypeError, match="must define parts"):
        Cost().parts(Chain(), [0], label=np.zeros((1, 2)))
    with pytest.raises(TypeError, match="not a sum over labels"):
        Cost()([0, 1], [0, 1])


def test_label_costs_need_labels():
    lattice = Lattice([(0, 1), (0, 1)])
    with pytest.raises(ValueError, match="counts wrong labels, and the outputs of Lattice"):
        StructuredLoss("hamming", margin=1)(lattice, [0], edge=np.zeros(2))
