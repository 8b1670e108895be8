"""Subjects with few labels: inputs of three or four words have a few hundred outputs."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from fuzz.metamorphic.subjects import (
    _CONVEX,
    _ONLINE,
    _TAGS,
    _TREES,
    Drawn,
    Rng,
    Subject,
    _drawing,
    _parser,
    _tagged_inputs,
    _tagger,
)
from structlearn.tasks import ConstituencyParser, SegmentTagger
from structlearn.text.trees import Tree


def _few(name: str, n: int) -> str:
    """Map a name to one of n names."""
    return "ABCDE"[zlib.crc32(name.encode()) % n]


def _tagged(sentence: Any) -> list[Any]:
    return [(word, _few(tag, 3)) for word, tag in zip(sentence.words, sentence.tags, strict=True)]


def _chunked(sentence: Any) -> list[Any]:
    """Return words, tags and chunks of two types."""
    rows = zip(sentence.words, sentence.tags, sentence.chunks, strict=True)
    return [(w, t, k if k == "O" else f"{k[:2]}{_few(k[2:], 2)}") for w, t, k in rows]


def _arcs(sentence: Any) -> list[Any]:
    rows = zip(sentence.words, sentence.tags, sentence.heads, sentence.deprels, strict=True)
    return [(w, t, h, _few(r, 2) if h else "root") for w, t, h, r in rows]


def random_tree(rng: Rng, length: int, top: bool = True) -> Tree:
    """Return a tree of two categories and two tags over five words; chains of nodes are common.

    A word may stand alone, without any node above its tag.
    """
    bare = length == 1 and rng.random() < (0.3 if top else 0.7)
    if bare:
        return Tree("NV"[int(rng.integers(2))], word=_word(rng))
    if length == 1 or rng.random() < 0.2:
        children = [random_tree(rng, length, top=False)]
    else:
        n_cuts = int(rng.integers(1, min(length, 3)))
        cuts = np.sort(rng.choice(length - 1, size=n_cuts, replace=False)) + 1
        sizes = np.diff([0, *cuts.tolist(), length])
        children = [random_tree(rng, int(n), top=False) for n in sizes]
    return Tree("AB"[int(rng.integers(2))], children)


def _word(rng: Rng) -> str:
    return "abcde"[int(rng.integers(5))]


def _short_inputs(rng: Rng, n: int) -> list[Any]:
    return [[_word(rng) for _ in range(int(rng.integers(1, 5)))] for _ in range(n)]


def _trees(name: str, **choices: Any) -> Subject:
    """Return parsers of random trees."""
    parsers = _drawing(ConstituencyParser, lambda s: s.brackets, choices)

    def draw(rng: Rng) -> Drawn:
        trees = [random_tree(rng, int(rng.integers(1, 6))) for _ in range(int(rng.integers(4, 12)))]
        # At least one tree has a node: a parser without any category is refused.
        trees.append(Tree("A", [Tree("N", word="a"), Tree("V", word="b")]))
        if rng.random() < 0.3:
            trees += [Tree("N", word=_word(rng)) for _ in range(3)]  # rare chains are not learned
        return Drawn(parsers(rng).estimator, [str(tree) for tree in trees])

    return Subject(name, draw, _short_inputs, _TREES)


_SUBJECTS = [
    _tagger("tagger, few labels", _tagged, learner=(*_ONLINE, *_CONVEX), order=(0, 1, 2, 3),
            features=("pos", "none")),
    _tagger("tagger, few labels, hmm", _tagged, learner=("hmm",), features=("auto",),
            max_iter=(None,), order=(1, 2)),
    _tagger("tagger, few chunks", _chunked, _tagged_inputs, learner=("perceptron", "crf"),
            features=("chunk",), scheme=("none", "bio", "iobes", "beginnings"), order=(1, 2)),
    Subject("segments, few labels",
            _drawing(SegmentTagger, _chunked,
                     {"learner": (*_ONLINE, *_CONVEX), "max_iter": (2, 3), "max_length": (1, 3)}),
            _tagged_inputs, _TAGS),
    *(_parser(f"parser, few labels, order {n}", _tagged_inputs, example=_arcs, order=(n,),
              learner=_ONLINE, projective=(True, False)) for n in (1, 2)),
    _trees("constituency, random trees", learner=(*_ONLINE, *_CONVEX), max_iter=(1, 2), folds=(2,),
           min_count=(1, 2), n_models=(1,)),
    _trees("constituency, random trees, pcfg", learner=("pcfg",), vertical=(1, 2),
           horizontal=(0, 1, 2)),
]  # fmt: skip
FEW_LABELS = {subject.name: subject for subject in _SUBJECTS}
