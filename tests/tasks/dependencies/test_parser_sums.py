"""Probabilities of arcs and the best few trees, against the list of all trees."""

import math

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import DependencyParser
from tests.tasks.dependencies.listed_trees import listed_trees

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(120, random_state=0)
]
OPTIONS = {"gold_tags": True, "hash_bits": 15, "max_iter": 2}
SHORT = [[("dogs", "NNS"), ("sleep", "VB"), ("well", "RB"), (".", ".")][:n] for n in (1, 2, 3, 4)]


@pytest.fixture(scope="module", params=[False, True], ids=["any", "projective"])
def parser(request):
    # Everything is left to choose from, so that the list is of all trees.
    return DependencyParser(
        1, "crf", projective=request.param, most_heads=100, least_share=1e-300, **OPTIONS
    ).fit(TREES[:100])


def _listed(parser, sentence):
    """Every tree of a short sentence with its score."""
    model = parser.model_
    inputs, n = parser._inputs([sentence]), len(sentence)
    found = listed_trees(inputs, 0, n, len(model.labels), parser.projective)
    return [(score, model.arcs(y)) for score, y in found]


@pytest.mark.parametrize("sentence", SHORT[:3], ids=len)
def test_sums_agree_with_the_list(parser, sentence):
    found = _listed(parser, sentence)
    total = float(np.logaddexp.reduce([score for score, _ in found]))
    marginals = [{} for _ in sentence]
    for score, tree in found:
        for word, arc in zip(marginals, tree, strict=True):
            word[arc] = word.get(arc, 0.0) + math.exp(score - total)
    (got,) = parser.predict_marginals([sentence], least=0.0)
    for mine, wanted in zip(got, marginals, strict=True):
        assert mine == pytest.approx(wanted, rel=1e-7, abs=1e-12)
        assert sum(mine.values()) == pytest.approx(1.0)
    assert parser.predict_proba([sentence])[0] == pytest.approx(math.exp(found[0][0] - total))
    some = found[min(3, len(found) - 1)]
    assert parser.predict_proba([sentence], [some[1]])[0] == pytest.approx(
        math.exp(some[0] - total)
    )


@pytest.mark.parametrize("sentence", SHORT, ids=len)
def test_the_k_best_are_the_first_of_the_list(parser, sentence):
    found = _listed(parser, sentence)[:12]
    (ranked,) = parser.predict_kbest([sentence], 12)
    assert len(ranked) == len(found)
    for (mine, tree), (wanted, _) in zip(ranked, found, strict=True):
        assert mine == pytest.approx(wanted)
        assert len(tree) == len(sentence)
    assert len({tuple(tree) for _, tree in ranked}) == len(ranked)
    assert ranked[0][1] == parser.predict([sentence])[0]


def test_what_the_pruner_leaves():
    parser = DependencyParser(1, **OPTIONS).fit(TREES[:100])
    trees = parser.predict(TREES[100:])
    ranked = parser.predict_kbest(TREES[100:], 2)
    assert [best[0][1] for best in ranked] == trees
    for words in parser.predict_marginals(TREES[100:], least=0.0):
        assert all(sum(word.values()) == pytest.approx(1.0) for word in words)
    assert parser.predict_proba(TREES[100:101], [[(0, "no such relation")] * len(trees[0])]) == [0]
    with pytest.raises(ValueError, match="the tree 1"):
        parser.predict_proba(TREES[100:101], [[(0, "root")]])
    with pytest.raises(ValueError, match="1 outputs for 2"):
        parser.predict_proba(TREES[100:102], [[(0, "root")]])


@pytest.mark.parametrize("sentence", SHORT[1:3], ids=len)
def test_draws_and_entropy_agree_with_the_list(parser, sentence):
    found = _listed(parser, sentence)
    scores = np.array([score for score, _ in found])
    p = np.exp(scores - np.logaddexp.reduce(scores))
    expected = -float((p[p > 0] * np.log(p[p > 0])).sum())
    assert parser.entropy([sentence]) == pytest.approx([expected], abs=1e-9)
    (drawn,) = parser.sample([sentence], 4000, random_state=3)
    for share, (_, tree) in list(zip(p, found, strict=True))[:3]:
        got = sum(list(one) == tree for one in drawn) / len(drawn)
        assert got == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 4000) + 1e-3)
    again = parser.sample([sentence], 10, random_state=3)
    assert again == parser.sample([sentence], 10, random_state=3)
