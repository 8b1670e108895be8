"""What parsers return: trees that know their words, their probabilities, and draw themselves."""

import copy
import math
import pickle

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.tasks import ConstituencyParser, DependencyParser
from structlearn.text import DependencyTree, Tree

BANK = make_treebank(90, random_state=0)
HEADED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
BRACKETS = [s.brackets for s in BANK]
WORDS = [list(s.words) for s in BANK[80:]]


@pytest.fixture(scope="module")
def arcs():
    return DependencyParser(1, hash_bits=14, max_iter=2, folds=2).fit(HEADED[:80])


@pytest.fixture(scope="module")
def spans():
    return ConstituencyParser(max_iter=1, folds=2).fit(BRACKETS[:80])


def test_a_dependency_tree_is_the_list_that_it_was(arcs):
    for words, tree in zip(WORDS, arcs.predict(WORDS), strict=True):
        assert isinstance(tree, DependencyTree)
        plain = list(zip(tree.heads, tree.relations, strict=True))
        assert tree == plain
        assert [(head, relation) for head, relation in tree] == plain
        assert repr(tree) == repr(plain)
        assert tree.words == words
        assert len(tree.tags) == len(words)
        assert tree.probability is None
        assert tree.confidence is None
        for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
            assert again == tree
            assert (again.words, again.tags) == (tree.words, tree.tags)


def test_tags_are_those_that_were_read(arcs):
    given = [[(word, "XX") for word in words] for words in WORDS]
    for tree in arcs.predict(given, gold_tags=True):
        assert set(tree.tags) == {"XX"}
    tagged = arcs.model_.taggers[0].label_corpus(arcs._tagged(WORDS, None)[0])
    assert [tree.tags for tree in arcs.predict(WORDS)] == tagged


def test_probabilities_where_asked_for(arcs):
    trees = arcs.predict(WORDS, confidence=True)
    assert trees == arcs.predict(WORDS)
    assert [t.probability for t in trees] == pytest.approx(arcs.predict_proba(WORDS))
    assert [t.confidence for t in trees] == arcs.confidence(WORDS)
    for tree, marginals in zip(trees, arcs.predict_marginals(WORDS, least=0.0), strict=True):
        # Nothing was calibrated: they are what the model says.
        assert tree.confidence == [p[arc] for p, arc in zip(marginals, tree, strict=True)]
    (ranked,) = arcs.predict_kbest(WORDS[:1], 3)
    first = ranked[0]
    shares = [arcs.predict_proba(WORDS[:1], [tree])[0] for _, tree in ranked]
    for (score, tree), share in zip(ranked, shares, strict=True):
        assert (tree.words, tree.tags) == (WORDS[0], trees[0].tags)
        assert share / shares[0] == pytest.approx(math.exp(score - first[0]))
    arcs = copy.copy(arcs)
    arcs.model_ = copy.copy(arcs.model_)
    arcs.model_.training = dict(arcs.model_.training)
    arcs.calibrate(HEADED[80:])
    for tree in arcs.predict(WORDS, confidence=True):
        assert max(tree.confidence) <= arcs.calibration_.highest < 1
    pairs = DependencyParser(2, hash_bits=12, max_iter=1, gold_tags=True).fit(HEADED[:10])
    (tree,) = pairs.predict(HEADED[:1], confidence=True)
    assert 0 <= tree.probability <= min(tree.confidence) + 1e-12


def test_dependency_trees_as_text_and_pictures(arcs):
    arcs_of = [(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj"), (4, "amod")]
    words, tags = ["the", "dog", "sees", "it", "now"], ["D", "N", "V", "N", "R"]
    tree = DependencyTree(arcs_of, words, tags, confidence=[0.5] * 5)
    assert str(tree).splitlines() == [
        "sees V root 0.500",
        "├─ dog N nsubj 0.500",
        "│  └─ the D det 0.500",
        "└─ it N obj 0.500",
        "   └─ now R amod 0.500",
    ]
    bare = DependencyTree(arcs_of, words)
    assert str(bare).splitlines()[0] == "sees root"
    for shown in (tree._repr_svg_(), tree._repr_html_(), tree.draw().svg):
        assert shown.startswith("<svg")
        assert all(f">{word}<" in shown for word in (*words, *tags, "nsubj"))
    wrong = tree.draw([(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj"), (3, "amod")])
    missed = wrong.svg.split('class="missed">')[1].split("</g>")[0]
    assert missed.count("<text") == 1
    assert ">amod<" in missed
    (found,) = arcs.predict(WORDS[:1])
    assert len(str(found).splitlines()) == len(WORDS[0])
    assert arcs.draw(WORDS, 0).svg == found._repr_svg_()


def test_constituent_trees(spans):
    trees = spans.predict(WORDS)
    for words, tree in zip(WORDS, trees, strict=True):
        assert isinstance(tree, Tree)
        assert tree.words == words
        assert len(tree.tags) == len(words)
        assert tree.spans()[0][:2] == (0, len(words))
        assert tree.probability is None
        assert tree._repr_svg_().startswith("<svg")
        assert tree._repr_html_() == tree._repr_svg_() == tree.draw().svg
        assert pickle.loads(pickle.dumps(tree)) == tree
    asked = spans.predict(WORDS, confidence=True)
    assert asked == trees
    assert [tree.probability for tree in asked] == spans.predict_proba(WORDS)
    (ranked,) = spans.predict_kbest(WORDS[:1], 4)
    p = spans.predict_proba(WORDS[:1] * len(ranked), [tree for _, tree in ranked])
    assert p[0] == pytest.approx(asked[0].probability)
    for (score, _), share in zip(ranked, p, strict=True):
        assert share / p[0] == pytest.approx(math.exp(score - ranked[0][0]))


@pytest.mark.parametrize("task", ["arcs", "spans"])
def test_weights_of_labels_are_weights_of_sentences(task):
    """The loss of a sentence times the mean weight of its labels, as for the estimators.

    All weights are below 1.5: a sentence counts once.
    """
    if task == "arcs":
        made = DependencyParser(1, "adagrad", gold_tags=True, hash_bits=12, max_iter=2)
        trees = HEADED[:20]
        labels = [[relation for *_, relation in tree] for tree in trees]
    else:
        made = ConstituencyParser(gold_tags=True, max_iter=2)
        trees = BRACKETS[:20]
        labels = [[k for _, _, k in tree.spans()] for tree in made._treebank(trees, None, None)]
    heavy = {"nsubj": 1.4, "punct": 0.0} if task == "arcs" else {"NP": 1.4, "VP": 0.0}
    mean = [np.mean([heavy.get(k, 1.0) for k in row]) for row in labels]

    def weights(**options):
        extra = options.pop("sample_weight", None)
        parser = type(made)(**{**made.get_params(), **options}).fit(trees, sample_weight=extra)
        return bytes(parser.model_.arrays["weights"])

    given = weights(class_weight=heavy)
    assert given == weights(sample_weight=mean)
    assert given != weights()
    both = weights(class_weight=heavy, sample_weight=np.linspace(0.5, 1, 20))
    assert both == weights(sample_weight=np.linspace(0.5, 1, 20) * mean)
    assert weights(class_weight="balanced") not in (given, weights())
    with pytest.raises(ValueError, match="class_weight names \\['nope'\\]"):
        weights(class_weight={"nope": 1.0})
    with pytest.raises(ValueError, match="class_weight"):
        weights(class_weight=dict.fromkeys({k for row in labels for k in row}, 0.0))


def test_order_two_has_no_sums(arcs):
    """The problem says so too, whoever asks it."""
    from tests.tasks.dependencies.test_parser_problem import TINY, problem_of

    problem = problem_of(TINY, 2)
    w = np.zeros(problem.n_weights)
    for ask in (
        lambda: problem.infer(0, w, 0.0, 1.0),
        lambda: problem.loss(0, w, 0.0, 0.5),
        lambda: problem.total_loss(w, 0.0, 1.0, n_jobs=2),
    ):
        with pytest.raises(CapabilityError, match=r"What works at order 2 .*temperature 0"):
            ask()
