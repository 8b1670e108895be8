"""What chains of every order have learned can be looked at, and adds up to their scores."""

import itertools
import warnings

import numpy as np
import pytest

from structlearn import cli, load
from structlearn.datasets import make_treebank
from structlearn.estimators import CRF, HMM, StructuredPerceptron
from structlearn.exceptions import CapabilityError
from structlearn.structures import Chain
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.tasks.inspection import inspect_task
from structlearn.text import FeatureTemplates
from structlearn.workbench.labs.readings import tags_of

BANK = list(make_treebank(40, random_state=0))
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKED = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
WORDS, TAGS = [list(s.words) for s in BANK], [list(s.tags) for s in BANK]
TOKENS = [[{"word": word} for word in row] for row in WORDS]
BARE = FeatureTemplates.parse("word")
SMALL = {"max_iter": 1, "n_models": 1}

#: Name -> what makes a tagger, and sentences to look at.
TAGGERS = {
    **{
        f"perceptron of order {order}": (
            lambda order=order: Tagger("pos", order=order, **SMALL).fit(TAGGED),
            TAGGED,
        )
        for order in range(4)
    },
    "crf of order 0": (lambda: Tagger("pos", "crf", order=0, max_iter=2).fit(TAGGED), TAGGED),
    "hashed, of order 0": (
        lambda: Tagger("pos", order=0, hash_bits=10, **SMALL).fit(TAGGED),
        TAGGED,
    ),
    "without names, of order 0": (
        lambda: Tagger("pos", order=0, names=False, **SMALL).fit(TAGGED),
        TAGGED,
    ),
    "two targets, of order 0": (
        lambda: Tagger("none", order=0, target=[2, 3], **SMALL).fit(CHUNKED),
        CHUNKED,
    ),
    **{
        f"candidates of order {order}": (
            lambda order=order: Tagger("pos", order=order, candidates=3, **SMALL).fit(TAGGED),
            TAGGED,
        )
        for order in (1, 2)
    },
    **{
        f"hidden Markov model of order {order}": (
            lambda order=order: Tagger(learner="hmm", order=order).fit(TAGGED),
            TAGGED,
        )
        for order in (1, 2)
    },
    "iobes": (lambda: Tagger("chunk", scheme="iobes", **SMALL).fit(CHUNKED), CHUNKED),
    "segments": (lambda: SegmentTagger(**SMALL).fit(CHUNKED), CHUNKED),
}


@pytest.fixture(scope="module")
def models():
    made = {}

    def get(name):
        if name not in made:
            made[name] = TAGGERS[name][0]()
        return made[name]

    return get


@pytest.mark.filterwarnings("ignore:.*not calibrated")
@pytest.mark.parametrize("name", TAGGERS)
def test_every_call(models, tmp_path, capsys, name):
    """The tables have the rows that the order has, in Python, as text, as pages, from a file."""
    tagger, (_, sentences) = models(name), TAGGERS[name]
    labels = tagger.model_.labels
    path = tmp_path / "x.model"
    tagger.save(path)
    for one in (tagger, load(path)):
        assert {row["label"] for row in one.top_features(n=2)} <= set(one.classes_)
        assert one.top_features(one.classes_[0], in_words=True) is not None
        rows = one.transitions()
        pairs = [row for row in rows if row["before"] in labels and row["after"] in labels]
        assert len(pairs) == (0 if "of order 0" in name else len(labels) ** 2)
        ends = [row for row in rows if row not in pairs]
        assert len(ends) in (0, len(labels), 2 * len(labels))
        assert all(row["before"] == "(start)" or row["after"] == "(end)" for row in ends)
        assert len(one.explain(sentences[:2])) == 2
        assert one._repr_html_()
        for chosen in (None, one.classes_[:1]):
            for given in (None, sentences[:2]):
                for page in (False, True):
                    shown = inspect_task(one, 3, given, chosen, 5, page)
                    assert isinstance(shown, str)
    assert cli.run(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert ("(start)" in text) == bool(ends)
    assert cli.run(["inspect", str(path), "--html", str(tmp_path / "x.html")]) == 0
    assert "<html" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("name", ["perceptron of order 0", "candidates of order 1", "iobes"])
def test_tables(models, name):
    pytest.importorskip("pandas")
    tagger = models(name)
    frame = tagger.transitions(as_frame=True)
    assert set(tagger.model_.labels) <= set(frame.columns)
    assert ("(start)" in frame.index) == any(
        row["before"] == "(start)" for row in tagger.transitions()
    )


def summed(labels, words, features, pairs):
    """Return the score of a labelling: its features, its ends and its pairs."""
    total = sum(features.get((k, w), 0.0) for k, w in zip(labels, words, strict=True))
    walk = ["(start)", *labels, "(end)"]
    return total + sum(pairs.get(two, 0.0) for two in itertools.pairwise(walk))


@pytest.mark.parametrize("learner", ["perceptron", "crf"])
@pytest.mark.parametrize("order", [0, 1])
def test_scores_of_taggers_are_sums_of_what_is_shown(learner, order):
    tagger = Tagger(BARE, learner, order=order, max_iter=2).fit(TAGGED)
    features = {
        (row["label"], row["feature"].partition("=")[2]): row["weight"]
        for row in tagger.top_features(n=100_000)
    }
    pairs = {(row["before"], row["after"]): row["weight"] for row in tagger.transitions()}
    for words in ([WORDS[0][0]], WORDS[0][:2], WORDS[1]):
        for score, labels in tagger.predict_kbest([words], 20)[0]:
            assert summed(labels, words, features, pairs) == pytest.approx(score, abs=1e-4)


ESTIMATORS = {
    **{f"crf of order {order}": (CRF(Chain(order), max_iter=3), TOKENS) for order in range(3)},
    **{
        f"perceptron of order {order}": (StructuredPerceptron(Chain(order), max_iter=1), TOKENS)
        for order in range(3)
    },
    "no ends": (CRF(Chain(1), boundaries=False, max_iter=3), TOKENS),
    **{f"hmm of order {order}": (HMM(order=order), WORDS) for order in (1, 2)},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scores_of_estimators_are_sums_of_what_is_shown(name):
    model, X = ESTIMATORS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, TAGS)
    features = {}
    for row in model.top_features(n=100_000):
        features[row["label"], row["feature"].removeprefix("word:")] = row["weight"]
    pairs = {(row["before"], row["after"]): row["weight"] for row in model.transitions()}
    labels = set(model.classes_.tolist())
    n_pairs = sum(a in labels and b in labels for a, b in pairs)
    assert n_pairs == (0 if "order 0" in name else len(labels) ** 2)
    assert model._repr_html_()
    # Three labels have windows of their own at order 2.
    lengths = (1, 2) if "order 2" in name else (1, 2, 5)
    for length in lengths:
        for score, y in model.predict_kbest([X[0][:length]], 5)[0]:
            found = summed(y.tolist(), WORDS[0][:length], features, pairs)
            assert found == pytest.approx(score, abs=1e-6)


def test_a_chain_without_pairs_or_ends_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CRF(Chain(0), boundaries=False, max_iter=3).fit(TOKENS, TAGS)
    with pytest.raises(CapabilityError, match="no transitions"):
        model.transitions()
    assert model.top_features()


@pytest.mark.filterwarnings("ignore:.*not calibrated")
@pytest.mark.parametrize("name", [n for n in TAGGERS if "of order" in n and "two" not in n])
def test_readings_without_a_tag(models, name):
    """The workbench, where a reader forbids the best tag of the first word."""
    tagger, words = models(name), WORDS[0][:4]
    best = tagger.predict([words])[0][0]
    reading = tags_of(tagger, words, [(0, best)])
    allowed = [tags for _, tags in reading.ranked if tags[0] != best]
    assert all(np.isfinite(score) for score, _ in reading.ranked)
    assert allowed
