"""A corpus in parts, as far as one can talk about it without looking at its sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from .. import _core
from ..exceptions import FileError
from ..text.corpus import Corpus, column_names, find_column
from .example_weights import check_sample_weight, refuse_no_weight
from .parts import Parts, alone


def in_parts(X: Any, read: Callable[..., Any], *args: Any) -> Parts:
    """Return the parts that X is: on one machine it is one, which ``read`` reads."""
    if isinstance(X, SplitCorpus):
        X = X.parts
    if X is None:
        read(X, *args)  # which refuses it: as a part it would be an empty one
    parts = X if isinstance(X, Parts) else alone(X)
    return parts.then(read, *args)


def by_part(items: Any, sizes: Sequence[int]) -> list[Any]:
    """Return what belongs to the examples of each part; ``sizes``: their numbers."""
    if items is None:
        return [None] * len(sizes)
    return [items[begin:end] for begin, end in pairwise(accumulate(sizes, initial=0))]


def joined(results: Iterable[list[Any] | None]) -> list[Any]:
    """Return the lists of all parts as one."""
    return [item for one in results if one is not None for item in one]


class _Facts(NamedTuple):
    """What is known of the corpus of a part."""

    format: str
    n_columns: int
    n_sentences: int
    n_tokens: int
    path: str | None
    separator: str
    cut_by: str
    table: dict[str, Any]
    remarks: list[str]

    @staticmethod
    def of(corpus: Corpus) -> _Facts:
        return _Facts(
            corpus.format,
            corpus.n_columns,
            len(corpus),
            corpus.n_tokens,
            corpus.path,
            corpus.separator,
            corpus.cut_by,
            corpus.table,
            corpus.remarks,
        )


class SplitCorpus:
    """Looks like a :class:`~structlearn.text.Corpus` to whoever asks for sizes and counts alone.

    Parameters
    ----------
    parts : Parts
        The corpus of each part.

    Attributes
    ----------
    sizes : list of int
        The number of sentences of each part.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        facts = [one or None for one in parts.each(_Facts.of)]
        self.sizes = [0 if one is None else one.n_sentences for one in facts]
        present = [one for one in facts if one is not None]
        first = present[0]
        for one in present:
            if (one.format, one.n_columns) != (first.format, first.n_columns):
                raise FileError(
                    one.path or "the corpus",
                    f"{one.format} with {one.n_columns} columns, where {first.path} is "
                    f"{first.format} with {first.n_columns}",
                )
        self.format, self.n_columns = first.format, first.n_columns
        self.separator, self.cut_by = first.separator, first.cut_by
        self.table, self.remarks = first.table, first.remarks
        self.path = first.path
        if any(one.path != first.path for one in present):
            self.path = f"{first.path} and others"
        self.n_tokens = sum(one.n_tokens for one in present)
        self._counts: dict[int, dict[str, int]] = {}
        self._in_folds = parts.whole  # it knows its own

    @staticmethod
    def of(corpus: Corpus | SplitCorpus) -> SplitCorpus:
        """Return a corpus in parts; of one machine it is one."""
        return corpus if isinstance(corpus, SplitCorpus) else SplitCorpus(alone(corpus))

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return column_names(self.format, self.n_columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The file's own names of the columns; empty: it has none."""
        return tuple(self.table.get("names", ()))

    def find_column(self, name: str | int) -> int:
        """Return the number, from 0, of a column given by name or by its number from 1."""
        try:
            return find_column(str(name), self.format, self.n_columns, self.names)
        except ValueError as error:
            raise FileError(self.path or "the corpus", str(error)) from None

    def counts(self, name: str | int) -> dict[str, int]:
        """Return how often each string of a column is there, in the order of first occurrence."""
        index = name if isinstance(name, int) else self.find_column(name)
        if index not in self._counts:
            self._counts[index] = self.parts.sum(_counts, index).counts
        return self._counts[index]

    def totals(self, column: int) -> dict[str, float]:
        """Return how much the tokens with each string of a column weigh."""
        found: dict[str, float] = self.parts.sum(_totals, column).counts
        return found

    def subset(self, sentences: Iterable[int]) -> Corpus:
        """Return a corpus of the sentences with these numbers."""
        wanted = sorted(sentences)
        begins = list(accumulate(self.sizes, initial=0))
        own = [
            [i - begin for i in wanted if begin <= i < begin + size]
            for begin, size in zip(begins, self.sizes, strict=False)
        ]
        return Corpus.from_sentences(joined(self.parts.each(_rows, own=own)), self.format)

    # -- other corpora of the same sentences ------------------------------------------------------

    def then(self, make: Callable[..., Corpus | None], *args: Any, own: Any = None) -> SplitCorpus:
        """Return what a function makes of the corpus of each part."""
        return SplitCorpus(self.parts.then(make, *args, own=own))

    def weighted(self, sample_weight: Any) -> SplitCorpus:
        """Return the sentences with weights ≥ 0; those of weight 0 are left out.

        Parameters
        ----------
        sample_weight : array of shape (n_sentences,) or None
        """
        weights = check_sample_weight(sample_weight, len(self))
        if weights is None:
            return self
        refuse_no_weight(weights)
        return self.then(_weighted, own=by_part(weights.tolist(), self.sizes))

    def in_iobes(self, column: int, unknown: str) -> SplitCorpus:
        """Return the corpus with a column of chunk labels in the scheme IOBES."""
        return self.then(Corpus.in_iobes, column, unknown)

    def with_sets(self, column: int, mark: str, unknown: str) -> SplitCorpus:
        """Return the corpus with sets of labels; see :meth:`~structlearn.text.Corpus.with_sets`."""
        return self.then(Corpus.with_sets, column, mark, unknown)

    def labels_of_sets(self) -> dict[str, int]:
        """Return how many sets each label is a member of."""
        found: dict[str, int] = self.parts.sum(_labels_of_sets).counts
        return found

    def joined(self, columns: Sequence[int], unknown: str) -> SplitCorpus:
        """Return the corpus with columns joined; see :meth:`~structlearn.text.Corpus.joined`."""
        return self.then(Corpus.joined, columns, unknown)

    def lexicon(
        self, column: int, functions: list[Any], target: int, unknown: str, types: bool
    ) -> _core.Lexicon:
        """Count the labels of words; see :meth:`~structlearn.text.Corpus.lexicon`."""
        if not self._in_folds:
            # Lexica leave out the fold that a sentence is in: folds are those of the whole corpus.
            prints = [one or b"" for one in self.parts.each(_fingerprints)]
            folds = by_part(_core.folds_of(b"".join(prints)), self.sizes)
            self.parts = self.parts.then(_put_folds, own=folds)
            self._in_folds = True
        counts: _core.LexiconCounts = self.parts.sum(
            _lexicon_counts, column, functions, target, unknown, types
        )
        return counts.lexicon()


class Counts:
    """Counts that stay in the order of first occurrence when they are added up."""

    def __init__(self, counts: dict[Any, Any]) -> None:
        self.counts = counts

    def __add__(self, other: Counts) -> Counts:
        for key, times in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + times
        return self


def _counts(corpus: Corpus, column: int) -> Counts:
    return Counts(corpus.counts(column))


def _labels_of_sets(corpus: Corpus) -> Counts:
    return Counts(dict(Counter(corpus.core.labels_of_sets)))


def _totals(corpus: Corpus, column: int) -> Counts:
    totals: Counter[str] = Counter()
    weights = corpus.weights or [1.0] * len(corpus)
    for cells, weight in zip(corpus.column(column), weights, strict=True):
        for cell in cells:
            totals[cell] += weight  # type: ignore[assignment]
    return Counts(totals)


def _rows(corpus: Corpus, wanted: list[int]) -> list[list[tuple[str, ...]]]:
    return [list(corpus[i]) for i in wanted]


def _weighted(corpus: Corpus, weights: list[float]) -> Corpus | None:
    return corpus.weighted(weights) if any(weights) else None


def _lexicon_counts(corpus: Corpus, *args: Any) -> _core.LexiconCounts:
    return _core.LexiconCounts(corpus.core, *args)


def _fingerprints(corpus: Corpus) -> bytes:
    return corpus.core.fingerprints()


def _put_folds(corpus: Corpus, folds: bytes) -> Corpus:
    corpus.core.set_folds(folds)
    return corpus
