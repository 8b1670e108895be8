"""What the estimators over files share: scikit-learn's tools, parameters, sentences from Python."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.validation import check_is_fitted

from structlearn.datasets import make_treebank
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from structlearn.text.trees import parse_brackets

BANK = make_treebank(60, random_state=0)
WORDS = [list(s.words) for s in BANK]
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
TREES = [list(zip(s.heads, s.deprels, strict=True)) for s in BANK]

#: Estimator, sentences with their outputs in them, sentences and outputs apart, a grid.
CASES = {
    "tagger": (
        Tagger("pos", max_iter=2, n_models=1),
        TAGGED,
        (WORDS, [list(s.tags) for s in BANK]),
        {"max_iter": [1, 2]},
    ),
    "segments": (
        SegmentTagger(max_iter=2, n_models=1),
        [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK],
        (TAGGED, [list(s.chunks) for s in BANK]),
        {"max_length": [2, 4]},
    ),
    "parser": (
        DependencyParser(1, gold_tags=True, hash_bits=14, max_iter=1),
        [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK],
        (TAGGED, TREES),
        {"learner": ["svm", "perceptron"]},
    ),
    "constituency": (
        ConstituencyParser(gold_tags=True, max_iter=1),
        [s.brackets for s in BANK],
        ([parse_brackets(s.brackets)[0] for s in BANK], [s.brackets for s in BANK]),
        {"margin": [0.5, 1.0]},
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    estimator, *rest = CASES[request.param]
    return clone(estimator), *rest


def _plain(outputs):
    return [str(y) for y in outputs]


def _arrays(estimator):
    return {name: bytes(data) for name, data in estimator.model_.arrays.items()}


def test_clone_keeps_parameters(case):
    estimator, sentences, _, _ = case
    fitted = clone(estimator).fit(sentences)
    copy = clone(fitted)
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "model_")
    with pytest.raises(NotFittedError):
        check_is_fitted(copy)
    check_is_fitted(fitted)


def test_nothing_is_predicted_before_fit(case):
    estimator, sentences, (X, y), _ = case
    fresh = clone(estimator)
    assert not hasattr(fresh, "classes_"), "hasattr asks, and must not fail"
    calls = [lambda: fresh.predict(X), lambda: fresh.score(X, y), lambda: fresh.evaluate(sentences)]
    if hasattr(fresh, "predict_marginals"):
        calls.append(lambda: fresh.predict_marginals(X))
    if hasattr(fresh, "predict_kbest"):
        calls.append(lambda: fresh.predict_kbest(X, 2))
    for call in calls:
        with pytest.raises(NotFittedError, match="has not learned anything yet"):
            call()


def test_cross_validation_and_grid_search(case):
    estimator, sentences, (X, y), grid = case
    scores = cross_val_score(estimator, sentences, cv=2, error_score="raise")
    assert scores.shape == (2,)
    assert (scores > 0.2).all()
    apart = cross_val_score(estimator, X, y, cv=2, error_score="raise")
    np.testing.assert_array_equal(scores, apart)
    search = GridSearchCV(estimator, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_ in [{name: v} for name, values in grid.items() for v in values]
    assert len(search.predict(X[:3])) == 3


def test_outputs_apart_are_the_same_as_within(case):
    estimator, sentences, (X, y), _ = case
    within, apart = clone(estimator).fit(sentences), clone(estimator).fit(X, y)
    assert _plain(within.predict(X[:10])) == _plain(apart.predict(X[:10]))
    assert within.score(sentences) == apart.score(X, y)


def test_a_dev_set_is_not_taken_for_outputs(case, tmp_path):
    estimator, sentences, (X, y), _ = case
    with pytest.raises(ValueError, match=r"dev=|words"):
        estimator.fit(sentences, sentences[1:] + sentences[:1])
    with pytest.raises(ValueError, match="dev="):
        estimator.fit(X, tmp_path / "dev.txt")
    with pytest.raises(ValueError, match=f"{len(X)} sentences, y has {len(y) - 1}"):
        estimator.fit(X, y[:-1])
    with pytest.raises(ValueError, match="goes with a list"):
        estimator.fit("train.txt", y)
    estimator.fit(sentences, dev=sentences[:5])


def test_numbers_of_numpy_are_numbers(case, tmp_path):
    estimator, sentences, (X, _), _ = case
    plain = clone(estimator).set_params(max_iter=1, random_state=3).fit(sentences)
    estimator.set_params(max_iter=np.int64(1), random_state=np.int32(3), n_jobs=np.int64(1))
    estimator.fit(sentences).save(tmp_path / "m")
    assert _arrays(estimator) == _arrays(plain)
    assert isinstance(estimator.max_iter, np.int64)  # parameters stay as they were given
    for wrong in (0, 1.0, True, "2", np.float64(1)):
        with pytest.raises(ValueError, match="max_iter must be a whole number"):
            clone(estimator).set_params(max_iter=wrong).fit(X)
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        clone(estimator).set_params(random_state=None).fit(sentences)


def test_a_file_keeps_the_parameters(case, tmp_path):
    estimator, sentences, _, grid = case
    estimator.set_params(**{name: values[0] for name, values in grid.items()}, random_state=5)
    estimator.fit(sentences).save(tmp_path / "m")
    loaded = type(estimator).load(tmp_path / "m")
    assert loaded.get_params() == estimator.get_params()
    assert _arrays(clone(loaded).fit(sentences)) == _arrays(estimator)


def test_pickles(case):
    estimator, sentences, (X, _), _ = case
    estimator.fit(sentences)
    again = pickle.loads(pickle.dumps(estimator))
    assert _plain(again.predict(X[:5])) == _plain(estimator.predict(X[:5]))
    assert again.get_params() == estimator.get_params()


@pytest.mark.parametrize("wrong", [None, 5, b"text", {}])
def test_what_are_no_sentences_is_said(case, wrong):
    estimator, sentences, _, _ = case
    fitted = estimator.fit(sentences)
    for ask in (fitted.predict, fitted.evaluate, fitted.fit):
        with pytest.raises(ValueError, match="sentences are a file's name"):
            ask(wrong)
    with pytest.raises(ValueError, match="sentence"):
        fitted.predict([wrong])


def test_a_string_is_split_at_white_space():
    text, tokens = " the dog\tsees me .", ["the", "dog", "sees", "me", "."]
    tagger = Tagger("pos", max_iter=1, n_models=1).fit(TAGGED)
    assert tagger.predict([text]) == tagger.predict([tokens])
    parser = DependencyParser(1, hash_bits=14, max_iter=1, folds=2).fit(CASES["parser"][1])
    assert parser.predict([text]) == parser.predict([tokens])
    constituents = ConstituencyParser(max_iter=1, folds=2).fit(CASES["constituency"][1])
    assert constituents.predict([text]) == constituents.predict([tokens])
    segments = SegmentTagger("segments", max_iter=1, n_models=1, target=2)
    chunks = [list(zip(s.words, s.chunks, strict=True)) for s in BANK]
    assert len(segments.fit(chunks).predict([text])[0]) == 5
    assert tagger.predict([" "]) == parser.predict([" "]) == [[]]
    assert [tree.words for tree in constituents.predict([" "])] == [[]]
    with pytest.raises(ValueError, match="there is one column"):
        Tagger("pos").fit([text])
    with pytest.raises(ValueError, match="no head"):
        DependencyParser().fit([text])
    with pytest.raises(ValueError, match="outside of brackets"):
        ConstituencyParser().fit([text])
