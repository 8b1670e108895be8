"""Parse trees of a grammar: enumeration of every query, unary chains, what is refused."""

import pickle

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Constituency, Grammar
from structlearn.testing import check_structure
from tests.structures.trees.edge_trees import EdgeTrees

#: S → NP VP, VP → V NP, NP → NP NP, V → V V; unary NP → N, VP → V, S → VP.
S, NP, VP, V, N = range(5)
SMALL = Grammar(
    5, [(S, NP, VP), (VP, V, NP), (NP, NP, NP), (VP, V, V)], [(NP, N), (VP, V), (S, VP)]
)
#: Unary rules in a circle.
CYCLE = Grammar(3, [(0, 1, 2), (1, 0, 0), (2, 2, 1)], [(0, 1), (1, 2), (2, 0)])


def made(rng, grammar, n=None, span=True, every=True):
    n = n or int(rng.integers(1, 4))
    scores = {"word": rng.normal(size=(n, grammar.n_symbols))}
    if span:
        scores["span"] = rng.normal(size=(n, n + 1, grammar.n_symbols))
    if every:
        scores["binary"] = rng.normal(size=len(grammar.binary))
        scores["unary"] = rng.normal(size=len(grammar.unary))
        scores["root"] = rng.normal(size=grammar.n_symbols)
    return scores


@pytest.mark.parametrize(("grammar", "longest"), [(SMALL, 3), (CYCLE, 2)], ids=["small", "cycle"])
def test_every_query_against_enumeration(grammar, longest):
    structure = Constituency(grammar)
    report = check_structure(
        structure,
        lambda rng: made(rng, grammar, int(rng.integers(1, longest + 1))),
        n_inputs=4,
        n_samples=600,
    )
    assert report.missing == {}


def test_four_words_and_few_blocks():
    scores = made(np.random.default_rng(0), SMALL, 4, every=False)
    check_structure(Constituency(SMALL), scores, n_samples=0, variations=False)


def test_a_sentence():
    """Fish eat fish, with the words' own categories alone."""
    word = np.full((3, 5), -np.inf)
    word[[0, 2], N] = word[1, V] = 0.0
    root = np.where(np.arange(5) == S, 0.0, -np.inf)
    structure = Constituency(SMALL)
    assert structure.count(word=word, root=root) == 1
    assert structure.argmax(word=word, root=root) == [
        (0, 3, S), (0, 1, NP), (0, 1, N), (1, 3, VP), (1, 2, V), (2, 3, NP), (2, 3, N),
    ]  # fmt: skip
    with pytest.raises(InfeasibleError):
        structure.argmax(word=word[:2], root=np.where(np.arange(5) == NP, 0.0, -np.inf))


def test_chains_never_repeat_a_symbol():
    symbols = [[CYCLE.unary[chain[0], 1], *CYCLE.unary[list(chain), 0]] for chain in CYCLE.chains]
    assert len(CYCLE.chains) == 6
    assert all(len(set(s)) == len(s) for s in symbols)
    assert len(Grammar(3, [], CYCLE.unary, max_chain=1).chains) == 3
    assert Grammar(3, [], CYCLE.unary, max_chain=0).chains == []


def test_longer_sentences_add_up():
    rng = np.random.default_rng(1)
    structure = Constituency(SMALL)
    scores = made(rng, SMALL, 15)
    best = structure.solve(**scores)
    assert structure.score(best.output, **scores) == pytest.approx(best.value)
    p = structure.marginals(**scores)
    assert p["root"].sum() == pytest.approx(1.0)
    assert p["binary"].sum() == pytest.approx(14.0)
    np.testing.assert_allclose(p["word"].sum(axis=1), 1.0)
    assert p["span"].sum() == pytest.approx(29.0 + p["unary"].sum())
    ranked = structure.kbest(5, **scores)
    assert ranked[0][1] == best.output
    assert [v for v, _ in ranked] == sorted((v for v, _ in ranked), reverse=True)
    for value, y in ranked:
        assert structure.score(y, **scores) == pytest.approx(value)
    assert structure.argmax(**{k: [v, v] for k, v in scores.items()}, n_jobs=2) == [best.output] * 2


@pytest.mark.parametrize("grammar", [SMALL, CYCLE], ids=["small", "cycle"])
def test_longer_sentences_against_hyperedges(grammar):
    scores = made(np.random.default_rng(4), grammar, 6)
    structure, edges = Constituency(grammar), EdgeTrees(grammar)
    value, p = structure.infer(temperature=0.5, **scores)
    other, q = edges.infer(temperature=0.5, **scores)
    assert value == pytest.approx(other, rel=1e-12)
    for name in scores:
        np.testing.assert_allclose(p[name], q[name], rtol=0, atol=1e-11)
    assert structure.count(**scores) == edges.count(**scores)
    assert structure.solve(**scores).value == pytest.approx(edges.kbest(1, **scores)[0][0])


def test_at_a_low_temperature_the_sum_is_the_maximum():
    scores = made(np.random.default_rng(2), CYCLE, 6)
    structure = Constituency(CYCLE)
    value = structure.log_partition(temperature=1e-4, **scores)
    assert value == pytest.approx(structure.solve(**scores).value, abs=1e-3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([(0, 2, S)], "no symbol|two children"),
        ([(0, 2, S), (0, 1, V), (1, 2, V)], "no rule"),
        ([(0, 2, NP), (0, 2, VP), (0, 1, V), (1, 2, V)], "no rule"),
        ([(0, 2, 9), (0, 1, V), (1, 2, V)], "not a symbol of the grammar"),
    ],
)
def test_trees_that_the_grammar_does_not_derive(y, message):
    with pytest.raises(ValueError, match=message):
        Constituency(SMALL).encode(y, word=np.zeros((2, 5)))


def test_grammars_that_are_none():
    with pytest.raises(ValueError, match="outside of 0"):
        Grammar(2, [(0, 1, 2)])
    with pytest.raises(ValueError, match="itself"):
        Grammar(2, [], [(1, 1)])
    with pytest.raises(ValueError, match="rows of 3"):
        Grammar(2, [(0, 1)])
    with pytest.raises(ValueError, match="distinct"):
        Grammar(2, [(0, 1, 1), (0, 1, 1)])
    with pytest.raises(ValueError, match="Grammar"):
        Constituency("grammar")
    with pytest.raises(ValueError, match=r"\(4,\)"):
        Constituency(SMALL).argmax(word=np.zeros((2, 5)), binary=np.zeros(3))


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(Constituency(SMALL)))
    scores = made(np.random.default_rng(3), SMALL, 4)
    assert again.argmax(**scores) == Constituency(SMALL).argmax(**scores)
