"""Segmentations against enumeration and against the hyperedge engine."""

import numpy as np
import pytest
from hypothesis import given, settings

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Exhaustive, SemiMarkov
from structlearn.testing import check_structure, enumerate_outputs
from tests.structures.edge_structures import EdgeSegments
from tests.structures.score_strategies import REPEATABLE, segment_scores


def made(rng, width, length=None, n_labels=None, by_position=None):
    """Normal scores with every block."""
    length = length or int(rng.integers(1, 5))
    n_labels = n_labels or int(rng.integers(1, 4))
    by_position = rng.random() < 0.5 if by_position is None else by_position
    pair = (n_labels, n_labels)
    shapes = {
        "segment": (length, width, n_labels),
        "start": (n_labels,),
        "end": (n_labels,),
        "transition": (length - 1, *pair) if by_position else pair,
    }
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("width", [1, 2, 3, 6])
def test_every_query_against_enumeration(width):
    report = check_structure(SemiMarkov(width), lambda rng: made(rng, width), n_samples=800)
    assert report.missing == {}
    assert report.checked["marginals"] > 0


def test_shapes_are_known_from_the_blocks():
    report = check_structure(SemiMarkov(2), n_labels=2, n_inputs=3, n_samples=0)
    assert report.missing == {}


def test_the_hyperedges_are_right_too():
    check_structure(EdgeSegments(2), lambda rng: made(rng, 2, length=3), n_inputs=2, n_samples=0)


@given(case=segment_scores())
@settings(REPEATABLE, max_examples=120)
def test_two_algorithms_and_enumeration(case):
    """Every style of scores: ties, hundred thousands, a share of them forbidden."""
    width, scores = case
    structure, edges = SemiMarkov(width), EdgeSegments(width)
    truth = enumerate_outputs(structure, scores)
    slack = 1e-9 + 1e-13 * truth.size * len(scores["segment"])
    assert structure.count(**scores) == edges.count(**scores) == truth.n_legal
    if not truth.n_legal:
        with pytest.raises(InfeasibleError, match="no legal output is left"):
            structure.argmax(**scores)
        with pytest.raises(InfeasibleError, match="no legal output is left"):
            structure.log_partition(**scores)
        return
    best = structure.solve(**scores)
    assert best.value == pytest.approx(truth.best, abs=slack)
    assert structure.score(best.output, **scores) == pytest.approx(truth.best, abs=slack)
    for temperature in (0.3, 1.0, 5.0):
        value, p = structure.infer(temperature=temperature, **scores)
        other, q = edges.infer(temperature=temperature, **scores)
        right, mean = truth.infer(temperature)
        assert value == pytest.approx(right, abs=slack)
        assert other == pytest.approx(right, abs=slack)
        for name in scores:
            np.testing.assert_allclose(p[name], mean[name], rtol=0, atol=1e-9 + slack / temperature)
            np.testing.assert_allclose(p[name], q[name], rtol=0, atol=1e-9 + slack / temperature)
    found = structure.kbest(6, **scores)
    others = edges.kbest(6, **scores)
    np.testing.assert_allclose([v for v, _ in found], [v for v, _ in others], rtol=0, atol=slack)
    assert len({tuple(y) for _, y in found}) == len(found)


@pytest.mark.parametrize("by_position", [False, True])
def test_longer_inputs_against_hyperedges(by_position):
    """Far beyond what can be enumerated, and wider than a vector."""
    rng = np.random.default_rng(3)
    for width, length, n_labels in ((4, 30, 11), (9, 17, 9), (40, 12, 3)):
        scores = made(rng, width, length, n_labels, by_position)
        structure, edges = SemiMarkov(width), EdgeSegments(width)
        assert structure.argmax(**scores) == edges.argmax(**scores)
        value, p = structure.infer(temperature=0.5, **scores)
        other, q = edges.infer(temperature=0.5, **scores)
        assert value == pytest.approx(other, rel=1e-12)
        for name in scores:
            np.testing.assert_allclose(p[name], q[name], rtol=0, atol=1e-11)
        assert structure.count(**scores) == edges.count(**scores)


def test_marginals_by_position_add_up_to_the_shared_ones():
    scores = made(np.random.default_rng(4), 3, 6, 2, by_position=False)
    summed = SemiMarkov(3).infer(**scores)[1]
    marginals = SemiMarkov(3).marginals(**scores)
    assert marginals["transition"].shape == (5, 2, 2)
    np.testing.assert_allclose(marginals["transition"].sum(axis=0), summed["transition"])
    # Each position is covered by one segment.
    covered = np.zeros(6)
    for i in range(6):
        for d in range(3):
            covered[i : i + d + 1] += marginals["segment"][i, d].sum()
    np.testing.assert_allclose(covered, 1.0)


def test_exhaustive_takes_its_outputs():
    scores = made(np.random.default_rng(5), 2, 3, 2)
    assert Exhaustive(SemiMarkov(2)).argmax(**scores) == SemiMarkov(2).argmax(**scores)
