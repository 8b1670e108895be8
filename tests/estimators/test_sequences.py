"""scikit-learn's tools on sequences: scorers, transformers token by token, held-out predictions."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from structlearn import CRF, StructuredPerceptron
from structlearn.datasets import load_digit_words, make_treebank
from structlearn.estimators import PerToken, cross_val_predict
from structlearn.metrics import chunk_f1, label_report, scorer, sequence_accuracy, token_accuracy
from structlearn.tasks import Tagger

BANK = make_treebank(60, random_state=0)
X = [[[w.lower(), w[-2:]] for w in s.words] for s in BANK]
y = [list(s.chunks) for s in BANK]
DIGITS = load_digit_words(40, random_state=0)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("token_accuracy", token_accuracy),
        ("sequence_accuracy", sequence_accuracy),
        ("chunk_f1", chunk_f1),
        ("f1_macro", lambda g, p: label_report(g, p).macro.f1),
        ("f1_micro", lambda g, p: label_report(g, p).micro.f1),
    ],
)
def test_scorers_are_the_metrics(name, metric):
    model = StructuredPerceptron(max_iter=2, random_state=0)
    found = cross_val_score(model, X, y, cv=KFold(3), scoring=scorer(name))
    wanted = []
    for train, test in KFold(3).split(X):
        one = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        wanted.append(metric([y[i] for i in test], one.predict([X[i] for i in test])))
    assert found.tolist() == wanted
    assert 0 < min(wanted) <= max(wanted) < 1 or name == "sequence_accuracy"


def test_scorers_choose_parameters_and_are_pickled():
    search = GridSearchCV(
        StructuredPerceptron(random_state=0), {"max_iter": [1, 4]}, cv=3,
        scoring=pickle.loads(pickle.dumps(scorer("chunk_f1"))),
    ).fit(X, y)  # fmt: skip
    assert 0 < search.best_score_ < 1
    assert repr(scorer("chunk_f1")) == "scorer('chunk_f1')"
    with pytest.raises(ValueError, match=r"metric must be one of token_accuracy, .*'f1'"):
        scorer("f1")


def test_transformers_see_all_tokens_as_one_table():
    table = np.concatenate(DIGITS.X)
    labels = np.concatenate(DIGITS.y)
    for transformer in (StandardScaler(), SelectKBest(f_classif, k=20)):
        wanted = clone(transformer).fit(table, labels).transform(table)
        each = PerToken(transformer).fit(DIGITS.X, DIGITS.y).transform(DIGITS.X)
        assert [len(x) for x in each] == [len(x) for x in DIGITS.X]
        np.testing.assert_array_equal(np.concatenate(each), wanted)
    as_sparse = [sparse.csr_matrix(x) for x in DIGITS.X]
    scaled = PerToken(StandardScaler(with_mean=False)).fit(as_sparse).transform(as_sparse)
    wanted = StandardScaler(with_mean=False).fit_transform(table)
    np.testing.assert_allclose(sparse.vstack(scaled).toarray(), wanted)


def test_pipelines_of_sequences():
    model = make_pipeline(PerToken(MinMaxScaler()), CRF(C=0.1, tol=1e-2))
    scores = cross_val_score(model, DIGITS.X, DIGITS.y, cv=2, scoring=scorer("token_accuracy"))
    assert scores.min() > 0.8
    rows = [[{"w": w.lower(), "n": len(w)} for w in s.words] for s in BANK]
    text = make_pipeline(PerToken(DictVectorizer()), CRF(tol=1e-2)).fit(rows, y)
    assert token_accuracy(y, text.predict(rows)) > 0.8
    names = text[0].get_feature_names_out()
    assert "n" in names


def test_what_does_not_fit_is_said():
    with pytest.raises(ValueError, match="X has 3 tokens, y has 2 labels"):
        PerToken(StandardScaler()).fit([np.ones((3, 2))], [[0, 1]])
    fitted = PerToken(StandardScaler()).fit(DIGITS.X)
    with pytest.raises(ValueError, match="X has no tokens"):
        fitted.transform([np.ones((0, 64))])


def test_held_out_predictions():
    model = StructuredPerceptron(max_iter=2, random_state=0)
    found = cross_val_predict(model, X, y, cv=4)
    for train, test in KFold(4).split(X):
        one = clone(model).fit([X[i] for i in train], [y[i] for i in train])
        for i, row in zip(test, one.predict([X[i] for i in test]), strict=True):
            assert found[i].tolist() == row.tolist()
    marginals = cross_val_predict(CRF(tol=1e-1), X, y, cv=2, method="predict_marginals")
    assert [len(m) for m in marginals] == list(map(len, X))
    words = [list(s.words) for s in BANK]
    tags = cross_val_predict(Tagger("pos", max_iter=2), words, y, cv=2)
    assert list(map(len, tags)) == list(map(len, words))
    with pytest.raises(ValueError, match="times instead of once"):
        cross_val_predict(model, X, y, cv=ShuffleSplit(2, random_state=0))
    with pytest.raises(ValueError, match="X has 60 examples, y has 59"):
        cross_val_predict(model, X, y[1:])
