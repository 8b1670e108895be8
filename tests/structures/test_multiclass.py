"""One label out of K."""

import numpy as np
import pytest
from hypothesis import given

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Multiclass
from structlearn.testing import check_structure
from tests.structures.score_strategies import REPEATABLE, label_scores


def test_conforms():
    assert not check_structure(Multiclass(), n_labels=5).missing


@REPEATABLE
@given(label_scores())
def test_agrees_with_enumeration(scores):
    check_structure(Multiclass(), scores, variations=False, n_samples=400)


def test_softmax():
    scores = np.log([1.0, 2.0, 5.0])
    value, p = Multiclass().infer(label=scores)
    assert value == pytest.approx(np.log(8.0), abs=1e-14)
    np.testing.assert_allclose(p["label"], [1 / 8, 2 / 8, 5 / 8], atol=1e-15)


def test_log_partition_alone_needs_no_marginals():
    assert Multiclass().log_partition(label=np.zeros(5)) == pytest.approx(np.log(5))
    batch = [np.zeros(3), np.zeros(7)]
    np.testing.assert_allclose(Multiclass().log_partition(label=batch), np.log([3, 7]))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1000])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_every_width(n_labels, temperature):
    scores = np.random.default_rng(n_labels).normal(size=n_labels) * 4
    scores[1::5] = -np.inf
    value, p = Multiclass().infer(label=scores, temperature=temperature)
    weights = np.exp((scores - scores.max()) / temperature)
    right = scores.max() + temperature * np.log(weights.sum())
    assert value == pytest.approx(right, rel=1e-13)
    np.testing.assert_allclose(p["label"], weights / weights.sum(), rtol=1e-13, atol=0)


def test_output_is_an_int_and_ties_go_to_the_first():
    y = Multiclass().argmax(label=[0.0, 3.0, 3.0])
    assert type(y) is int
    assert y == 1
    assert Multiclass().kbest(5, label=[0.0, 3.0, -np.inf, 3.0]) == [(3.0, 1), (3.0, 3), (0.0, 0)]


def test_sample_is_an_array_of_labels():
    drawn = Multiclass().sample(50, label=[0.0, -np.inf, 1.0], random_state=3)
    assert drawn.shape == (50,)
    assert set(drawn.tolist()) == {0, 2}


def test_nothing_legal():
    with pytest.raises(InfeasibleError, match="no legal output"):
        Multiclass().argmax(label=[-np.inf, -np.inf])
    with pytest.raises(InfeasibleError, match="example 1"):
        Multiclass().argmax(label=[np.zeros(2), np.full(2, -np.inf)])
