"""Structures written in Python: what follows from an argmax alone, and what does not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Block, Structure
from structlearn.testing import check_structure
from tests.structures.edge_structures import Assignment, Bracketing, TwoBlocks
from tests.structures.score_strategies import (
    REPEATABLE,
    draw_array,
    forbid,
    forbidden_shares,
    seeds,
    styles,
)

SUMS = ["infer", "log_partition", "marginals", "entropy", "sample"]


def test_an_argmax_gives_the_maxima_and_no_sums():
    report = check_structure(Assignment(), lambda rng: {"pair": rng.normal(size=(3, 3))})
    assert set(SUMS) <= set(report.missing)
    for query in ("argmax", "solve", "kbest", "infer at temperature 0", "count", "nothing legal"):
        assert report.checked[query] > 0, query


@settings(REPEATABLE, max_examples=25)
@given(seed=seeds, style=styles, share=forbidden_shares, n=st.integers(1, 4))
def test_kbest_from_an_argmax(seed, style, share, n):
    """Forbidding parts of the outputs found so far reaches all others (Lawler)."""
    rng = np.random.default_rng(seed)
    scores = forbid(rng, {"pair": draw_array(rng, (n, n), style)}, share)
    check_structure(Assignment(), scores, variations=False)


def test_capability_errors_say_what_works():
    for query in SUMS:
        options = {"n": 2} if query == "sample" else {}
        with pytest.raises(CapabilityError, match="What works: argmax"):
            getattr(Assignment(), query)(pair=np.eye(2), **options)
    bare = Structure()
    with pytest.raises(CapabilityError, match="blocks"):
        bare.blocks(2)
    with pytest.raises(CapabilityError, match="encode"):
        bare.encode(0)
    with pytest.raises(CapabilityError, match="decode"):
        bare.decode({})
    with pytest.raises(CapabilityError, match=r"outputs\(\*\*scores\)"):
        bare.outputs(label=np.zeros(1))
    assert issubclass(CapabilityError, ValueError)

    class NoSearch(TwoBlocks):
        def edges(self, **scores):
            return None

    with pytest.raises(CapabilityError, match="NoSearch has no search: define edges"):
        NoSearch().argmax(choice=np.zeros(2), bonus=np.zeros(3))


@pytest.mark.parametrize("n", [2, 3])
def test_runner_up(n):
    rng = np.random.default_rng(n)
    pair, span = rng.normal(size=(n, n)), rng.normal(size=(4, 5))
    for structure, scores in ((Assignment(), {"pair": pair}), (Bracketing(), {"span": span})):
        (best, y), (second, z) = structure.kbest(2, **scores)
        value, other = structure.runner_up(y, **scores)
        assert (value, list(other)) == (second, list(z))
        value, other = structure.runner_up(z, **scores)
        assert (value, list(other)) == (best, list(y))
    assert Assignment().runner_up([0], pair=np.zeros((1, 1))) is None
    assert Assignment().runner_up([0], pair=np.full((1, 1), -np.inf)) is None


def test_draws_at_temperature_zero_are_the_best():
    span = np.random.default_rng(0).normal(size=(4, 5))
    assert Bracketing().sample(3, temperature=0, span=span) == [Bracketing().argmax(span=span)] * 3
    with pytest.raises(InfeasibleError):
        Bracketing().sample(3, temperature=0, span=np.full((4, 5), -np.inf))


def test_batches_of_examples():
    spans = [np.random.default_rng(n).normal(size=(n, n + 1)) for n in (2, 3, 4)]
    found = Bracketing().argmax(span=spans)
    assert found == [Bracketing().argmax(span=span) for span in spans]
    assert Bracketing().log_partition(span=spans) == [
        Bracketing().log_partition(span=span) for span in spans
    ]
    with pytest.raises(ValueError, match="one entry per example"):
        TwoBlocks().argmax(choice=[np.zeros(2)] * 2, bonus=[np.zeros(3)])


def test_examples_of_a_batch_draw_apart():
    """Equal examples in one batch must not be given equal draws."""
    first, second = Bracketing().sample(20, span=[np.zeros((6, 7))] * 2, random_state=0)
    assert first != second


class Signs(Structure):
    """n signs that multiply to one, by argmax over the list: parts used by several places."""

    def blocks(self, n_labels):
        return {"sign": Block((2,)), "total": Block((5,), shared=True)}

    def encode(self, y, **scores):
        sign = np.zeros(np.shape(scores["sign"]))
        sign[np.arange(len(y)), (np.array(y) > 0).astype(int)] = 1.0
        total = np.zeros(5)
        total[sum(s > 0 for s in y)] = 1.0
        return {"sign": sign, "total": total}

    def decode(self, parts):
        return tuple(2 * int(k) - 1 for k in np.asarray(parts["sign"]).argmax(axis=1))

    def outputs(self, **scores):
        every = itertools.product((-1, 1), repeat=len(scores["sign"]))
        return (y for y in every if np.prod(y) == 1)

    def argmax(self, **scores):
        best = max(self.outputs(**scores), key=lambda y: self.score(y, **scores))
        if self.score(best, **scores) == -np.inf:
            raise InfeasibleError("no signs are left")
        return best


@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_argmax_with_a_shared_block(n):
    report = check_structure(
        Signs(),
        lambda rng: {"sign": rng.normal(size=(n, 2)), "total": rng.normal(size=5)},
        n_inputs=2,
    )
    assert "log_partition" in report.missing
    assert report.checked["order of blocks"] == 2
