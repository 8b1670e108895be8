"""Confidences against how often they are right, on held-out sentences of a noisy treebank.

A model that was trained with a dev set says of itself that it is calibrated. Then those of its
answers to which it gives about the probability p are right in about the share p of cases: the
expected calibration error over ten bins is small.
"""

import functools
import random

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.metrics.boundaries import chunks
from structlearn.tasks import (
    ConstituencyParser,
    DependencyParser,
    Pipeline,
    SegmentTagger,
    Tagger,
)
from structlearn.text.trees import Tree, parse_brackets

pytestmark = pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")

#: Most of the expected calibration error, which that of a perfect model has by chance as well.
MOST = 0.05
N_TRAIN, N_DEV, N_ALL = 120, 120, 540


def error(answers):
    """Return the expected calibration error of (confidence, right) pairs."""
    confidence, right = (np.array(column, dtype=float) for column in zip(*answers, strict=True))
    bins = np.minimum((10 * confidence).astype(int), 9)
    gaps = [
        abs(confidence[bins == k].mean() - right[bins == k].mean()) * (bins == k).mean()
        for k in np.unique(bins)
    ]
    return sum(gaps)


class Noisy:
    """A sentence whose words, tags, chunks, arcs and labels of nodes are partly wrong.

    ``noise`` 0 leaves it as it is.
    """

    def __init__(self, sentence, rng, noise):
        n = len(sentence.words)

        def wrong(share):
            return rng.random() < noise * share

        self.words = [rng.choice(["foo", "bar", "baz"]) if wrong(0.15) else w
                      for w in sentence.words]  # fmt: skip
        self.tags = [rng.choice("NV") if wrong(0.1) else t for t in sentence.tags]
        self.chunks = []
        for chunk in sentence.chunks:
            before = self.chunks[-1] if self.chunks else "O"
            kept = "O" if wrong(0.1) else chunk
            self.chunks.append("B" + kept[1:] if kept[0] == "I" and before == "O" else kept)
        self.arcs = list(zip(sentence.heads, sentence.deprels, strict=True))
        for i, (head, relation) in enumerate(self.arcs):
            leaf = all(i + 1 != above for above, _ in self.arcs)
            if head and leaf and wrong(0.25):
                other = rng.choice([j for j in range(1, n + 1) if j != i + 1])
                self.arcs[i] = other, rng.choice(["dep", relation])
        left = iter(self.words)

        def relabelled(node):
            if node.word is not None:
                return Tree(node.label, (), next(left))
            label = rng.choice(["NP", "VP", "PP"]) if wrong(0.15) else node.label
            return Tree(label, [relabelled(child) for child in node.children])

        self.tree = relabelled(parse_brackets(sentence.brackets)[0])

    @property
    def rows(self):
        """Words, tags and arcs."""
        arcs = zip(self.words, self.tags, self.arcs, strict=True)
        return [(word, tag, *arc) for word, tag, arc in arcs]


@functools.cache
def bank(noise):
    rng = random.Random(0)
    return [Noisy(sentence, rng, noise) for sentence in make_treebank(N_ALL, random_state=0)]


def fitted(model, noise, examples):
    """Return a model trained with a dev set, and what is held out."""
    given = [examples(one) for one in bank(noise)]
    dev = given[N_TRAIN : N_TRAIN + N_DEV]
    return model.fit(given[:N_TRAIN], dev=dev), bank(noise)[N_TRAIN + N_DEV :]


def tags(noise, **options):
    def tagged(one):
        return list(zip(one.words, one.tags, strict=True))

    model, rest = fitted(Tagger("pos", n_models=1, max_iter=5, **options), noise, tagged)
    X = [one.words for one in rest]
    for one, row, found in zip(rest, model.confidence(X), model.predict(X), strict=True):
        for p, tag, gold in zip(row, found, one.tags, strict=True):
            yield p, tag == gold


def segments(noise, **options):
    def chunked(one):
        return list(zip(one.words, one.tags, one.chunks, strict=True))

    model, rest = fitted(SegmentTagger(n_models=1, max_iter=5, **options), noise, chunked)
    X = [list(zip(one.words, one.tags, strict=True)) for one in rest]
    for one, row, output in zip(
        rest, model.confidence(X), model._inputs(X).solve().outputs, strict=True
    ):
        gold = set(chunks(one.chunks))
        for p, segment in zip(row, model.model_.segments(output), strict=True):
            if segment[2] != "O":
                yield p, segment in gold


def arcs(noise, **options):
    parser = DependencyParser(gold_tags=True, hash_bits=14, n_models=1, **options)
    model, rest = fitted(parser, noise, lambda one: one.rows)
    X = [list(zip(one.words, one.tags, strict=True)) for one in rest]
    for one, row, tree in zip(rest, model.confidence(X), model.predict(X), strict=True):
        for p, arc, gold in zip(row, tree, one.arcs, strict=True):
            yield p, tuple(arc) == gold


def trees(noise, **options):
    model, rest = fitted(ConstituencyParser(gold_tags=True, **options), noise, lambda one: one.tree)
    X = [one.tree for one in rest]
    for one, confidence, tree in zip(rest, model.confidence(X), model.predict(X), strict=True):
        gold = set(one.tree.spans())
        yield from zip(confidence, (span in gold for span in tree.spans()), strict=True)


@functools.cache
def pipeline(noise):
    short = {"n_models": 1, "max_iter": 4}
    made = Pipeline(
        tokeniser=False, lemmas=False, tags=short, parser={"hash_bits": 14, **short}, folds=2
    )
    model, rest = fitted(made, noise, lambda one: one.rows)
    doc = model.annotate([one.words for one in rest], confidence=True)
    return list(zip(rest, doc.sentences, strict=True))


def pipeline_tags(noise):
    for one, sentence in pipeline(noise):
        for gold, word in zip(one.tags, sentence, strict=True):
            yield word.confidence["upos"], word.upos == gold


def pipeline_heads(noise):
    for one, sentence in pipeline(noise):
        for (head, _), word in zip(one.arcs, sentence, strict=True):
            yield word.confidence["head"], word.head_id == head


CASES = {
    "tags, perceptron": tags,
    "tags, crf": functools.partial(tags, learner="crf"),
    "segments, perceptron": segments,
    "segments, crf": functools.partial(segments, learner="crf"),
    "arcs, order 1": functools.partial(arcs, order=1, max_iter=5),
    "arcs, order 1, crf": functools.partial(arcs, order=1, learner="crf", max_iter=40),
    "arcs, order 2": functools.partial(arcs, order=2, max_iter=5),
    "arcs, order 2, projective": functools.partial(arcs, order=2, projective=True, max_iter=5),
    "trees": trees,
    "trees, crf": functools.partial(trees, learner="crf", max_iter=10),
    "pipeline, tags": pipeline_tags,
    "pipeline, heads": pipeline_heads,
}
CLEAN = ["tags, perceptron", "tags, crf", "segments, perceptron", "segments, crf",
         "arcs, order 1, crf", "trees"]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "noise"), [(name, 0) for name in CLEAN] + [(name, 1) for name in CASES]
)
def test_confidences_are_those_of_being_right(name, noise):
    answers = list(CASES[name](noise))
    assert len(answers) > 800
    assert error(answers) <= MOST


def test_the_error_is_that_of_the_bins():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    right = rng.uniform(size=len(p)) < p
    assert error(list(zip(p, right, strict=True))) < 0.02
    assert error(list(zip(p**2, right, strict=True))) == pytest.approx(1 / 6, abs=0.02)
    assert error([(1.0, False), (0.0, False), (0.55, True), (0.55, False)]) == pytest.approx(0.275)
