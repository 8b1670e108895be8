"""Parsers of constituents over shards: tags, then labels and words, then features, then trees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..exceptions import CapabilityError
from ..fitting.split_corpus import SplitCorpus
from ..problem import Problem
from ..tasks.constituents.fitting import (
    Inventory,
    TreeCounts,
    TreeFitting,
    TreeProblem,
    copies_of,
    make_tagger,
    precision,
    short_trees,
    tag_corpus,
    unseen_tags,
)
from ..tasks.tagging.token_fitting import TokenFitting
from ..text.bracket_treebank import placed_trees, placed_trees_of
from ..text.corpus import Corpus
from ..text.trees import Tree
from .corpora import by_shard, present_weights, read_corpora
from .crew import Crew, CrewParts, Held, sent
from .problem import ShardedProblem
from .shards import FileShard, Shard

__all__ = ["Keys", "fit_constituents"]


def fit_constituents(
    parser: Any, crew: Crew, dev: Any, format: str | None, sample_weight: Any
) -> None:
    """Fit a parser to shards of trees."""
    if parser.learner == "pcfg":
        raise CapabilityError("a grammar is counted on one machine, not over shards: use fit")
    parser._check()
    held_out = None if dev is None else parser._treebank(dev, None, format, "the dev corpus")
    fitting = _ShardedFitting(parser._plain(), crew, held_out, sample_weight)
    fitting.loss_weight = parser._loss_weights(fitting, fitting.sample_weight)
    model, learned = fitting.run()
    model.training.update(parser._kept)
    parser._accept(model, learned, held_out)


class _Weighted(NamedTuple):
    """Trees and their weights; None: all 1."""

    trees: list[Tree]
    sample_weight: Any = None


class _Tagged(NamedTuple):
    """Trees, the tags that are learned on, and how often each tree counts."""

    trees: list[Tree]
    tags: list[list[str]]
    copies: list[int]


class _ShardedFitting(TreeFitting):
    def __init__(self, parser: Any, crew: Crew, dev: list[Tree] | None, sample_weight: Any) -> None:
        super().__init__(parser, [], dev)
        self.held = crew.files().then(_read, dict(parser._kept))
        sizes: list[tuple[int, int]] = self.held.each(_sizes)
        self.weights: Any = None
        if sample_weight is not None:
            self.weights = present_weights(crew, sample_weight, [trees for trees, _ in sizes])
            self.held = self.held.then(_present, self.weights)
            sizes = self.held.each(_sizes)
            self.sample_weight = np.concatenate([part[part > 0] for part in self.weights])
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
        weights = None if self.weights is None else np.concatenate(self.weights)
        corpus = read_corpora(
            self.held.crew, _read_tagged, dict(self.parser._kept), sample_weight=weights
        )
        tagger = make_tagger(self.parser)
        tagger._learn(TokenFitting(tagger._plain(), SplitCorpus(CrewParts(corpus.held))), None)
        self.parser._say(f"tagging {self.n_trees} sentences in {self.parser.folds} folds")
        return tagger, self.held.then(_unseen_tags, sent(self.parser))

    def problem(self, tags: Held) -> tuple[Problem, Inventory]:
        """Return the sum of the shards' problems."""
        parser = sent(self.parser)
        inventory = Inventory(tags.sum(_counts))
        counted: Keys = tags.sum(_count_features, inventory, parser.max_words)
        inventory.keys = counted.frequent(parser.min_count)
        weights = by_shard(self.loss_weight, self.sizes)
        problem = ShardedProblem(tags.then(_make_problem, inventory, parser, weights), self.n_words)
        tags.release()
        return problem, inventory


class Keys:
    """Features with how often each is there; to be added up in the order of the shards."""

    def __init__(self, keys: bytes, times: bytes) -> None:
        self.keys, self.times = keys, times

    def __add__(self, other: Keys) -> Keys:
        return Keys(*_core.sum_counts([(self.keys, self.times), (other.keys, other.times)]))

    def frequent(self, min_count: int) -> bytes:
        """Return the keys of features that are not rare."""
        keys, times = np.frombuffer(self.keys, np.uint64), np.frombuffer(self.times, np.uint32)
        return keys[times >= min_count].tobytes()


# -- what is computed where the shards are --------------------------------------------------------


def _read(shard: Shard, number: int, kept: dict[str, Any]) -> _Weighted:
    if isinstance(shard, FileShard):
        placed = placed_trees_of(shard.name, shard.text(), **kept)
    else:
        placed = placed_trees(shard.examples(), None, **kept)
    return _Weighted([tree for tree, _ in placed])


def _present(shard: _Weighted, number: int, weights: list[Any]) -> _Weighted:
    own = weights[number]
    trees = [tree for tree, weight in zip(shard.trees, own, strict=True) if weight]
    return _Weighted(trees, own[own > 0])


def _read_tagged(shard: Shard, number: int, kept: dict[str, Any]) -> Corpus:
    return tag_corpus(_read(shard, number, kept).trees)


def _trees(shard: _Weighted, number: int) -> list[Tree]:
    return shard.trees


def _sizes(shard: _Weighted, number: int) -> tuple[int, int]:
    return len(shard.trees), sum(len(tree.words) for tree in shard.trees)


def _gold_tags(shard: _Weighted, number: int) -> _Tagged:
    copies = copies_of(shard.sample_weight, len(shard.trees))
    return _Tagged(shard.trees, [tree.tags for tree in shard.trees], copies)


def _unseen_tags(shard: _Weighted, number: int, parser: Any) -> _Tagged:
    tags = unseen_tags(parser, tag_corpus(*shard))
    return _Tagged(shard.trees, tags, copies_of(shard.sample_weight, len(shard.trees)))


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
        tagged.trees,
        tagged.tags,
        loss_weight=weights[number],
        min_count=parser.min_count,
        max_length=parser.max_words,
        dtype=precision(parser),
        inventory=inventory,
    )
