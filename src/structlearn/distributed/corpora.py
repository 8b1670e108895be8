"""A corpus whose sentences are in shards, as far as one can talk about it without reading it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import FileError
from ..fitting.example_weights import check_sample_weight, refuse_no_weight
from ..text.corpus import Corpus, column_names, find_column
from .crew import Crew, Held

__all__ = ["ShardedCorpus", "by_shard", "present_weights", "read_corpora"]


class _Facts(NamedTuple):
    format: str
    n_columns: int
    n_sentences: int
    n_tokens: int
    path: str
    weights: list[float]


def read_corpora(
    crew: Crew, read: Callable[..., Corpus], *args: Any, sample_weight: Any = None
) -> ShardedCorpus:
    """Return the corpus that the shards of a crew make up.

    Parameters
    ----------
    read : callable
        Gives the corpus of a shard, from the shard, its number and the arguments.
    sample_weight : array of shape (n_sentences,), optional
        Sentences of weight 0 are left out, and so are shards that have no others.
    """
    held = crew.files().then(read, *args)
    facts: list[_Facts] = held.each(_facts)
    if sample_weight is not None:
        weights = present_weights(crew, sample_weight, [one.n_sentences for one in facts])
        held = held.then(_weighted, weights)
        facts = held.each(_facts)
    first = facts[0]
    for one in facts:
        if (one.format, one.n_columns) != (first.format, first.n_columns):
            raise FileError(
                one.path,
                f"{one.format} with {one.n_columns} columns, where {first.path} is {first.format} "
                f"with {first.n_columns}",
            )
    return ShardedCorpus(held, facts)


def present_weights(crew: Crew, sample_weight: Any, sizes: list[int]) -> list[Any]:
    """Return the weights of each shard's examples; shards without any above 0 leave the crew."""
    weights = check_sample_weight(sample_weight, sum(sizes))
    refuse_no_weight(weights)
    shards = by_shard(weights, sizes)
    kept = [k for k, part in enumerate(shards) if part is None or part.any()]
    crew.keep(kept)
    return [shards[k] for k in kept]


def by_shard(weights: Any, sizes: list[int]) -> list[Any]:
    """Return the weights of each shard's sentences; None where all weigh the same."""
    if weights is None:
        return [None] * len(sizes)
    return np.split(weights, np.cumsum(sizes)[:-1])


class ShardedCorpus:
    """Looks like a :class:`~structlearn.text.Corpus` to whoever asks for sizes and counts alone.

    Attributes
    ----------
    held : Held
        The corpus of each shard, which knows its place in the whole.
    sentences, tokens : list of int
        Their numbers in each shard.
    """

    def __init__(self, held: Held, facts: list[_Facts]) -> None:
        self.held, self._facts = held, facts
        self.format, self.n_columns = facts[0].format, facts[0].n_columns
        self.path = facts[0].path if len(facts) == 1 else f"{facts[0].path} and others"
        self.sentences = [one.n_sentences for one in facts]
        self.tokens = [one.n_tokens for one in facts]
        self.n_tokens = sum(self.tokens)
        #: Weights of all sentences; None: all 1.
        self.sample_weight = None
        if facts[0].weights:
            self.sample_weight = np.concatenate([one.weights for one in facts])

    def __len__(self) -> int:
        return sum(self.sentences)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return column_names(self.format, self.n_columns)

    def find_column(self, name: str | int) -> int:
        """Return the number, from 0, of a column given by name or by its number from 1."""
        try:
            return find_column(str(name), self.format, self.n_columns)
        except ValueError as error:
            raise FileError(self.path, str(error)) from None

    def counts(self, name: str | int) -> dict[str, int]:
        """Return how often each string of a column is there, in the order of first occurrence."""
        index = name if isinstance(name, int) else self.find_column(name)
        found: Counter[str] = self.held.sum(_counts, index)
        return dict(found)

    def column(self, name: str | int) -> list[list[str]]:
        """Return the cells of a column, by sentences."""
        index = name if isinstance(name, int) else self.find_column(name)
        return list(itertools.chain.from_iterable(self.held.each(_column, index)))

    def subset(self, sentences: Iterable[int]) -> Corpus:
        """Return a corpus of the sentences with these numbers."""
        wanted = sorted(sentences)
        rows = itertools.chain.from_iterable(self.held.each(_rows, self.sentences, wanted))
        return Corpus.from_sentences(rows, self.format)


def _facts(corpus: Corpus, number: int) -> _Facts:
    path = corpus.path or f"shard {number}"
    return _Facts(
        corpus.format, corpus.n_columns, len(corpus), corpus.n_tokens, path, corpus.weights
    )


def _weighted(corpus: Corpus, number: int, weights: list[Any]) -> Corpus:
    return corpus.weighted(weights[number].tolist())


def _rows(corpus: Corpus, number: int, sizes: list[int], wanted: list[int]) -> list[Any]:
    first = sum(sizes[:number])
    return [list(corpus[i - first]) for i in wanted if first <= i < first + len(corpus)]


def _column(corpus: Corpus, number: int, column: int) -> list[list[str]]:
    return corpus.column(column)


def _counts(corpus: Corpus, number: int, column: int) -> Counter[str]:
    return _Ordered(corpus.counts(column))


class _Ordered(Counter[str]):
    """Counts that are in the order of first occurrence when they are added up."""

    def __add__(self, other: Counter[str]) -> _Ordered:  # type: ignore[override]
        found = _Ordered(self)
        found.update(other)
        return found
