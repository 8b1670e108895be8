"""The weights of parsers of constituents: labels, words and features, counted by parts."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array
from ...text.trees import Tree
from ..tagging.tagger import Tagger
from .model import NAMELESS, ConstituencyModel, nameless_label

#: Chains of labels seen fewer times are learned as one of their labels.
_LEAST_LABEL = 2
#: Words seen fewer times are their shape and ending.
_LEAST_WORD = 2


class TaggedTrees(NamedTuple):
    """Trees of a part of a treebank.

    Attributes
    ----------
    trees : list of Tree
    tags : list of list of str
        The tags that the features read.
    copies : list of int
        How often each tree counts.
    losses : array or None
        Weights of their losses.
    """

    trees: list[Tree]
    tags: list[list[str]]
    copies: list[int]
    losses: Array | None


class TreeCounts:
    """How often chains of labels and words are in a part, and which tags; parts add up."""

    def __init__(self, tagged: TaggedTrees) -> None:
        self.tags = {tag for row in tagged.tags for tag in row}
        self.chains: Counter[tuple[str, ...]] = Counter()
        self.words: Counter[str] = Counter()
        for tree, times in zip(tagged.trees, tagged.copies, strict=True):
            for begin, end, chain in tree.collapsed():
                if end - begin > 1 or chain != NAMELESS:
                    self.chains[chain] += times
            for word in tree.words:
                self.words[word] += times

    def __add__(self, other: TreeCounts) -> TreeCounts:
        self.tags |= other.tags
        self.chains.update(other.chains)
        self.words.update(other.words)
        return self


class Examples(NamedTuple):
    """Trees as the core takes them, and the weights of their losses."""

    trees: list[Any]
    losses: Array | None


class Keys:
    """Features of gold trees with how often each is in a part; parts add up in their order."""

    def __init__(self, keys: bytes, times: bytes) -> None:
        self.keys, self.times = keys, times

    def __add__(self, other: Keys) -> Keys:
        return Keys(*_core.sum_counts([(self.keys, self.times), (other.keys, other.times)]))

    def frequent(self, min_count: int) -> bytes:
        """Return the keys of features that are not rare."""
        keys, times = np.frombuffer(self.keys, np.uint64), np.frombuffer(self.times, np.uint32)
        return keys[times >= min_count].tobytes()


class Inventory:
    """What the weights of a parser are of: labels, tags, words and features.

    Attributes
    ----------
    labels : list of tuple of str
        Chains of labels; the first is the empty one.
    tags : list of str
        The different tags.
    known : array
        Keys of the words that are not rare.
    keys : bytes
        Of the features; empty while they are not counted.
    """

    def __init__(self, counts: TreeCounts) -> None:
        self.tags, self.chains = sorted(counts.tags), counts.chains
        kept = [chain for chain, times in counts.chains.items() if times >= _LEAST_LABEL]
        self.labels: list[tuple[str, ...]] = [(), *sorted(kept or counts.chains or [NAMELESS])]
        frequent = (word for word, times in counts.words.items() if times >= _LEAST_WORD)
        self.known = array("Q", sorted(_core.word_key(word) for word in frequent))
        self.keys = b""

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.keys) // 8

    def examples(self, tagged: TaggedTrees, max_words: int) -> Examples | None:
        """Return the trees of a part that are not longer than that; None if there are none."""
        index = {chain: k for k, chain in enumerate(self.labels)}
        nameless = nameless_label(self.labels)

        def spans(tree: Tree) -> list[tuple[int, int, int]]:
            found = []
            for begin, end, chain in tree.collapsed():
                if end - begin > 1 or chain != NAMELESS:
                    label = _label(index, self.chains, chain)
                    if end - begin > 1 or label != nameless:
                        found.append((begin, end, label))
            return found

        trees, tags, copies, losses = tagged
        short = [i for i, tree in enumerate(trees) if len(tree.words) <= max_words]
        rows = [(trees[i].words, tags[i], spans(trees[i]), copies[i]) for i in short]
        return Examples(rows, None if losses is None else losses[short]) if rows else None

    def count(self, examples: Examples) -> Keys:
        """Return the features of the gold trees of a part."""
        labels, known = len(self.labels), self.known
        return Keys(*_core.count_tree_features(labels, self.tags, known, examples.trees))

    def stored(self, examples: Examples) -> _core.TreeExamples:
        """Return the sentences of a part, read by the core."""
        nameless = nameless_label(self.labels)
        words = self.tags, self.known
        return _core.TreeExamples(len(self.labels), *words, examples.trees, self.keys, nameless)

    def model(
        self, weights: npt.NDArray[Any], tagger: Tagger | None, *, pruned: bool = False
    ) -> ConstituencyModel:
        """Return the model with these weights; ``pruned``: without features that have none."""
        keys = np.frombuffer(self.keys, np.uint64)
        flat = weights.astype(np.float32, copy=False)
        if pruned:
            n = self.n_features * len(self.labels)
            rows = flat[:n].reshape(self.n_features, len(self.labels))
            used = (rows != 0).any(axis=1)
            keys, flat = keys[used], np.concatenate([rows[used].ravel(), flat[n:]])
        arrays = {"known": self.known, "keys": keys.tobytes(), "weights": flat.data}
        return ConstituencyModel(self.labels, self.tags, arrays, tagger)


def _label(index: dict[tuple[str, ...], int], counts: Counter[Any], chain: tuple[str, ...]) -> int:
    """Return the number of a chain of labels; of a rare chain that of its most frequent part."""
    if chain in index:
        return index[chain]
    parts = [
        chain[a:b]
        for a in range(len(chain))
        for b in range(a + 1, len(chain) + 1)
        if chain[a:b] in index
    ]
    if parts:
        return index[max(parts, key=lambda part: (len(part), counts[part]))]
    return index[max(index, key=lambda known: counts[known])]
