"""What is asked of trees, with siblings and grandparents or without: against the list of them."""

import math

import numpy as np
import pytest

from structlearn import _core
from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.models.inputs import NativeInputs
from structlearn.structures.trees.heads import is_projective
from structlearn.tasks import DependencyParser
from structlearn.text.dependency_treebank import read_treebank
from tests.tasks.dependencies.listed_trees import listed_trees

TREES = [
    list(zip(s.words, s.tags, s.heads, s.deprels, strict=True))
    for s in make_treebank(80, random_state=0)
]
OPTIONS = {"gold_tags": True, "hash_bits": 17, "projective": True, "random_state": 0}
WORDS = [("we", "N"), ("saw", "V"), ("big", "J"), ("dogs", "N"), ("run", "V"), ("now", "R")]
#: Which relations these tags may have, where not all of them.
SEEN = [[("we", "N", 2, "s"), ("saw", "V", 0, "root"), ("dogs", "N", 2, "o")]]
TAGS = [None, None, None]


class Case:
    """A sentence under weights at random, and the list of all its trees."""

    def __init__(self, n, n_labels, seed, order=2, projective=True, most=100, sets=False):
        rng = np.random.default_rng(seed)
        labels, keys, masks = [f"r{k}" for k in range(n_labels)], b"", b""
        if sets:
            seen = _core.ParserTreebank(read_treebank(SEEN).core, TAGS, False)
            labels, (keys, masks) = seen.labels, seen.label_sets()
        weights, pruner = (rng.normal(size=2**12).astype(np.float32) / 9 for _ in range(2))
        least = 1e-300
        self.model = _core.ParserModel(
            labels, order, projective, 500, most, least, keys, masks, weights, pruner
        )
        self.corpus = read_treebank([WORDS[:n]])
        self.inputs = NativeInputs(self.model.inputs(self.corpus.core, TAGS, False), None)
        self.n, self.order = n, order
        # Sums of pairs of arcs are over projective trees.
        self.summed = listed_trees(self.inputs, 0, n, len(labels), projective or order == 2)
        self.all = listed_trees(self.inputs, 0, n, len(labels), projective)
        self.scores = np.array([score for score, _ in self.summed])

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
    "pruned": Case(6, 1, 6, most=2),
    "sets": Case(4, 3, 7, sets=True),
    "crossing": Case(5, 1, 8, projective=False),
    "arcs": Case(4, 2, 10, order=1, projective=False),
    "arcs, pruned": Case(6, 1, 11, order=1, projective=False, most=2),
    "arcs, sets": Case(4, 3, 12, order=1, projective=False, sets=True),
    "projective arcs": Case(5, 1, 13, order=1),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def test_the_list_has_trees_to_choose_from():
    assert len(CASES["1 word"].summed) == 2
    assert len(CASES["pruned"].summed) < len(CASES["6 words"].summed)
    assert len(CASES["crossing"].all) > len(CASES["crossing"].summed)
    assert 2 < len(CASES["sets"].summed) < 3**4 * 30


def test_the_best_tree(case):
    solutions = case.inputs.solve()
    (tree,), (value,), (exact,) = solutions.outputs, solutions.values, solutions.exact
    assert exact
    assert value == pytest.approx(case.all[0][0])
    assert tree.tolist() == case.all[0][1]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
def test_sums_and_entropy(case, temperature):
    p = case.probabilities(temperature)
    total = temperature * np.logaddexp.reduce(case.scores / temperature)
    assert case.inputs.log_partition(temperature) == pytest.approx([total], rel=1e-9)
    sure = p[p > 0]
    assert case.inputs.entropy(temperature) == pytest.approx(
        [-(sure * np.log(sure)).sum()], rel=1e-9, abs=1e-12
    )
    wanted = {}
    for share, (_, y) in zip(p, case.summed, strict=True):
        for m in range(case.n):
            part = (m + 1, y[m], y[case.n + m])
            wanted[part] = wanted.get(part, 0.0) + share
    found = {tuple(part): q for *part, q in case.inputs.marginals(temperature)[0] if q > 0}
    assert found == pytest.approx(wanted, abs=1e-12)
    best = case.all[0][1]
    (certain,) = case.inputs.certainties([best], temperature)
    arcs = [(m + 1, best[m], best[case.n + m]) for m in range(case.n)]
    assert certain == pytest.approx([wanted.get(arc, 0.0) for arc in arcs], abs=1e-12)


def test_scores(case):
    for score, y in case.summed[:20]:
        assert case.inputs.score([y]) == pytest.approx([score])
    outside = [y for _, y in case.all if y not in [other for _, other in case.summed]]
    for y in outside[:20]:  # trees with crossing arcs, which sums do not know
        assert case.inputs.score([y]) == [-math.inf]
    n = case.n
    if n > 1:
        assert case.inputs.score([[0] * (2 * n)]) == [-math.inf]  # many roots
        assert case.inputs.score([[2, 1, *[1] * (n - 2), *[0] * n]]) == [-math.inf]  # a cycle
    for nothing in ([], [0], [n + 1] * (2 * n), [-1] * (2 * n), [0] * n + [99] * n):
        assert case.inputs.score([nothing]) == [-math.inf]


def test_the_k_best(case):
    for k in (1, 10, len(case.summed) + 5):
        (found,) = case.inputs.kbest(k)
        assert len(found) == min(k, len(case.summed))
        assert len({tuple(y) for _, y in found}) == len(found)
        np.testing.assert_allclose([v for v, _ in found], case.scores[: len(found)])
        for value, y in found:
            assert case.inputs.score([y]) == pytest.approx([value])


@pytest.mark.parametrize("name", ["3 words", "pruned", "sets", "crossing", "arcs"])
def test_draws(name):
    case, n, temperature = CASES[name], 20000, 0.6
    (drawn,) = case.inputs.sample(n, temperature, 5)
    assert [drawn] == case.inputs.sample(n, temperature, 5)
    assert [drawn[:50]] != case.inputs.sample(50, temperature, 6)
    counts = {}
    for y in drawn:
        counts[tuple(y)] = counts.get(tuple(y), 0) + 1
    p = case.probabilities(temperature)
    trees = [tuple(y) for _, y in case.summed]
    assert set(counts) <= {y for y, share in zip(trees, p, strict=True) if share > 0}
    for y, share in zip(trees, p, strict=True):
        spread = 5 * math.sqrt(share * (1 - share) / n) + 1e-4
        assert counts.get(y, 0) / n == pytest.approx(share, abs=spread)


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
    assert parser.calibration_ is not None
    words = parser.predict_marginals(TREES[60:62], least=0.0)
    assert all(sum(word.values()) == pytest.approx(1.0) for tree in words for word in tree)


def test_other_trees_of_order_2():
    """They have no log loss; what is asked of them is summed over projective trees."""
    options = {**OPTIONS, "projective": False}
    with pytest.raises(CapabilityError, match="projective=True"):
        DependencyParser(2, "crf", **options).fit(TREES[:5])
    parser = DependencyParser(2, max_iter=1, **options).fit(TREES[:20], dev=TREES[20:40])
    test = TREES[40:]
    trees, ranked = parser.predict(test), parser.predict_kbest(test, 2)
    crossing = [not is_projective(tree.heads) for tree in trees]
    assert any(crossing)
    for tree, best, crosses, p in zip(
        trees, ranked, crossing, parser.predict_proba(test), strict=True
    ):
        assert is_projective(best[0][1].heads)
        assert (best[0][1] == tree) == (not crosses)
        assert (p == 0.0) == crosses
    for words in parser.predict_marginals(test, least=0.0):
        assert all(sum(word.values()) == pytest.approx(1.0) for word in words)
    assert all(is_projective(tree.heads) for tree in parser.sample(test[:1], 50, random_state=0)[0])
    assert min(parser.entropy(test)) >= 0
    for tree, confidence in zip(trees, parser.confidence(test), strict=True):
        assert len(confidence) == len(tree)
        assert all(0 <= p < 1 for p in confidence)
