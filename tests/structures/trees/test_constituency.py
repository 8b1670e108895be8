"""Constituent trees of labelled spans: enumeration, tree counts, large inputs, what is refused."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Constituency
from structlearn.testing import check_structure, enumerate_outputs
from tests.structures.score_strategies import (
    REPEATABLE,
    draw_array,
    forbid,
    forbidden_shares,
    seeds,
    styles,
)
from tests.structures.trees.edge_trees import EdgeTrees

CKY = Constituency()


def made(rng, n=None, n_labels=None):
    """Normal scores, NaN where nothing is read."""
    n = n or int(rng.integers(1, 5))
    n_labels = n_labels or int(rng.integers(1, 4 if n < 4 else 3))
    return {"span": rng.normal(size=(n, n + 1, n_labels))}


def test_every_query_against_enumeration():
    report = check_structure(CKY, made, n_inputs=8, n_samples=800)
    assert report.missing == {}
    assert report.checked["marginals"] > 0


def test_five_words_against_enumeration():
    check_structure(CKY, made(np.random.default_rng(0), 5, 2), n_samples=0, variations=False)


@st.composite
def span_scores(draw):
    """Scores of every style."""
    rng = np.random.default_rng(draw(seeds))
    n, n_labels = draw(st.sampled_from([(1, 1), (1, 4), (2, 3), (3, 2), (3, 3), (4, 2), (5, 1)]))
    scores = {"span": draw_array(rng, (n, n + 1, n_labels), draw(styles))}
    return forbid(rng, scores, draw(forbidden_shares))


@given(scores=span_scores())
@settings(REPEATABLE, max_examples=100)
def test_two_algorithms_and_enumeration(scores):
    truth = enumerate_outputs(CKY, scores)
    slack = 1e-9 + 1e-13 * truth.size * len(scores["span"])
    assert CKY.count(**scores) == truth.n_legal
    if not truth.n_legal:
        for query in (CKY.argmax, CKY.log_partition, CKY.marginals):
            with pytest.raises(InfeasibleError, match="no legal output is left"):
                query(**scores)
        return
    best = CKY.solve(**scores)
    assert best.value == pytest.approx(truth.best, abs=slack)
    assert CKY.score(best.output, **scores) == pytest.approx(truth.best, abs=slack)
    for temperature in (0.3, 1.0, 5.0):
        value, p = CKY.infer(temperature=temperature, **scores)
        right, mean = truth.infer(temperature)
        assert value == pytest.approx(right, abs=slack)
        np.testing.assert_allclose(p["span"], mean["span"], rtol=0, atol=1e-9 + slack / temperature)


def test_longer_inputs_against_hyperedges():
    rng = np.random.default_rng(3)
    edges = EdgeTrees()
    for n, n_labels in ((9, 7), (17, 30)):
        scores = made(rng, n, n_labels)
        assert CKY.argmax(**scores) == edges.argmax(**scores)
        value, p = CKY.infer(temperature=0.5, **scores)
        other, q = edges.infer(temperature=0.5, **scores)
        assert value == pytest.approx(other, rel=1e-12)
        np.testing.assert_allclose(p["span"], q["span"], rtol=0, atol=1e-11)
        assert CKY.count(**scores) == edges.count(**scores)
        mine, theirs = CKY.kbest(20, **scores), edges.kbest(20, **scores)
        np.testing.assert_allclose([v for v, _ in mine], [v for v, _ in theirs])
        assert [y for _, y in mine] == [y for _, y in theirs]


def catalan(n):
    return math.comb(2 * n, n) // (n + 1)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 40])
def test_binary_trees_are_catalan_numbers(n):
    """Label 0 forbidden: every span of the binary tree is in the output."""
    span = np.zeros((n, n + 1, 3))
    span[..., 0] = -np.inf
    assert CKY.count(span=span) == catalan(n - 1) * 2 ** (2 * n - 1)
    span[..., 2] = -np.inf
    assert CKY.count(span=span) == catalan(n - 1)
    assert CKY.log_partition(span=span) == pytest.approx(math.log(catalan(n - 1)))


def test_trees_of_any_arity_are_schroeder_numbers():
    """One label, words bare: derivations would be more, trees are these."""
    for n, little in enumerate([1, 3, 11, 45, 197, 903], start=2):
        span = np.zeros((n, n + 1, 2))
        span[np.arange(n), np.arange(n) + 1, 1] = -np.inf
        assert CKY.count(span=span) == 2 * little  # the whole labelled or not
        assert CKY.log_partition(span=span) == pytest.approx(math.log(2 * little))
        span[0, n, 0] = -np.inf
        assert CKY.count(span=span) == little


def test_label_zero_alone_is_the_empty_tree():
    for n in (1, 2, 7):
        span = np.random.default_rng(n).normal(size=(n, n + 1, 1))
        assert CKY.count(span=span) == 1
        assert CKY.argmax(span=span) == []
        assert CKY.kbest(3, span=span)[0][1] == []


def test_unlabelled_rests_are_scored():
    """(a b c d) has the rests b c d and c d, as label 0, and no other unlabelled span."""
    span = np.random.default_rng(2).normal(size=(4, 5, 2))
    words = sum(span[i, i + 1, 0] for i in range(4))
    rests = span[1, 4, 0] + span[2, 4, 0]
    assert CKY.score([(0, 4, 1)], span=span) == pytest.approx(words + rests + span[0, 4, 1])
    counts = CKY.encode([(0, 4, 1)], span=span)["span"]
    assert counts.sum() == 2 * 4 - 1


def test_marginals_add_up():
    span = np.random.default_rng(5).normal(size=(12, 13, 6))
    p = CKY.marginals(span=span)["span"]
    assert p.sum() == pytest.approx(2 * 12 - 1)
    assert p[0, 12].sum() == pytest.approx(1.0)
    np.testing.assert_allclose([p[i, i + 1].sum() for i in range(12)], 1.0)
    assert (p[np.arange(13)[None, :] <= np.arange(12)[:, None]] == 0).all()


def test_ties_go_to_the_first_label_then_the_first_split():
    assert CKY.argmax(span=np.zeros((3, 4, 3))) == []
    span = np.zeros((3, 4, 3))
    span[..., 0] = -np.inf
    assert CKY.argmax(span=span) == [(0, 3, 1), (0, 1, 1), (1, 3, 1), (1, 2, 1), (2, 3, 1)]


def test_what_is_not_read_may_be_anything():
    span = np.random.default_rng(6).normal(size=(4, 5, 3))
    expected = CKY.infer(span=span)
    span[np.arange(5)[None, :] <= np.arange(4)[:, None]] = np.nan
    value, p = CKY.infer(span=span)
    assert value == expected[0]
    np.testing.assert_array_equal(p["span"], expected[1]["span"])
    assert CKY.entropy(span=span) > 0
    span[1, 3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        CKY.argmax(span=span)


def test_batches_give_what_single_calls_give():
    rng = np.random.default_rng(7)
    spans = [rng.normal(size=(n, n + 1, 4)) for n in (1, 2, 30, 7, 7)]
    for n_jobs in (1, 2):
        assert CKY.argmax(span=spans, n_jobs=n_jobs) == [CKY.argmax(span=s) for s in spans]
        values = CKY.log_partition(span=spans, n_jobs=n_jobs)
        assert values == [CKY.log_partition(span=s) for s in spans]
    drawn = CKY.sample(3, span=spans, random_state=1)
    assert [len(rows) for rows in drawn] == [3] * 5
    assert drawn == CKY.sample(3, span=spans, random_state=1)


def test_flat_spans_are_the_same():
    span = np.random.default_rng(8).normal(size=(5, 6, 3))
    flat = span.reshape(30, 3)
    assert CKY.argmax(span=flat) == CKY.argmax(span=span)
    assert CKY.log_partition(span=flat) == CKY.log_partition(span=span)


def test_a_hundred_words_and_four_hundred():
    rng = np.random.default_rng(9)
    span = rng.normal(size=(100, 101, 5))
    tree = CKY.argmax(span=span)
    assert CKY.score(tree, span=span) == pytest.approx(CKY.solve(span=span).value)
    assert CKY.marginals(span=span)["span"].sum() == pytest.approx(199)
    assert CKY.decode(CKY.encode(tree, span=span)) == tree
    assert CKY.count(span=span) > 10**100
    long = rng.normal(size=(400, 401, 2))
    assert CKY.score(CKY.argmax(span=long), span=long) == pytest.approx(CKY.solve(span=long).value)


def test_kbest_lists_all_and_no_more():
    scores = made(np.random.default_rng(10), 3, 2)
    everything = CKY.kbest(10**6, **scores)
    assert len(everything) == CKY.count(**scores)
    assert len({tuple(y) for _, y in everything}) == len(everything)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([(0, 2, 1), (1, 3, 1)], "cross"),
        ([(0, 4, 1)], "beyond"),
        ([(0, 0, 1)], "not be empty"),
        ([(0, 2, 1), (0, 2, 2)], "two spans"),
        ([(0, 2, 0)], "among 1..2"),
        ([(0, 2, 3)], "among 1..2"),
        ([(0, 2, "NP")], "whole numbers"),
        ([(0, 2)], "begin, end, label"),
    ],
)
def test_outputs_that_are_no_trees(y, message):
    with pytest.raises(ValueError, match=message):
        CKY.encode(y, span=np.zeros((3, 4, 3)))


def test_parts_that_are_no_tree():
    parts = CKY.encode([(0, 3, 1)], span=np.zeros((3, 4, 2)))
    parts["span"][1, 3, 0] = 0.0
    with pytest.raises(ValueError, match="not a tree"):
        CKY.decode(parts)


@pytest.mark.parametrize("shape", [(3, 3, 2), (3, 5, 2), (0, 1, 2), (3, 4, 0), (3,)])
def test_wrong_shapes(shape):
    with pytest.raises(ValueError, match="span"):
        CKY.argmax(span=np.zeros(shape))


def test_it_can_be_pickled():
    assert repr(pickle.loads(pickle.dumps(CKY))) == "Constituency()"
