"""Projective trees with siblings and grandparents: the chart against the list of all trees."""

import itertools
import math

import numpy as np
import pytest

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.structures.trees.heads import all_heads
from structlearn.tasks import DependencyParser

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(80, random_state=0)
]
OPTIONS = {"gold_tags": True, "hash_bits": 17, "projective": True, "random_state": 0}


class Case:
    """Arcs of n words, all or some, with scores at random, and the list of all trees."""

    def __init__(self, n, n_labels, seed, share=1.0, forbidden=0.0):
        rng = np.random.default_rng(seed)
        arcs = [(m, h) for m in range(1, n + 1) for h in range(n + 1) if h != m]
        # The chain from the root is always there, so that there is a tree.
        arcs = [(m, h) for m, h in arcs if h == m - 1 or rng.random() < share]
        self.n, self.n_labels, self.arcs = n, n_labels, arcs
        self.word, self.head = (np.array(a, np.uint16) for a in zip(*arcs, strict=True))
        side = [[0, 0] for _ in range(n + 1)]
        for m, h in arcs:
            side[h][m > h] += 1
        ups = np.bincount(self.word, minlength=n + 1)
        siblings = sum((k + 1) ** 2 for both in side for k in both)
        grands = sum(int(u) * sum(both) for u, both in zip(ups, side, strict=True))
        self.theta = rng.normal(size=len(arcs) * n_labels + siblings + grands)
        self.theta[rng.random(len(self.theta)) < forbidden] = -np.inf
        self.core = self.made(self.theta)
        existing = set(arcs)
        self.trees = [
            (*heads.tolist(), *labels)
            for heads in all_heads(n, projective=True, single_root=True)
            if existing.issuperset(enumerate(heads.tolist(), 1))
            for labels in itertools.product(range(n_labels), repeat=n)
        ]
        self.scores = np.array([self.core.score(list(y)) for y in self.trees])

    def made(self, theta):
        return _core.PairTrees(self.n, self.head, self.word, self.n_labels, theta)

    def probabilities(self, temperature):
        x = self.scores / temperature
        return np.exp(x - np.logaddexp.reduce(x))


CASES = {
    "1 word": Case(1, 2, 0),
    "2 words": Case(2, 3, 1),
    "3 words": Case(3, 2, 2),
    "4 words": Case(4, 2, 3),
    "5 words": Case(5, 1, 4),
    "6 words": Case(6, 1, 5),
    "pruned": Case(6, 1, 6, share=0.4),
    "forbidden": Case(4, 2, 7, forbidden=0.05),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
def test_sums_and_entropy(case, temperature):
    value, entropy, parts = case.core.sums(temperature)
    p = case.probabilities(temperature)
    total = temperature * np.logaddexp.reduce(case.scores / temperature)
    assert value == pytest.approx(total, rel=1e-12, abs=1e-12)
    sure = p[p > 0]
    assert entropy == pytest.approx(-(sure * np.log(sure)).sum(), rel=1e-10, abs=1e-12)
    found = np.frombuffer(parts)
    places = {arc: a for a, arc in enumerate(case.arcs)}
    wanted = np.zeros(len(case.word) * case.n_labels)
    for share, y in zip(p, case.trees, strict=True):
        for m in range(1, case.n + 1):
            wanted[places[m, y[m - 1]] * case.n_labels + y[case.n + m - 1]] += share
    np.testing.assert_allclose(found[: len(wanted)], wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["3 words", "4 words", "pruned"])
def test_probabilities_of_all_parts_are_the_gradient(name):
    case, temperature, step = CASES[name], 0.7, 1e-5
    p = np.frombuffer(case.core.sums(temperature)[2])
    for part in range(len(case.theta)):
        moved = [case.theta.copy(), case.theta.copy()]
        moved[0][part] += step
        moved[1][part] -= step
        up, down = (case.made(theta).sums(temperature)[0] for theta in moved)
        assert p[part] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def test_the_k_best(case):
    order = np.argsort(-case.scores, kind="stable")
    legal = int(np.isfinite(case.scores).sum())
    for k in (1, 10, legal + 5):
        found = case.core.kbest(k)
        assert len(found) == min(k, legal)
        assert len({tuple(y) for _, y in found}) == len(found)
        np.testing.assert_allclose([v for v, _ in found], case.scores[order[: len(found)]])
        for value, y in found:
            assert case.core.score(y) == pytest.approx(value)


@pytest.mark.parametrize("name", ["3 words", "pruned", "forbidden"])
def test_draws(name):
    case, n, temperature = CASES[name], 20000, 0.6
    drawn = case.core.sample(n, temperature, 5)
    assert drawn == case.core.sample(n, temperature, 5)
    assert drawn[:50] != case.core.sample(50, temperature, 6)
    counts = {}
    for y in drawn:
        counts[tuple(y)] = counts.get(tuple(y), 0) + 1
    p = case.probabilities(temperature)
    assert set(counts) <= {y for y, share in zip(case.trees, p, strict=True) if share > 0}
    for y, share in zip(case.trees, p, strict=True):
        spread = 5 * math.sqrt(share * (1 - share) / n) + 1e-4
        assert counts.get(y, 0) / n == pytest.approx(share, abs=spread)


def test_no_tree_at_all():
    case = CASES["2 words"]
    core = case.made(np.full(len(case.theta), -np.inf))
    assert core.sums(1.0)[0] == -math.inf
    assert not np.frombuffer(core.sums(1.0)[2]).any()
    assert core.kbest(3) == []
    assert core.sample(3, 1.0, 0) == []


def test_large_scores_keep_their_digits():
    case = CASES["4 words"]
    value, entropy, _ = case.core.sums(1.0)
    arcs = len(case.word) * case.n_labels
    shifted = case.theta.copy()
    shifted[:arcs] += 1e6  # every tree has four arcs
    moved = case.made(shifted).sums(1.0)
    assert moved[0] - 4e6 == pytest.approx(value, abs=1e-8)
    assert moved[1] == pytest.approx(entropy, rel=1e-8)


@pytest.mark.parametrize(
    "arguments",
    [
        (2, [0, 1], [1, 2], 1, np.zeros(3)),
        (2, [0, 1], [2, 1], 1, np.zeros(40)),
        (2, [0, 3], [1, 2], 1, np.zeros(40)),
        (2, [0, 2], [1, 2], 1, np.zeros(40)),
        (2, [0, 1], [1], 1, np.zeros(40)),
        (2, [0, 1], [1, 2], 0, np.zeros(40)),
    ],
)
def test_what_does_not_fit_is_refused(arguments):
    n, head, word, labels, scores = arguments
    with pytest.raises(ValueError, match="do not fit"):
        _core.PairTrees(n, np.array(head, np.uint16), np.array(word, np.uint16), labels, scores)


# -- parsers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def parser():
    return DependencyParser(2, "crf", C=1.0, tol=1e-2, **OPTIONS).fit(TREES[:40])


def test_a_parser_learned_by_the_log_loss(parser):
    record = parser.model_.training
    assert 0 <= record["gap"] <= 1e-2 * record["objective"] * 1.0001
    assert parser.evaluate(TREES[60:])["uas"] > 0.7
    test = TREES[60:66]
    trees = parser.predict(test)
    ranked = parser.predict_kbest(test, 3)
    assert [best[0][1] for best in ranked] == trees
    for words, p, tree, best in zip(
        parser.predict_marginals(test, least=0.0),
        parser.predict_proba(test),
        trees,
        ranked,
        strict=True,
    ):
        assert all(sum(word.values()) == pytest.approx(1.0) for word in words)
        assert p <= min(word[arc] for word, arc in zip(words, tree, strict=True)) + 1e-12
        assert [v for v, _ in best] == sorted((v for v, _ in best), reverse=True)
    assert parser.predict_proba(test, trees) == pytest.approx(parser.predict_proba(test))
    (drawn,), (entropy,) = parser.sample(test[:1], 300, random_state=1), parser.entropy(test[:1])
    most = max(drawn, key=drawn.count)
    assert drawn.count(most) / 300 == pytest.approx(
        parser.predict_proba(test[:1], [most])[0], abs=0.15
    )
    assert entropy >= 0
    flat = [(0, "root")] * len(test[0])  # more than one root
    assert parser.predict_proba(test[:1], [flat]) == [0.0]


@pytest.mark.parametrize(
    "learner", [{"learner": "adagrad", "temperature": 1.0, "margin": 1.0, "max_iter": 2}]
)
def test_softmax_margin_on_line(learner):
    parser = DependencyParser(2, **learner, **OPTIONS).fit(TREES[:40], dev=TREES[40:50])
    assert parser.evaluate(TREES[60:])["uas"] > 0.6
    assert parser.calibrated
    words = parser.predict_marginals(TREES[60:62], least=0.0)
    assert all(sum(word.values()) == pytest.approx(1.0) for tree in words for word in tree)


def test_other_trees_of_order_2_say_what_works():
    options = {**OPTIONS, "projective": False}
    with pytest.raises(CapabilityError, match="projective=True"):
        DependencyParser(2, "crf", **options).fit(TREES[:5])
    parser = DependencyParser(2, max_iter=1, **options).fit(TREES[:20])
    for ask in (parser.predict_marginals, parser.predict_kbest, parser.sample, parser.entropy):
        with pytest.raises(CapabilityError, match="projective=True"):
            ask(TREES[:1])
