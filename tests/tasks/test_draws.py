"""Draws and entropies of tasks, against the list of all outputs of short sentences."""

import math

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    ImageSegmenter,
    SegmentTagger,
    Tagger,
)

BANK = list(make_treebank(60, random_state=0))
TAGGED = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKED = [list(zip(s.words, s.chunks, strict=True)) for s in BANK]
HEADED = [list(zip(s.words, s.tags, s.heads, s.deprels, strict=True)) for s in BANK]
TREES = [s.brackets for s in BANK]
ARCS = {"gold_tags": True, "hash_bits": 12}

#: A task, and sentences that have some thousand outputs at most.
TASKS = {
    "tagger": lambda: (
        Tagger("pos", "crf", C=0.05, max_iter=30).fit(TAGGED[:40]),
        [["dogs", "sleep"]],
    ),
    "tagger of order 2": lambda: (
        Tagger("pos", "crf", C=0.05, order=2, max_iter=30).fit(TAGGED[:40]),
        [["dogs", "sleep"]],
    ),
    "calibrated": lambda: (
        Tagger("pos", max_iter=2).fit(TAGGED[:40], dev=TAGGED[40:]),
        [["big", "dogs"]],
    ),
    "chunks": lambda: (
        Tagger("chunk", "crf", C=0.05, scheme="iobes", max_iter=30).fit(
            [
                [(w, t, c) for (w, t), (_, c) in zip(a, b, strict=True)]
                for a, b in zip(TAGGED, CHUNKED, strict=True)
            ]
        ),
        [[("dogs", "NNS"), ("sleep", "VB")]],
    ),
    "segments": lambda: (
        SegmentTagger(learner="crf", C=0.05, max_length=3, max_iter=30).fit(CHUNKED[:40]),
        [["the", "dogs", "sleep"]],
    ),
    "arcs": lambda: (DependencyParser(1, "crf", C=0.1, **ARCS).fit(HEADED[:40]), [TAGGED[3][:2]]),
    "pairs": lambda: (
        DependencyParser(2, "crf", C=0.1, projective=True, **ARCS).fit(HEADED[:40]),
        [TAGGED[3][:2]],
    ),
    "calibrated arcs": lambda: (
        DependencyParser(1, max_iter=1, **ARCS).fit(HEADED[:40], dev=HEADED[40:]),
        [TAGGED[3][:2]],
    ),
    "constituents": lambda: (
        ConstituencyParser("crf", C=0.02, gold_tags=True).fit(TREES[:30]),
        [TAGGED[3][:2]],
    ),
    "calibrated constituents": lambda: (
        ConstituencyParser(max_iter=1, gold_tags=True).fit(TREES[:30], dev=TREES[40:]),
        [TAGGED[3][:2]],
    ),
    "grammar": lambda: (
        ConstituencyParser("pcfg", gold_tags=True).fit(TREES),
        [TAGGED[1], TAGGED[2]],
    ),
}


def key(output):
    """An output that can be a key."""
    return tuple(map(tuple, output)) if isinstance(output, list) else str(output)


@pytest.mark.parametrize("name", TASKS)
def test_against_the_list_of_all_outputs(name):
    task, sentences = TASKS[name]()
    temperature = getattr(task.model_, "temperature", None) or 1.0
    ranked = task.predict_kbest(sentences, 20000)
    n = 4000
    drawn = task.sample(sentences, n, random_state=1)
    assert drawn == task.sample(sentences, n, random_state=1)
    entropies = task.entropy(sentences)
    for listed, draws, entropy in zip(ranked, drawn, entropies, strict=True):
        assert len(listed) < 20000  # or it would not be all of them
        scores = np.array([score for score, _ in listed]) / temperature
        p = np.exp(scores - np.logaddexp.reduce(scores))
        sure = p[p > 0]
        assert entropy == pytest.approx(-(sure * np.log(sure)).sum(), rel=1e-4, abs=1e-6)
        counts = {}
        for y in draws:
            counts[key(y)] = counts.get(key(y), 0) + 1
        shares = {key(y): share for (_, y), share in zip(listed, p, strict=True)}
        assert len(shares) == len(listed)
        assert set(counts) <= set(shares)
        for y, share in list(shares.items())[:20]:
            spread = 5 * math.sqrt(share * (1 - share) / n) + 1e-3
            assert counts.get(y, 0) / n == pytest.approx(share, abs=spread)
        assert len(counts) > 1 or entropy < 0.1


def test_what_has_no_probabilities_says_what_works():
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 255, size=(40, 40), dtype=np.uint8) for _ in range(3)]
    masks = [(image > 127).astype(np.uint8) for image in images]
    segmenter = ImageSegmenter(max_iter=1).fit(images, masks)
    for ask in (segmenter.sample, segmenter.entropy):
        with pytest.raises(CapabilityError, match="What works: predict"):
            ask(images)


@pytest.mark.parametrize("bad", [{"n": 0}, {"random_state": -1}])
def test_bad_numbers(bad):
    tagger = Tagger("pos", max_iter=1).fit(TAGGED[:10])
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
        tagger.sample([["dogs"]], **bad)
