"""Calls for one input each, timed alone by ``one_call`` and under load by ``arrivals``."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import structlearn
from structlearn.datasets import make_treebank
from structlearn.io import read_crfsuite
from structlearn.tasks import SegmentTagger, Tagger

from . import rivals
from .data import data_folder
from .registry import Result
from .rows.running_text import ENGLISH

__all__ = [
    "ADDRESS", "MARGINALS", "PIPELINE", "SEGMENTS", "TAGGER", "TEXTS", "Calls", "addresses",
    "pipelines", "quantile", "taggers",
]  # fmt: skip

ADDRESS, MARGINALS = "address, labels", "address, marginals"
TAGGER, SEGMENTS = "Tagger, pos, 12 words", "SegmentTagger, 12 words"
PIPELINE = "English pipeline, two short sentences"
#: Most have six tokens.
ADDRESSES = (
    "123 Main St. Chicago, IL 60601",
    "1600 Pennsylvania Avenue Washington, DC 20500",
    "350 Fifth Ave Brooklyn, NY 10118",
    "77 Massachusetts Ave Cambridge, MA 02139",
    "4059 Mt Lee Hollywood, CA 90068",
    "2 Lincoln Memorial Springfield, IL 62701",
)
#: Two short sentences each.
TEXTS = (
    "Fish sleep. They don't dream.",
    "The cat sat on the mat. Dogs bark.",
    "I like it. She went home early.",
    "We met Bob in Paris. It rained.",
)
#: Training sentences for UDPipe, which determine the quality and the size of its model.
SENTENCES = 400
Call = Callable[[Any], Any]


def quantile(sorted_times: list[float], share: float) -> float:
    """Return a quantile of times in ascending order."""
    return sorted_times[min(len(sorted_times) - 1, int(share * len(sorted_times)))]


@dataclass
class Calls:
    """Calls by name, of ours and of rivals, with the inputs of each."""

    ours: dict[str, Call] = field(default_factory=dict)
    theirs: dict[str, Call] = field(default_factory=dict)
    inputs: dict[str, list[Any]] = field(default_factory=dict)

    def update(self, other: Calls) -> None:
        """Add the calls of another."""
        self.ours |= other.ours
        self.theirs |= other.theirs
        self.inputs |= other.inputs


def taggers(n_sentences: int) -> Calls:
    """Return taggers of tokens and of segments, and sentences of twelve words for each."""
    bank = make_treebank(n_sentences, random_state=0)
    rng = random.Random(0)
    words = [(w, t) for s in bank for w, t in zip(s.words, s.tags, strict=True)]
    rows = [[rng.choice(words) for _ in range(12)] for _ in range(200)]
    rounds: dict[str, Any] = {"n_models": 1, "max_iter": 3, "random_state": 0}
    tagger = Tagger("pos", **rounds).fit([list(zip(s.words, s.tags, strict=True)) for s in bank])
    chunks = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]
    segments = SegmentTagger(**rounds).fit(chunks)
    return Calls(
        {TAGGER: tagger.predict_single, SEGMENTS: segments.predict_single},
        inputs={TAGGER: [[w for w, _ in row] for row in rows], SEGMENTS: rows},
    )


def pipelines(result: Result, *, rival: bool = True) -> Calls:
    """Return calls that annotate a text, from characters to CoNLL-U, by us and by UDPipe."""
    nlp = structlearn.load(ENGLISH)
    calls = Calls({PIPELINE: lambda text: nlp(text).to_conllu()}, inputs={PIPELINE: [*TEXTS]})
    if not rival:
        return calls
    theirs, source = rivals.load("udpipe_text", result.skipped), data_folder()
    if theirs and source is None:
        result.skipped.append("ufal.udpipe (no treebank to train it on in STRUCTLEARN_DATA)")
    elif theirs:
        model = theirs.model_file(source / "ud_en_ewt", SENTENCES)
        calls.theirs[PIPELINE] = theirs.annotator(model)
    return calls


def addresses(result: Result) -> Calls:
    """Return calls that label an address by usaddress' model, by us and by python-crfsuite."""
    theirs = rivals.load("addresses", result.skipped)
    if not theirs:
        return Calls()
    model = read_crfsuite(theirs.MODEL)
    inputs = [theirs.features(address) for address in ADDRESSES]
    label, marginals = theirs.tagger()
    _check_answers(model, inputs, label, marginals)
    return Calls(
        {ADDRESS: model.predict_single, MARGINALS: lambda x: model.predict_marginals([x])},
        {ADDRESS: label, MARGINALS: marginals},
        {ADDRESS: inputs, MARGINALS: inputs},
    )


def _check_answers(model: Any, inputs: list[Any], label: Call, marginals: Call) -> None:
    """Refuse to time answers that differ."""
    for x in inputs:
        if model.predict_single(x) != label(x):
            raise AssertionError("python-crfsuite has other labels")
        for ours, theirs in zip(model.predict_marginals([x])[0], marginals(x), strict=True):
            if any(abs(ours[k] - p) > 1e-9 for k, p in theirs.items()):
                raise AssertionError("python-crfsuite has other marginals")
