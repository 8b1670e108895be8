"""The hyperedge engine: against the chain's own loops, and against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Hyperedges
from structlearn.testing import check_structure
from tests.structures.edge_structures import Bracketing, EdgeChain
from tests.structures.score_strategies import (
    REPEATABLE,
    chain_scores,
    draw_array,
    forbid,
    seeds,
    styles,
)


@pytest.mark.parametrize("order", [0, 1, 2])
@settings(REPEATABLE, max_examples=40)
@given(data=st.data())
def test_agrees_with_the_chains_own_loops(order, data):
    scores = data.draw(chain_scores(order, max_outputs=60))
    own, engine = Chain(order), EdgeChain(order)
    n = own.count(**scores)
    assert engine.count(**scores) == n
    if n == 0:
        with pytest.raises(InfeasibleError):
            own.argmax(**scores)
        with pytest.raises(InfeasibleError):
            engine.argmax(**scores)
        return
    size = max(float(np.abs(a[np.isfinite(a)]).max(initial=1.0)) for a in scores.values())
    assert engine.solve(**scores).value == pytest.approx(own.solve(**scores).value, rel=1e-12)
    assert engine.score(own.argmax(**scores), **scores) == pytest.approx(
        own.score(engine.argmax(**scores), **scores), rel=1e-12
    )
    for temperature in (0.3, 1.0, 5.0):
        value, p = own.infer(temperature=temperature, **scores)
        other, q = engine.infer(temperature=temperature, **scores)
        assert value == pytest.approx(other, rel=1e-12, abs=1e-10)
        for name in p:
            np.testing.assert_allclose(p[name], q[name], atol=1e-10 + 1e-13 * size / temperature)
    first, second = own.kbest(7, **scores), engine.kbest(7, **scores)
    np.testing.assert_allclose([v for v, _ in first], [v for v, _ in second], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_a_chain_of_hyperedges_conforms(order):
    rng = np.random.default_rng(order)
    scores = {"label": rng.normal(size=(4, 2)), "transition": rng.normal(size=(2,) * (order + 1))}
    assert not check_structure(EdgeChain(order), scores, n_samples=500).missing


@pytest.mark.parametrize("n_leaves", [2, 3, 4, 5])
def test_trees_conform(n_leaves):
    """Two tails an edge: derivations are trees, and there are Catalan(n − 1) of them."""
    report = check_structure(
        Bracketing(),
        lambda rng: {"span": rng.normal(size=(n_leaves, n_leaves + 1))},
        n_inputs=1,
        n_samples=500,
    )
    assert not report.missing
    assert (
        Bracketing().count(span=np.zeros((n_leaves, n_leaves + 1))) == [1, 2, 5, 14][n_leaves - 2]
    )


@settings(REPEATABLE, max_examples=20)
@given(seed=seeds, style=styles, share=st.sampled_from((0.0, 0.2)))
def test_trees_with_scores_of_every_kind(seed, style, share):
    rng = np.random.default_rng(seed)
    scores = forbid(rng, {"span": draw_array(rng, (4, 5), style)}, share)
    check_structure(Bracketing(), scores, variations=False, n_samples=200)


def test_counts_are_exact_integers():
    """Catalan(40) has 22 digits: far beyond 2^64."""
    n = 41
    catalan = 1
    for i in range(n - 1):
        catalan = catalan * 2 * (2 * i + 1) // (i + 2)
    assert catalan > 2**64
    assert Bracketing().count(span=np.zeros((n, n + 1))) == catalan
    log_z = Bracketing().log_partition(span=np.zeros((n, n + 1)))
    assert log_z == pytest.approx(np.log(float(catalan)), rel=1e-13)


def test_a_node_used_twice_counts_twice():
    """Both tails the same node: the square of its sum, and expected counts up to two."""
    edges = Hyperedges(2)
    edges.add(0, parts=[0])
    edges.add(0, parts=[1])
    edges.add(1, tails=[0, 0], parts=[2])
    theta = np.array([0.3, -0.4, 1.5])
    assert edges.count(theta) == 4
    value, p = edges.compile(3).infer(theta, 1.0)
    assert value == pytest.approx(2 * np.log(np.exp(0.3) + np.exp(-0.4)) + 1.5)
    share = np.exp(0.3) / (np.exp(0.3) + np.exp(-0.4))
    np.testing.assert_allclose(p, [2 * share, 2 * (1 - share), 1.0])
    best = edges.compile(3).kbest(theta, 10)
    np.testing.assert_allclose([v for v, _, _ in best], [2.1, 1.4, 1.4, 0.7])


def test_parts_may_repeat_on_an_edge():
    edges = Hyperedges(1)
    edges.add(0, parts=[0, 0])
    edges.add(0, parts=[1])
    value, _, parts = edges.compile(2).best(np.array([1.0, 1.5]))
    assert value == 2.0
    assert parts.tolist() == [0, 0]


def test_the_first_edge_wins_a_tie():
    edges = Hyperedges(2)
    edges.add(1, tails=[0], parts=[1])
    edges.add(1, tails=[0], parts=[0])
    edges.add(0)
    _, derivation, parts = edges.compile(2).best(np.zeros(2))
    assert parts.tolist() == [1]
    assert len(derivation) == 2


def test_no_derivation():
    edges = Hyperedges(2)
    edges.add(0, parts=[0])
    program = edges.compile(1)
    assert program.best(np.zeros(1))[0] == -np.inf
    assert program.infer(np.zeros(1), 1.0)[0] == -np.inf
    assert program.kbest(np.zeros(1), 3) == []
    assert program.sample(np.zeros(1), 3, 1.0, 0) == []
    assert edges.count(np.zeros(1)) == 0
    assert Hyperedges(1).compile(1).best(np.zeros(1))[0] == -np.inf


def test_the_same_seed_draws_the_same():
    program = Bracketing().edges(span=np.zeros((6, 7))).compile(42)
    first = [parts.tolist() for _, parts in program.sample(np.zeros(42), 20, 1.0, 5)]
    again = [parts.tolist() for _, parts in program.sample(np.zeros(42), 20, 1.0, 5)]
    other = [parts.tolist() for _, parts in program.sample(np.zeros(42), 20, 1.0, 6)]
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ({"head": 1, "tails": [1]}, "topological order"),
        ({"head": 0, "tails": [1]}, "topological order"),
        ({"head": 2}, "each head a node"),
        ({"head": 0, "parts": [3]}, "part 3 does not exist"),
        ({"head": 0, "parts": [-1]}, "numbered from 0"),
        ({"head": -1}, "numbered from 0"),
        ({"head": 1, "tails": [-1]}, "numbered from 0"),
    ],
)
def test_wrong_edges_are_refused(edge, message):
    edges = Hyperedges(2)
    edges.add(**edge)
    with pytest.raises(ValueError, match=message):
        edges.compile(3)


def test_wrong_scores_are_refused():
    program = Bracketing().edges(span=np.zeros((2, 3))).compile(6)
    with pytest.raises(ValueError, match="theta has 5 scores"):
        program.best(np.zeros(5))
    for bad in (np.nan, np.inf):
        theta = np.zeros(6)
        theta[1] = bad
        with pytest.raises(ValueError, match=r"NaN or \+inf"):
            program.infer(theta, 1.0)
    with pytest.raises(ValueError, match="at least one node"):
        Hyperedges(0).compile(1)


def test_kbest_of_a_deep_program():
    """A path of many steps: lists are made one after another, not by recursion."""
    n = 50_000
    edges = Hyperedges(n)
    for node in range(n):
        for part in (2 * node, 2 * node + 1):
            edges.add(node, tails=[node - 1] if node else [], parts=[part])
    theta = np.zeros(2 * n)
    theta[1::2] = -1.0 - np.arange(n)  # to take the worse one costs 1, 2, 3, ...
    found = edges.compile(2 * n).kbest(theta, 8)
    assert [value for value, *_ in found] == [0, -1, -2, -3, -3, -4, -4, -5]
