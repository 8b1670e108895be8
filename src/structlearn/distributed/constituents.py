"""Parsers of constituents over shards: tags, then labels and words, then features, then trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..exceptions import CapabilityError
from ..problem import Problem
from ..tasks.constituents.fitting import (
    Inventory,
    TreeCounts,
    TreeFitting,
    TreeProblem,
    make_tagger,
    precision,
    short_trees,
    tag_corpus,
    unseen_tags,
)
from ..text.bracket_treebank import placed_trees, placed_trees_of
from ..text.corpus import Corpus
from ..text.trees import Tree
from .corpora import by_shard, read_corpora
from .crew import Crew, Held, sent
from .problem import ShardedProblem
from .shards import FileShard, Shard
from .tagging import ShardedTokenFitting

__all__ = ["Keys", "fit_constituents"]


def fit_constituents(
    parser: Any, crew: Crew, dev: Any, format: str | None, sample_weight: Any
) -> None:
    """Fit a parser to shards of trees."""
    if parser.learner == "pcfg":
        raise CapabilityError("a grammar is counted on one machine, not over shards: use fit")
    parser._check()
    held_out = None if dev is None else parser._treebank(dev, None, format, "the dev corpus")
    fitting = _ShardedFitting(parser._plain(), crew, held_out)
    fitting.sample_weight = parser._weights(fitting, sample_weight)
    model, learned = fitting.run()
    model.training.update(parser._kept)
    parser._accept(model, learned, held_out)


class _Tagged(NamedTuple):
    """Trees, and the tags that are learned on."""

    trees: list[Tree]
    tags: list[list[str]]


class _ShardedFitting(TreeFitting):
    def __init__(self, parser: Any, crew: Crew, dev: list[Tree] | None) -> None:
        super().__init__(parser, [], dev)
        self.held = crew.files().then(_read, dict(parser._kept))
        sizes: list[tuple[int, int]] = self.held.each(_sizes)
        self.sizes = [trees for trees, _ in sizes]
        self.n_trees = sum(self.sizes)
        self.n_words = [words for _, words in sizes]

    def __len__(self) -> int:
        return self.n_trees

    def __iter__(self) -> Iterator[Tree]:
        return chain.from_iterable(self.held.each(_trees))

    def tagged(self) -> tuple[Any, Any]:
        """Learn the tagger over shards; in each, tags come from taggers of its other sentences."""
        if self.parser.gold_tags:
            return None, self.held.then(_gold_tags)
        corpus = read_corpora(self.held.crew, _read_tagged, dict(self.parser._kept))
        tagger = make_tagger(self.parser)
        tagger._learn(ShardedTokenFitting(tagger._plain(), corpus), None)
        self.parser._say(f"tagging {self.n_trees} sentences in {self.parser.folds} folds")
        return tagger, self.held.then(_unseen_tags, sent(self.parser))

    def problem(self, tags: Held) -> tuple[Problem, Inventory]:
        """Return the sum of the shards' problems."""
        parser = sent(self.parser)
        inventory = Inventory(tags.sum(_counts))
        counted: Keys = tags.sum(_count_features, inventory, parser.max_length)
        inventory.keys = counted.frequent(parser.min_count)
        weights = by_shard(self.sample_weight, self.sizes)
        problem = ShardedProblem(tags.then(_make_problem, inventory, parser, weights), self.n_words)
        tags.release()
        return problem, inventory


class Keys:
    """Features with how often each is there; to be added up in the order of the shards."""

    def __init__(self, keys: bytes, times: bytes) -> None:
        self.keys, self.times = keys, times

    def __add__(self, other: Keys) -> Keys:
        both = _core.SegmentVocabulary()
        both.add_counts(self.keys, self.times)
        both.add_counts(other.keys, other.times)
        return Keys(*both.counts())

    def frequent(self, min_count: int) -> bytes:
        """Return the keys of features that are not rare."""
        keys, times = np.frombuffer(self.keys, np.uint64), np.frombuffer(self.times, np.uint32)
        return keys[times >= min_count].tobytes()


# -- what is computed where the shards are --------------------------------------------------------


def _read(shard: Shard, number: int, kept: dict[str, Any]) -> list[Tree]:
    if isinstance(shard, FileShard):
        placed = placed_trees_of(shard.name, shard.text(), **kept)
    else:
        placed = placed_trees(shard.examples(), None, **kept)
    return [tree for tree, _ in placed]


def _read_tagged(shard: Shard, number: int, kept: dict[str, Any]) -> Corpus:
    return tag_corpus(_read(shard, number, kept))


def _trees(trees: list[Tree], number: int) -> list[Tree]:
    return trees


def _sizes(trees: list[Tree], number: int) -> tuple[int, int]:
    return len(trees), sum(len(tree.words) for tree in trees)


def _gold_tags(trees: list[Tree], number: int) -> _Tagged:
    return _Tagged(trees, [tree.tags for tree in trees])


def _unseen_tags(trees: list[Tree], number: int, parser: Any) -> _Tagged:
    return _Tagged(trees, unseen_tags(parser, tag_corpus(trees)))


def _counts(tagged: _Tagged, number: int) -> TreeCounts:
    return TreeCounts(*tagged)


def _count_features(tagged: _Tagged, number: int, inventory: Inventory, max_length: int) -> Keys:
    short = short_trees(tagged.trees, max_length)
    examples = inventory.examples(*tagged, short)
    labels, tags, known = len(inventory.labels), inventory.tags, inventory.known
    return Keys(*_core.count_tree_features(labels, tags, known, examples))


def _make_problem(
    tagged: _Tagged, number: int, inventory: Inventory, parser: Any, weights: list[Any]
) -> TreeProblem:
    return TreeProblem(
        *tagged,
        sample_weight=weights[number],
        min_count=parser.min_count,
        max_length=parser.max_length,
        dtype=precision(parser),
        inventory=inventory,
    )
