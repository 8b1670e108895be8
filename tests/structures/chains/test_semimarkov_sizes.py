"""Segmentations at the edges: one position, one label, ties, huge scores, and what is refused."""

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, SemiMarkov


def test_one_position():
    segment = np.array([[[1.0, 2.0], [9.0, 9.0]]])
    assert SemiMarkov(2).argmax(segment=segment) == [(0, 1, 1)]
    assert SemiMarkov(2).log_partition(segment=segment) == pytest.approx(np.logaddexp(1.0, 2.0))
    p = SemiMarkov(2).marginals(segment=segment, transition=np.zeros((2, 2)))
    assert p["transition"].shape == (0, 2, 2)
    assert p["segment"][0, 1].tolist() == [0.0, 0.0]
    empty = SemiMarkov(2).argmax(segment=segment, transition=np.zeros((0, 2, 2)))
    assert empty == [(0, 1, 1)]


def test_one_label_and_segments_longer_than_the_input():
    segment = np.zeros((3, 7, 1))
    segment[0, 2, 0] = 1.0
    structure = SemiMarkov(7)
    assert structure.argmax(segment=segment) == [(0, 3, 0)]
    assert structure.kbest(9, segment=segment)[0] == (1.0, [(0, 3, 0)])
    assert len(structure.kbest(9, segment=segment)) == 4


def test_what_runs_beyond_the_end_is_never_read():
    rng = np.random.default_rng(0)
    segment = rng.normal(size=(4, 3, 2))
    beyond = np.add.outer(np.arange(4), np.arange(3)) >= 4
    structure = SemiMarkov(3)
    for other in (np.nan, np.inf, 1e300, -np.inf):
        spoilt = segment.copy()
        spoilt[beyond] = other
        assert structure.argmax(segment=spoilt) == structure.argmax(segment=segment)
        assert structure.log_partition(segment=spoilt) == structure.log_partition(segment=segment)
        assert structure.entropy(segment=spoilt) == structure.entropy(segment=segment)
        assert structure.count(segment=spoilt) == structure.count(segment=segment)
        p = structure.infer(segment=spoilt)[1]["segment"]
        assert not p[beyond].any()
        y = structure.argmax(segment=segment)
        assert structure.score(y, segment=spoilt) == structure.score(y, segment=segment)
        second = structure.kbest(2, segment=segment)[1]
        assert structure.runner_up(y, segment=spoilt) == second
    segment[1, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"segment contains NaN or \+inf"):
        structure.argmax(segment=segment)


@pytest.mark.parametrize("by_position", [False, True])
def test_segments_of_one_position_are_a_chain(by_position):
    rng = np.random.default_rng(1)
    for length, n_labels in ((1, 3), (2, 1), (9, 4), (25, 12)):
        label = np.round(rng.normal(size=(length, n_labels)), 1)  # with ties
        pair = (n_labels, n_labels)
        scores = {
            "transition": np.round(
                rng.normal(size=(length - 1, *pair) if by_position else pair), 1
            ),
            "start": rng.normal(size=n_labels),
            "end": rng.normal(size=n_labels),
        }
        scores["transition"][..., 0, -1] = -np.inf if n_labels > 1 else 0.0
        semi = {"segment": label[:, np.newaxis], **scores}
        chain, segments = Chain(), SemiMarkov(1)
        best, other = chain.solve(label=label, **scores), segments.solve(**semi)
        assert other.value == best.value
        assert [k for _, _, k in other.output] == best.output.tolist()
        assert [(i, i + 1) for i in range(length)] == [(a, b) for a, b, _ in other.output]
        assert segments.count(**semi) == chain.count(label=label, **scores)
        value, p = chain.infer(label=label, temperature=0.4, **scores)
        semi_value, q = segments.infer(temperature=0.4, **semi)
        assert semi_value == pytest.approx(value, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(q["segment"][:, 0], p["label"], rtol=0, atol=1e-12)
        for name in scores:
            np.testing.assert_allclose(q[name], p[name], rtol=0, atol=1e-12)


def test_ties_go_to_the_first_label_then_to_the_shortest_segment():
    zeros = np.zeros((4, 3, 2))
    expected = [(i, i + 1, 0) for i in range(4)]
    assert SemiMarkov(3).argmax(segment=zeros) == expected
    assert SemiMarkov(3).argmax(segment=[zeros, zeros]) == [expected, expected]
    assert SemiMarkov(3).kbest(1, segment=zeros) == [(0.0, expected)]
    # A longer first segment of label 1 is as good as what ends in label 0: the last label decides.
    zeros[0, 1, 1] = zeros[2, 1, 1] = 1.0
    assert SemiMarkov(3).argmax(segment=zeros) == [(0, 2, 1), (2, 4, 1)]


@pytest.mark.parametrize("scale", [1e3, 1e5])
def test_large_scores(scale):
    """Maximum and sum agree where one output leads by far; marginals are those of the argmax."""
    rng = np.random.default_rng(2)
    scores = {
        "segment": scale * rng.uniform(-1, 1, size=(20, 4, 3)),
        "transition": scale * rng.uniform(-1, 1, size=(3, 3)),
    }
    scores["transition"][0, 1] = -np.inf
    structure = SemiMarkov(4)
    best = structure.solve(**scores)
    (first, _), (second, _) = structure.kbest(2, **scores)
    assert first - second > 40
    value, p = structure.infer(**scores)
    assert value == pytest.approx(best.value, rel=1e-14)
    for name, counts in structure.encode(best.output, **scores).items():
        np.testing.assert_allclose(p[name], counts, rtol=0, atol=1e-8)
    assert all(y == best.output for y in structure.sample(20, random_state=0, **scores))


@pytest.mark.parametrize("lead", [300.0, 800.0, 1e5])
def test_a_lead_that_is_lost_later(lead):
    """Label 0 leads by far and may neither go on nor be the last: label 1 is all there is."""
    segment = np.zeros((3, 2, 2))
    segment[0, :, 0] = lead
    transition = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    end = np.array([-np.inf, 0.0])
    structure = SemiMarkov(2)
    free = {"segment": segment[:, :, 1:], "transition": np.zeros((1, 1))}
    scores = {"segment": segment, "transition": transition, "end": end}
    value, p = structure.infer(**scores)
    assert value == pytest.approx(structure.log_partition(**free))
    np.testing.assert_allclose(
        p["segment"][:, :, 1], structure.infer(**free)[1]["segment"][..., 0], rtol=0, atol=1e-12
    )


def test_nothing_legal():
    segment = np.full((3, 2, 2), -np.inf)
    segment[0] = 0.0
    for query in ("argmax", "solve", "infer", "marginals", "entropy"):
        with pytest.raises(InfeasibleError, match="no legal output is left: every output"):
            getattr(SemiMarkov(2), query)(segment=segment)
    with pytest.raises(InfeasibleError, match="example 1: no legal output is left"):
        SemiMarkov(2).argmax(segment=[np.zeros((3, 2, 2)), segment])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_batches(n_jobs):
    rng = np.random.default_rng(6)
    batch = [rng.normal(size=(int(n), 3, 4)) for n in rng.integers(1, 9, size=130)]
    transition = rng.normal(size=(4, 4))
    structure = SemiMarkov(3)
    together = structure.argmax(segment=batch, transition=transition, n_jobs=n_jobs)
    assert together == [structure.argmax(segment=a, transition=transition) for a in batch]
    sums = structure.log_partition(segment=batch, transition=transition, n_jobs=n_jobs)
    assert sums == [structure.log_partition(segment=a, transition=transition) for a in batch]
    draws = structure.sample(2, segment=batch[:3], random_state=1)
    assert [len(one) for one in draws] == [2, 2, 2]
    coldest = structure.sample(2, segment=batch[0], temperature=0.0)
    assert coldest == [structure.argmax(segment=batch[0])] * 2
    assert structure.argmax(segment=[]) == []


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "needs segment scores: segment=|segment must have shape"),
        (
            {"segment": np.zeros((3, 2))},
            r"segment has shape \(3, 2\), expected \(positions, 3, K\)",
        ),
        ({"segment": np.zeros((3, 4, 2))}, r"shape \(3, 4, 2\), expected \(positions, 3, K\)"),
        ({"segment": np.zeros((0, 3, 2))}, r"segment must have shape \(L, 3, K\) with at least"),
        ({"segment": np.zeros((2, 3, 0))}, r"segment must have shape \(L, 3, K\) with at least"),
        (
            {"segment": np.zeros((2, 3, 2)), "transition": np.zeros((3, 3))},
            r"transition must have shape \(K, K\), or that with 1 positions in front",
        ),
        (
            {"segment": np.zeros((4, 3, 2)), "transition": np.zeros((4, 2, 2))},
            r"transition must have shape \(K, K\), or that with 3 positions in front",
        ),
        ({"segment": np.zeros((2, 3, 2)), "end": np.zeros(3)}, r"end must have shape \(K,\)"),
        ({"segment": np.zeros((2, 3, 2)), "label": np.zeros(3)}, "there is no score block 'label'"),
    ],
)
def test_refused_scores(scores, message):
    for query in ("argmax", "infer"):
        with pytest.raises(ValueError, match=message):
            getattr(SemiMarkov(3), query)(**scores)


@pytest.mark.parametrize("max_length", [0, -1, 1.5, "3", None, True, 2**40])
def test_refused_lengths(max_length):
    with pytest.raises(ValueError, match="max_length must be a whole number >= 1"):
        SemiMarkov(max_length)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "the output has no segments"),
        ([(0, 2, 0)], "the output covers 2 positions, the input has 3"),
        ([(0, 1, 0), (2, 3, 0)], r"the segment \(2, 3, 0\) must start at 1"),
        ([(0, 2, 0), (1, 3, 0)], r"the segment \(1, 3, 0\) must start at 2"),
        ([(0, 0, 0), (0, 3, 0)], r"the segment \(0, 0, 0\) must start at 0"),
        ([(0, 3, 0)], "has length 3, max_length is 2"),
        ([(0, 2, 0), (2, 3, 5)], r"labels must be among 0\.\.1"),
        ([(0, 2, 0), (2, 3, "a")], "labels must be whole numbers"),
        ([0, 1, 0], r"a segment is \(start, end, label\), got 0"),
    ],
)
def test_refused_outputs(y, message):
    segment = np.zeros((3, 2, 2))
    for query in ("score", "encode"):
        with pytest.raises(ValueError, match=message):
            getattr(SemiMarkov(2), query)(y, segment=segment)


def test_decode_refuses_what_is_no_output():
    parts = SemiMarkov(2).encode([(0, 2, 1), (2, 3, 0)], segment=np.zeros((3, 2, 2)))
    assert SemiMarkov(2).decode([parts]) == [[(0, 2, 1), (2, 3, 0)]]
    for place, value in (((0, 0, 0), 1.0), ((2, 0, 0), 0.0), ((2, 0, 0), 0.5)):
        wrong = {"segment": parts["segment"].copy()}
        wrong["segment"][place] = value
        with pytest.raises(ValueError, match="these parts are not an output"):
            SemiMarkov(2).decode(wrong)


def test_labels_of_positions():
    y = [(0, 2, "NP"), (2, 3, "O")]
    assert SemiMarkov(2).labels_of(y) == ["NP", "NP", "O"]
    assert SemiMarkov(2).relabel(y, np.array([4, 4, 1])) == [(0, 2, 4), (2, 3, 1)]
    costs = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    c = SemiMarkov(2).label_costs(costs, segment=np.zeros((3, 2, 2)))["segment"]
    assert c[0].tolist() == [[0.0, 1.0], [0.0, 2.0]]
    assert c[1].tolist() == [[0.0, 1.0], [1.0, 1.0]]
    assert c[2].tolist() == [[1.0, 0.0], [0.0, 0.0]]
