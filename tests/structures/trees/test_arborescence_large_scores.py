"""Trees whose scores no double can hold the exponentials of."""

import numpy as np
import pytest

from structlearn.structures import Arborescence
from structlearn.structures.trees.heads import all_heads
from tests.structures.trees.tree_references import log_sum_projective, nested_cycles

KINDS = [(projective, single) for projective in (False, True) for single in (False, True)]


def enumerated(structure, arc, temperature):
    """Return log Z and marginals by adding up over all trees."""
    n = len(arc) - 1
    trees = np.array(
        list(all_heads(n, projective=structure.projective, single_root=structure.single_root))
    )
    words = np.arange(1, n + 1)
    values = arc[trees, words].sum(axis=1) / temperature
    top = values.max()
    p = np.exp(values - top)
    table = np.zeros_like(arc)
    for tree, weight in zip(trees, p / p.sum(), strict=True):
        table[tree, words] += weight
    return temperature * (top + np.log(p.sum())), table


@pytest.mark.parametrize(("projective", "single"), KINDS)
@pytest.mark.parametrize("temperature", [0.05, 1.0, 100.0])
def test_scores_up_to_a_thousand(projective, single, temperature):
    structure = Arborescence(projective, single)
    rng = np.random.default_rng(3)
    for trial in range(12):
        arc = rng.uniform(-1e3, 1e3, size=(5, 5))
        if trial % 3 == 1:  # every tree is far below the best cycles
            arc = np.where(rng.random((5, 5)) < 0.5, 1e3, -1e3) + rng.normal(size=(5, 5))
            arc[0] -= 1e3
        if trial % 3 == 2:
            arc = 100 * nested_cycles(4, rng)
        value, p = structure.infer(arc=arc, temperature=temperature)
        expected, table = enumerated(structure, arc, temperature)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(p["arc"], table, atol=1e-9)


@pytest.mark.parametrize(("projective", "single"), KINDS)
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_sums_of_long_sentences(projective, single, scale):
    """Marginals add up to one a word, and are the derivative of the log-partition."""
    rng = np.random.default_rng(4)
    n = 40
    arc = scale * rng.uniform(-1, 1, size=(n + 1, n + 1))
    structure = Arborescence(projective, single)
    value, p = structure.infer(arc=arc)
    np.testing.assert_allclose(p["arc"][:, 1:].sum(axis=0), 1.0, rtol=1e-9)
    if single:
        assert p["arc"][0].sum() == pytest.approx(1.0)
    direction = rng.normal(size=arc.shape)
    step = 1e-4
    slope = (
        structure.log_partition(arc=arc + step * direction)
        - structure.log_partition(arc=arc - step * direction)
    ) / (2 * step)
    assert slope == pytest.approx((p["arc"] * direction).sum(), abs=1e-5 * max(1.0, scale))
    assert value >= structure.solve(arc=arc).value - 1e-6


@pytest.mark.parametrize(("projective", "single"), KINDS)
def test_a_small_temperature_finds_the_best(projective, single):
    rng = np.random.default_rng(5)
    structure = Arborescence(projective, single)
    for _ in range(5):
        arc = rng.uniform(-1e3, 1e3, size=(13, 13))
        best = structure.argmax(arc=arc)
        p = structure.marginals(arc=arc, temperature=1e-2)["arc"]
        np.testing.assert_allclose(p[best, np.arange(1, 13)], 1.0, atol=1e-6)
        drawn = structure.sample(3, arc=arc, temperature=1e-2, random_state=0)
        assert (drawn == best).all()


def uneven(arc, rng):
    arc[:, : len(arc) // 2] *= 8.0
    return arc


def few_heads(arc, rng):
    arc[rng.random(arc.shape) < 0.85] = -np.inf
    chain = np.arange(len(arc) - 1)
    arc[chain, chain + 1] = -3.0
    return arc


def one_shift(arc, rng):
    return arc - 300.0 * rng.random(len(arc))


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("change", [None, uneven, few_heads, one_shift])
@pytest.mark.parametrize("scale", [1.0, 6.0, 60.0])
def test_sums_beyond_the_range_of_doubles(single, change, scale):
    """The sums of such sentences are too small, or too large, for doubles without care."""
    rng = np.random.default_rng(6)
    n = 110
    arc = scale * rng.normal(size=(n + 1, n + 1))
    if change:
        arc = change(arc, rng)
    structure = Arborescence(True, single)
    value, p = structure.infer(arc=arc)
    assert value == pytest.approx(log_sum_projective(arc, single_root=single), rel=1e-11)
    np.testing.assert_allclose(p["arc"][:, 1:].sum(axis=0), 1.0, rtol=1e-9)
    direction = rng.normal(size=arc.shape)
    step = 1e-5
    higher, lower = (structure.log_partition(arc=arc + s * direction) for s in (step, -step))
    assert (higher - lower) / (2 * step) == pytest.approx((p["arc"] * direction).sum(), abs=2e-3)


@pytest.mark.parametrize("scale", [1.0, 6.0])
def test_sums_of_siblings_beyond_the_range_of_doubles(scale):
    """Sibling scores that depend on the arc alone might as well be the arcs'."""
    rng = np.random.default_rng(7)
    n = 90
    arc, more = scale * rng.normal(size=(2, n + 1, n + 1))
    sibling = np.repeat(more[:, np.newaxis], n + 1, axis=1)
    structure = Arborescence(True)
    value, p = structure.infer(arc=arc, sibling=sibling)
    assert value == pytest.approx(log_sum_projective(arc + more, single_root=True), rel=1e-11)
    np.testing.assert_allclose(p["sibling"].sum(axis=1), p["arc"], atol=1e-9)
    drawn = structure.sample(200, arc=arc, sibling=sibling, random_state=0)
    share = np.zeros((n + 1, n + 1))
    for heads in drawn:
        share[heads, np.arange(1, n + 1)] += 1 / len(drawn)
    assert np.abs(share - p["arc"]).max() < 0.2


def test_siblings_below_a_single_root_cost_no_digits():
    """The root has one child, so that a score of two of its children says nothing."""
    rng = np.random.default_rng(8)
    arc, sibling = rng.normal(size=(4, 4)), rng.normal(size=(4, 4, 4))
    sibling[0, 1:] = 0.0
    structure = Arborescence(True)
    value, p = structure.infer(arc=arc, sibling=sibling)
    sibling[0, 1:] = 1e9
    other, q = structure.infer(arc=arc, sibling=sibling)
    assert other == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(q["arc"], p["arc"], rtol=1e-13, atol=0)


@pytest.mark.parametrize(("single", "seed"), [(False, 24), (True, 0), (True, 15)])
def test_products_on_the_way_lose_no_digits(single, seed):
    # Products too small for a double's digits, multiplied by large weights afterwards.
    rng = np.random.default_rng(seed)
    structure = Arborescence(projective=True, single_root=single)
    scores = {
        "arc": list(rng.normal(0, 1000, (1000, 5, 5))),
        "sibling": list(rng.normal(0, 1000, (1000, 5, 5, 5))),
    }
    values = np.array(structure.log_partition(**scores))
    best = np.array([found.value for found in structure.solve(**scores)])
    assert (values >= best - 1e-9).all()
    assert (values <= best + np.log(55)).all()  # there are at most 55 trees of four words
