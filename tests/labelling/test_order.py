"""Which text is asked for next: doubt against enumeration, and near-duplicates."""

import itertools
import math

import numpy as np
import pytest

from structlearn.labelling.kinds import Spans
from structlearn.labelling.order import doubts
from structlearn.labelling.pool import Pool
from structlearn.labelling.variety import Variety
from structlearn.tasks import Tagger

SENTENCES = [
    [("the", "D"), ("fish", "N"), ("sleeps", "V")],
    [("fish", "N"), ("fish", "V"), ("fish", "N")],
    [("they", "N"), ("sleep", "V")],
]


@pytest.fixture(scope="module")
def tagger():
    return Tagger("pos", learner="crf", max_iter=20).fit(SENTENCES)


def every_output(tagger, words):
    """Return the probabilities of all outputs, by their scores."""
    labels = tagger.classes_
    outputs = list(itertools.product(labels, repeat=len(words)))
    found = tagger.predict_proba([words] * len(outputs), [list(y) for y in outputs], temperature=1)
    assert sum(found) == pytest.approx(1)
    return sorted(found, reverse=True)


def test_doubt_is_what_enumeration_says(tagger):
    texts = [["fish", "sleep"], ["the", "fish", "fish"], ["new"]]
    for words, by_token, margin, whole in zip(
        texts, *(doubts(tagger, texts, by) for by in ("tokens", "margin", "whole")), strict=True
    ):
        shares = every_output(tagger, words)
        entropy = -sum(p * math.log(p) for p in shares if p)
        assert by_token == pytest.approx(entropy / len(words), abs=1e-6)
        assert margin == pytest.approx(shares[1] / shares[0], rel=1e-6)
        assert whole == pytest.approx(1 - shares[0], abs=1e-9)
    with pytest.raises(ValueError, match="by must be"):
        doubts(tagger, texts, "size")


def pairs(words):
    plain = ["", *("".join("0" if c.isdigit() else c for c in w.lower()) for w in words), ""]
    return set(itertools.pairwise(plain))


def test_similarity_is_that_of_sets_of_pairs():
    rng = np.random.default_rng(0)
    texts = [[f"w{k}" for k in rng.integers(0, 5, rng.integers(1, 6))] for _ in range(40)]
    texts.append(["W1", "w2"])
    variety = Variety(texts)
    nearest = np.zeros(len(texts))
    for i in (0, 7, 40):
        expected = [
            len(pairs(t) & pairs(texts[i])) / len(pairs(t) | pairs(texts[i])) for t in texts
        ]
        assert variety.similarities(i) == pytest.approx(expected)
        variety.add(i)
        nearest = np.maximum(nearest, expected)
        assert variety.nearest == pytest.approx(nearest)


def test_near_duplicates_do_not_come_twice():
    texts = [["Room", str(n), "is", "free"] for n in range(20)] + [["Ann", "sleeps"], ["a", "b"]]
    variety = Variety(texts)
    worth = np.linspace(2, 1, len(texts))
    assert variety.chosen(worth, range(len(texts)), 3) == [0, 20, 21]
    variety.add(20)
    assert variety.chosen(worth, range(len(texts)), 2) == [0, 21]


def test_the_pool_asks_for_what_is_doubted(tagger):
    texts = [
        "the fish sleeps",
        "fish fish fish",
        "they sleep",
        "new things",
        "the fish sleeps",
        " ",
    ]
    pool = Pool(texts, Spans())
    assert (len(pool.texts), pool.left_out) == (4, 2)
    pool.learned(tagger, "tokens")
    told = doubts(tagger, [text.words for text in pool.texts], "tokens")
    assert pool.next("tokens", {0, 1, 2, 3}, tagger) == [int(np.argmax(told))]
    assert pool.next("plain", {3, 1}, tagger) == [1]
    assert pool.next("random", {3, 1}, tagger)[0] in {1, 3}
    assert pool.next("tokens", set(), tagger) == []
    with pytest.raises(ValueError, match="order must be"):
        pool.next("best", {1}, tagger)
