"""Sums over constituent trees against the list of them all; the k best; the log loss."""

import itertools
import math
import subprocess
import sys

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser
from structlearn.text.trees import Tree, parse_brackets

TREES = [s.brackets for s in make_treebank(160, random_state=0)]
#: Few labels, so that all trees of a few words can be listed.
FEW = [
    "(S (NP (D the) (N dog)) (VP (V sees) (NP (N it))))",
    "(S (NP (N it)) (VP (V sees) (NP (D the) (N dog))))",
    "(S (NP (D the) (N dog)) (VP (V sleeps)))",
    "(NP (D the) (N dog) (N dog))",
    "(S (NP (N it)) (VP (V sees)))",
]


@pytest.fixture(scope="module", params=["adagrad", "svm", "perceptron", "crf"])
def parser(request):
    return ConstituencyParser(
        request.param, gold_tags=True, min_count=1, max_iter=3, random_state=1
    ).fit(FEW * 2)


@pytest.fixture(scope="module")
def narrow():
    """One label alone, for which longer sentences can be listed."""
    trees = [
        "(S (S (D the) (N dog)) (V sees) (N it) (R now))",
        "(S (D the) (N dog) (V sees) (N it))",
    ]
    return ConstituencyParser("crf", gold_tags=True, min_count=1, max_iter=3).fit(trees * 2)


def _all_trees(parser, words, tags):
    """Every tree, by asking for more than there are."""
    (found,) = parser.predict_kbest([_flat(words, tags)], 10**6)
    return found


def _flat(words, tags):
    return Tree("S", [Tree(tag, (), word) for word, tag in zip(words, tags, strict=True)])


def _chain_count(labels, n):
    """Trees of n words with ``labels`` chains: words bare or labelled, wider nodes labelled."""
    # children[i]: sequences of at least two children over i words; nodes[i]: labelled nodes.
    nodes = [0, labels + 1]
    for size in range(2, n + 1):
        # Sequences of nodes that cover `size` words, of two or more.
        rows = [1] + [0] * size
        for end in range(1, size + 1):
            rows[end] = sum(rows[end - k] * nodes[k] for k in range(1, end + 1) if k < size)
        nodes.append(labels * rows[size])
    return nodes[n]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_tree_is_listed_once(parser, n):
    _check_list(parser, n)


@pytest.mark.parametrize("n", [4, 5])
def test_longer_sentences_under_one_label(narrow, n):
    _check_list(narrow, n)
    _check_sums(narrow, n)


def _check_list(parser, n):
    words, tags = ["the", "dog", "sees", "it", "now"][:n], ["D", "N", "V", "N", "R"][:n]
    found = _all_trees(parser, words, tags)
    labels = len(parser.model_.labels) - 1
    assert len(found) == _chain_count(labels, n)
    assert len({str(tree) for _, tree in found}) == len(found)
    scores = [score for score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert all(tree.words == words for _, tree in found)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_sums_agree_with_the_list(parser, n):
    _check_sums(parser, n)


def _check_sums(parser, n):
    words, tags = ["it", "sees", "the", "dog", "now"][:n], ["N", "V", "D", "other", "R"][:n]
    found = _all_trees(parser, words, tags)
    top = found[0][0]
    total = top + math.log(sum(math.exp(score - top) for score, _ in found))
    given = [_flat(words, tags)]
    assert parser.predict_proba(given)[0] == pytest.approx(math.exp(top - total), rel=1e-9)
    marginals = {}
    for score, tree in found:
        for span in set(tree.spans()):
            if span[2]:
                marginals[span] = marginals.get(span, 0.0) + math.exp(score - total)
    (got,) = parser.predict_marginals(given, least=0.0)
    assert got.keys() == marginals.keys()
    for span, p in marginals.items():
        assert got[span] == pytest.approx(p, rel=1e-8, abs=1e-12), span


def test_the_best_of_the_list_is_the_prediction():
    parser = ConstituencyParser(gold_tags=True, max_iter=2).fit(TREES[:100])
    ranked = parser.predict_kbest(TREES[100:130], 8)
    assert [trees[0][1] for trees in ranked] == parser.predict(TREES[100:130])
    for trees in ranked:
        assert len({str(tree) for _, tree in trees}) == len(trees)
        assert all(a[0] >= b[0] for a, b in itertools.pairwise(trees))
    likely = parser.predict_marginals(TREES[100:130], least=0.5)
    for spans in likely:  # two spans of more than half cannot cross
        for (a, b, _), (c, d, _) in itertools.combinations(spans, 2):
            assert not (a < c < b < d)
            assert not (c < a < d < b)


def test_the_log_loss_learns_probabilities():
    hinge, log = (
        ConstituencyParser(gold_tags=True, max_iter=3, **loss).fit(TREES[:120])
        for loss in ({}, {"margin": 0.0, "temperature": 1.0})
    )
    assert log.evaluate(TREES[120:])["f1"] > 0.7
    gold = [parse_brackets(tree)[0] for tree in TREES[120:]]

    def surprise(parser):
        """Mean −log P of the gold spans."""
        found = parser.predict_marginals(TREES[120:], least=0.0)
        logs = [
            -math.log(max(p.get(span, 0.0), 1e-9))
            for p, tree in zip(found, gold, strict=True)
            for span in tree.spans()
        ]
        return sum(logs) / len(logs)

    assert surprise(log) < surprise(hinge)


def test_a_counted_grammar_has_probabilities_too():
    parser = ConstituencyParser("pcfg", gold_tags=True).fit(TREES[:100])
    trees = TREES[100:110]
    best = parser.predict(trees)
    for tree, ranked, p, spans in zip(
        best,
        parser.predict_kbest(trees, 3),
        parser.predict_proba(trees),
        parser.predict_marginals(trees),
        strict=True,
    ):
        assert ranked[0][1] == tree
        assert 0 < p <= 1 if math.isfinite(ranked[0][0]) else p == 0
        for span in set(tree.spans()) if p else ():
            assert spans[span] >= p - 1e-9
    # Nothing derives these tags: the flat tree is a makeshift, and says so.
    flat = [_flat(["a"] * 3, [".", ".", "."])]
    assert parser.predict_proba(flat) == [0.0]
    assert parser.predict_marginals(flat) == [{}]
    assert parser.evaluate(flat)["underivable"] == 1


@pytest.mark.parametrize("learner", ["adagrad", "crf", "pcfg"])
def test_no_query_needs_numpy(learner, tmp_path):
    parser = ConstituencyParser(learner, max_iter=2).fit(TREES[:60], dev=TREES[60:80])
    parser.save(tmp_path / "m")
    ask = (
        "import sys, warnings; sys.modules['numpy'] = None; warnings.simplefilter('ignore')\n"
        "from structlearn.tasks import ConstituencyParser\n"
        "parser, X = ConstituencyParser.load(sys.argv[1]), [['the', 'cat', 'sleeps'], ['fish']]\n"
        "trees = parser.predict(X, confidence=True)\n"
        "print(*trees, parser.predict_kbest(X, 2), parser.sample(X, 2, random_state=0),\n"
        "      parser.predict_marginals(X), parser.entropy(X), parser.predict_proba(X, trees),\n"
        "      parser.log_loss(X, trees), parser.confidence(X), parser.explain(X),\n"
        "      parser.top_features(n=1), parser.transitions()[:1])"
    )
    done = subprocess.run([sys.executable, "-c", ask, str(tmp_path / "m")], capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert str(parser.predict([["the", "cat", "sleeps"]])[0]) in done.stdout


def test_trees_that_are_no_outputs_are_impossible(parser):
    """Labels that were not learned, other words, nodes of a tree that cannot be."""
    (given,) = parse_brackets(FEW[0])
    for wrong in ("(X (D the) (N dog) (V sees) (N it))", "(S (NP (D the)) (N dog))",
                  "( (D the) (N dog) (V sees) (N it))"):  # fmt: skip
        assert parser.predict_proba([given], parse_brackets(wrong)) == [0.0]
        assert parser.log_loss([given], parse_brackets(wrong)) == math.inf


def test_refusals(parser):
    for wrong in (0, -1, 1.5, None):
        with pytest.raises(ValueError, match="n must be a whole number"):
            parser.predict_kbest([FEW[0]], wrong)
    with pytest.raises(ValueError, match="sentence 1 has no tags"):
        parser.predict_marginals([["a", "b"]])


def test_a_sentence_that_the_grammar_does_not_derive_has_no_marginals():
    """Unknown tags may be any: of three words there is no tree either way."""
    parser = ConstituencyParser("pcfg", gold_tags=True).fit(["(S (NP (N a)) (VP (V b)))"] * 2)
    unknown = [(word, "X") for word in "xyz"]
    assert parser.predict_marginals([unknown, unknown[:2]])[0] == {}
    assert parser.predict_proba([unknown]) == [0.0]
    assert parser.entropy([unknown]) == [0.0]
