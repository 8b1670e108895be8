"""Beam search of chains against an exhaustive one, and the one that steps through Python."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain
from tests.structures.beam_structures import SteppedChain


def draw_scores(seed, length, n_labels, order, *, whole=False, masked=0.0, anchored=False):
    rng = np.random.default_rng(seed)

    def table(*shape):
        values = rng.integers(-2, 3, size=shape).astype(float) if whole else rng.normal(size=shape)
        values[rng.random(size=shape) < masked] = -np.inf
        return values

    scores = {"label": table(length, n_labels), "start": table(n_labels), "end": table(n_labels)}
    for j in range(1, order + 1):
        shape = (n_labels,) * (j + 1)
        name = "transition" if j == order else f"transition{j}"
        scores[name] = table(max(length - j, 0), *shape) if anchored else table(*shape)
    return scores


def prefix_score(y, order, scores):
    """The score of the first labels of an output: the end counts for whole ones only."""
    length = len(scores["label"])
    total = scores["start"][y[0]] + sum(scores["label"][t, k] for t, k in enumerate(y))
    total += scores["end"][y[-1]] if len(y) == length else 0.0
    for j in range(1, order + 1):
        table = scores["transition" if j == order else f"transition{j}"]
        for t in range(j, len(y)):
            row = table[t - j] if table.ndim > j + 1 else table
            total += row[tuple(y[t - j : t + 1])]
    return float(total)


def slow_beam(width, order, scores):
    """Return the beams, every prefix scored from scratch."""
    length, n_labels = scores["label"].shape
    beams, beam = [], [()]
    for _ in range(length):
        best = {}
        for prefix, k in itertools.product(beam, range(n_labels)):
            y = (*prefix, k)
            score = prefix_score(y, order, scores)
            window = y[-order:] if order else ()
            if score > -np.inf and (window not in best or score > best[window][0]):
                best[window] = (score, y)
        ranked = sorted(best.values(), key=lambda item: -item[0])[:width]
        beam = [y for _, y in ranked]
        beams.append(ranked)
    return beams


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("anchored", [False, True])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_against_an_exhaustive_beam(order, anchored, width):
    for seed, length in enumerate([1, 2, 3, 5, 7]):
        scores = draw_scores(seed, length, 3, order, anchored=anchored)
        found = Chain(order).beam(width, **scores)
        value, y = slow_beam(width, order, scores)[-1][0]
        assert tuple(found.output) == y
        assert found.value == pytest.approx(value, abs=1e-12)
        assert found.value <= Chain(order).solve(**scores).value + 1e-12
        assert found.method == "beam search"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 3), st.integers(0, 3), st.booleans()
)
def test_a_beam_with_room_for_everything_is_viterbi(seed, length, n_labels, order, whole):
    """Ties included; bit for bit where both add up in the same order (with transitions)."""
    scores = draw_scores(seed, length, n_labels, order, whole=whole)
    found = Chain(order).beam(n_labels ** max(order, 1), **scores)
    best = Chain(order).solve(**scores)
    assert found.exact
    assert found.value == found.bound
    assert found.value == (pytest.approx(best.value, rel=1e-14) if order == 0 else best.value)
    np.testing.assert_array_equal(found.output, best.output)


def test_what_a_narrow_beam_proves():
    """It follows the better start, which leads nowhere good."""
    scores = {
        "label": np.array([[1.0, 0.0], [0.0, 0.0]]),
        "transition": np.array([[-5.0, -5.0], [3.0, 0.0]]),
    }
    narrow = Chain().beam(1, **scores)
    assert narrow.output.tolist() == [0, 0]
    assert not narrow.exact
    assert narrow.bound == np.inf
    assert Chain().beam(2, **scores).output.tolist() == Chain().argmax(**scores).tolist() == [1, 0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 3), st.integers(1, 4))
def test_dead_ends_widen_the_beam(seed, length, width, n_labels):
    scores = draw_scores(seed, length, n_labels, 1, masked=0.3)
    try:
        best = Chain().solve(**scores)
    except InfeasibleError:
        with pytest.raises(InfeasibleError):
            Chain().beam(width, **scores)
        with pytest.raises(InfeasibleError):
            SteppedChain().beam(width, **scores)
        return
    found = Chain().beam(width, **scores)
    assert -np.inf < found.value <= best.value
    assert Chain().score(found.output, **scores) == pytest.approx(found.value)
    stepped = SteppedChain().beam(width, **scores)
    assert stepped.value == pytest.approx(found.value)
    np.testing.assert_array_equal(stepped.output, found.output)
    assert stepped.exact == found.exact


def test_batches_and_widths():
    scores = [draw_scores(seed, 4, 3, 1) for seed in range(3)]
    batch = {name: [one[name] for one in scores] for name in scores[0]}
    for structure in (Chain(), SteppedChain()):
        found = structure.beam(2, **batch)
        for one, solution in zip(scores, found, strict=True):
            np.testing.assert_array_equal(structure.beam(2, **one).output, solution.output)
        for width in (0, -1, 1.5, True, None, 10**30):
            with pytest.raises(ValueError, match="width of a beam"):
                structure.beam(width, **scores[0])
