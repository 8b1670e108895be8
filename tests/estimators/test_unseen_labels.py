"""Labels that training had not: wrong in every score, never an error."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV

from structlearn.datasets import make_treebank
from structlearn.estimators import CRF, HMM, StructuredPerceptron
from structlearn.structures import Arborescence
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from structlearn.text import read_corpus
from tests.estimators.estimator_data import points, quietly, sentences
from tests.tasks.tagging.tagger_data import corpus_folder

BANK = list(make_treebank(60, random_state=0))


@pytest.mark.parametrize("model", [CRF(), HMM(), StructuredPerceptron(max_iter=3)], ids=repr)
def test_sequences(model):
    X, y = sentences()
    if isinstance(model, HMM):
        X = [[token[1] for token in x] for x in X]
    quietly(model, X[:20], y[:20])
    gold = [["X" if k == "V" else k for k in row] for row in y[20:]]
    flat = [np.concatenate([list(row) for row in rows]) for rows in (gold, model.predict(X[20:]))]
    assert model.score(X[20:], gold) == pytest.approx(accuracy_score(*flat))


def test_single_labels():
    X, y = points()
    model = CRF("multiclass").fit(X[:40], y[:40])
    gold = np.where(y[40:] == "V", "X", y[40:])
    assert model.score(X[40:], gold) == pytest.approx(accuracy_score(gold, model.predict(X[40:])))
    number = {"D": 0, "N": 1, "V": 2}
    model.fit(X[:40], [number[k] for k in y[:40]])
    later = np.array([number[k] for k in y[40:]]) * 2
    assert model.score(X[40:], later) == pytest.approx(accuracy_score(later, model.predict(X[40:])))
    model.fit(X[:40], y[:40].astype("S"))
    right = np.mean(model.predict(X[40:]) == gold.astype("S"))
    assert model.score(X[40:], gold.astype("S")) == pytest.approx(right)
    with pytest.raises(ValueError, match="label 'X' is not among the classes b'D'"):
        model.score(X[40:], ["X"] * len(gold))


def test_relations_and_brackets():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(16, 3)) for _ in range(8)]
    y = [([2, 0, 2], ["a", "b", "a"])] * 8
    model = quietly(CRF(Arborescence(labelled=True), max_iter=5), X, y)
    heads, labels = model.predict(X[:1])[0]
    other = [(list(heads), ["new", *list(labels)[1:]])]
    assert model.score(X[:1], other) == pytest.approx(2 / 3)


def test_grid_search_on_chunks():
    """sklearn-crfsuite's users change the name of the class, and nothing else."""
    corpus = read_corpus(corpus_folder("conll2000") / "train.txt.gz").subset(range(500))
    X = [
        [{"word": word.lower(), "tag": tag, "end": word[-3:]} for word, tag, _ in sentence]
        for sentence in corpus
    ]
    y = corpus.column("chunk")
    search = GridSearchCV(CRF(max_iter=15), {"C": [0.01, 1.0]}, cv=3, error_score="raise")
    quietly(search, X, y)
    found = search.cv_results_["mean_test_score"]
    assert np.isfinite(found).all()
    assert found[1] > found[0] + 0.01
    assert search.best_params_ == {"C": 1.0}


@pytest.mark.parametrize("task", [Tagger("pos", max_iter=2), SegmentTagger(max_iter=2)])
def test_taggers(task):
    column = "tags" if isinstance(task, Tagger) else "chunks"
    rows = [list(zip(s.words, getattr(s, column), strict=True)) for s in BANK]
    new = "NEW" if column == "tags" else "B-NEW"
    dev = [[(word, new) for word, _ in row] for row in rows[50:]]
    task.fit(rows[:50], dev=[*dev, *rows[40:50]])
    assert task.score(dev) == 0.0
    assert task.evaluate(dev, intervals=True, against=task)["accuracy"] == 0.0
    assert new.removeprefix("B-") in task.report(dev, confusions=3)


def test_parsers():
    rows = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
    parser = DependencyParser(1, gold_tags=True, hash_bits=14, max_iter=2)
    gold = [[(*token[:3], "new") for token in row] for row in rows[50:]]
    parser.fit(rows[:50], dev=gold)
    assert parser.evaluate(gold)["uas"] > 0.5
    assert parser.score(gold) == 0.0
    trees = [s.brackets for s in BANK]
    constituents = ConstituencyParser(max_iter=2, gold_tags=True)
    other = [tree.replace("(NP ", "(NEW ") for tree in trees[50:]]
    constituents.fit(trees[:50], dev=other)
    scores = constituents.evaluate(other)
    assert scores["by_label"]["NEW"] == 0.0 or scores["by_label"]["NEW"]["f1"] == 0.0
    assert 0.0 < scores["f1"] < constituents.score(trees[50:])
