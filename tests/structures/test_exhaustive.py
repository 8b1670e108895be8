"""The oracle itself: by hand, and against the independent enumeration of the test kit."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Exhaustive, Lattice, Multiclass
from structlearn.testing import check_structure, enumerate_outputs
from tests.structures.score_strategies import REPEATABLE, chain_scores


@settings(REPEATABLE, max_examples=25)
@given(chain_scores(1, max_outputs=30))
def test_agrees_with_the_kits_enumeration(scores):
    check_structure(Exhaustive(Chain()), scores, variations=False, n_samples=200)


def test_conforms():
    def scores(rng):
        return {"label": rng.normal(size=(2, 3)), "transition": rng.normal(size=(3, 3))}

    assert not check_structure(Exhaustive(Chain()), scores, n_inputs=2).missing


def test_by_hand():
    scores = {
        "label": np.array([[0.0, 1.0], [2.0, 0.0]]),
        "transition": np.array([[0, 3.0], [0, 0]]),
    }
    oracle = Exhaustive(itertools.product(range(2), repeat=2))
    totals = {(0, 0): 2.0, (0, 1): 3.0, (1, 0): 3.0, (1, 1): 1.0}
    assert {y: oracle.score(y, **scores) for y in totals} == totals
    assert oracle.argmax(**scores) == (0, 1)
    assert oracle.kbest(9, **scores) == [(3.0, (0, 1)), (3.0, (1, 0)), (2.0, (0, 0)), (1.0, (1, 1))]
    weights = np.exp(list(totals.values()))
    assert oracle.log_partition(**scores) == pytest.approx(np.log(weights.sum()))
    p = oracle.marginals(**scores)
    assert p["transition"].shape == (1, 2, 2)  # position by position, as a chain's
    assert p["transition"][0, 0, 1] == pytest.approx(weights[1] / weights.sum())
    assert oracle.count(**scores) == 4


def test_outputs_can_be_restricted():
    """A list of outputs is itself a constraint: here, labels that never go down."""

    def rising(**scores):
        return itertools.combinations_with_replacement(range(3), len(scores["label"]))

    oracle = Exhaustive(rising)
    scores = {"label": np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 0.0]]), "transition": np.zeros((3, 3))}
    assert oracle.argmax(**scores) == (2, 2)
    assert oracle.count(**scores) == 6
    check_structure(oracle, scores, n_samples=300)


def test_default_parts():
    assert isinstance(Exhaustive([0, 1, 2]).structure, Multiclass)
    assert isinstance(Exhaustive([(0, 1)]).structure, Chain)
    lattice = Lattice([(0, 1), (0, 1)])
    assert Exhaustive(lattice).structure is lattice
    assert Exhaustive([2, 0]).argmax(label=[1.0, 5.0, 0.5]) == 0


def test_empty_list_is_refused():
    with pytest.raises(ValueError, match="at least one output"):
        Exhaustive([])


def test_nothing_legal():
    with pytest.raises(InfeasibleError):
        Exhaustive(Multiclass()).infer(label=[-np.inf, -np.inf])
    with pytest.raises(InfeasibleError):
        Exhaustive(Multiclass()).solve(label=[-np.inf, -np.inf])


def test_kit_and_oracle_share_no_code_but_agree():
    rng = np.random.default_rng(0)
    scores = {"label": rng.normal(size=(3, 3)), "transition": rng.normal(size=(3, 3))}
    table = enumerate_outputs(Chain(), scores)
    for temperature in (0.3, 1.0, 5.0):
        value, p = table.infer(temperature)
        other, q = Exhaustive(Chain()).infer(temperature=temperature, **scores)
        assert value == pytest.approx(other, rel=1e-14)
        for name in p:
            np.testing.assert_allclose(p[name], q[name], atol=1e-14)
