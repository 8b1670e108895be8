"""Taggers of segments over shards."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..estimators.outputs import class_weight_table
from ..metrics.segments import OUTSIDE, to_segments
from ..tasks.segments.fitting import SegmentFitting, check_chunk_labels
from ..tasks.tagging.fitting import sentence_weights
from ..tasks.tagging.model import split_names
from ..tasks.tagging.problem import LabelProblem
from ..text.corpus import Corpus
from .corpora import CountedLexicon, ShardedCorpus
from .problem import ShardedProblem
from .tagging import FeatureCounts

__all__ = ["ShardedSegmentFitting"]


class ShardedSegmentFitting(SegmentFitting):
    """One training run over shards.

    Parameters
    ----------
    tagger : SegmentTagger
        Read only: its parameters.
    corpus : ShardedCorpus
    """

    corpus: Any

    def __init__(self, tagger: Any, corpus: ShardedCorpus) -> None:
        super().__init__(tagger, corpus)  # type: ignore[arg-type]

    def look_at_labels(self) -> None:
        """Find out the labels and the longest segment of all shards."""
        check_chunk_labels(self.corpus, self.target)
        facts: list[_Labels] = self.corpus.held.each(
            _look, self.target, self.tagger.max_length, self.usual_length
        )
        longest = max(one.longest for one in facts)
        self.max_length = self.tagger.max_length or min(longest, self.usual_length)
        cut: list[_Labels] = self.corpus.held.each(
            _look, self.target, self.max_length, self.usual_length
        )
        self.n_cut = sum(one.n_cut for one in cut)
        times = sum((one.times for one in cut), Counter[str]())
        self.labels = [OUTSIDE, *sorted(set(times) - {OUTSIDE})]
        if isinstance(self.tagger.class_weight, str):  # counted in all shards
            counts = np.array([times[label] for label in self.labels])
            table = class_weight_table(self.tagger.class_weight, np.array(self.labels), counts)
            assert table is not None
            self.tagger.class_weight = dict(zip(self.labels, table.tolist(), strict=True))

    def problem(self) -> Any:
        """Return the sum of the shards' problems."""
        held = self.corpus.held
        self.describe_data()
        if self.n_cut:
            self.say(f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut")
        templates = self.templates.copy()
        known = self.templates.lexica
        lexica = {name: self.corpus.counted(lexicon) for name, lexicon in known.items()}
        templates.lexica = {}
        reader = self._reader = _Reader(self, templates, lexica)
        counts: FeatureCounts = held.sum(_count, reader)
        vocabulary = self.new_vocabulary()
        vocabulary.add_counts(*counts.parts)
        self.freeze(vocabulary)
        vectors = vocabulary.keys(), vocabulary.row_ptr(), vocabulary.column()
        reader.vocabulary_parts = *vectors, list(vocabulary.labels), b""
        problem = ShardedProblem(held.then(_make_problem, reader), self.corpus.tokens)
        held.release()
        # One token outside of any segment: knows which weights there are.
        cells = [OUTSIDE if c == self.target else "_" for c in range(self.corpus.n_columns)]
        self._problem = reader.problem(Corpus.from_sentences([[tuple(cells)]], self.corpus.format))
        return problem

    def names_of(self, numbers: npt.NDArray[np.uint32]) -> list[bytes]:
        """Return the names of some features in the order of their keys, each from a shard."""
        keys = np.frombuffer(self.vocabulary.keys(), np.uint64)[numbers]
        names: dict[int, bytes] = {}
        for part in self.corpus.held.each(_names, self._reader, keys):
            names = {**part, **names}
        return [names[key] for key in sorted(keys.tolist())]


class _Labels(NamedTuple):
    """What the labels of a shard are like."""

    longest: int
    n_cut: int
    times: Counter[str]  # how much the tokens of each kind weigh


class _Reader(SegmentFitting):
    """What a shard needs to know to be read, as it is sent; what is made of it is made once."""

    def __init__(self, fitting: Any, templates: Any, lexica: dict[str, CountedLexicon]) -> None:
        from .crew import sent

        self.tagger = sent(fitting.tagger)
        self.templates, self.lexica = templates, lexica
        self.format, self.n_columns = fitting.corpus.format, fitting.corpus.n_columns
        self.target, self.labels = fitting.target, fitting.labels
        self.max_length = fitting.max_length
        self.vocabulary_parts: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    @property
    def features(self) -> Any:  # type: ignore[override]
        """The templates, compiled."""
        if not hasattr(self, "_features"):
            templates = self.templates.copy()
            templates.lexica = {name: counts.lexicon() for name, counts in self.lexica.items()}
            self._features = templates.compile(self.format, self.n_columns)
        return self._features

    @property
    def vocabulary(self) -> _core.Vocabulary:  # type: ignore[override]
        """The vocabulary of all shards."""
        if not hasattr(self, "_vocabulary"):
            keys, row_ptr, column, labels, pairs = self.vocabulary_parts
            vocabulary = _core.Vocabulary(self.features, self.target, 0, "")
            once = np.ones(len(keys) // 8, np.uint32)
            vocabulary.add_counts(keys, once, row_ptr, column, labels, pairs, pairs)
            vocabulary.freeze(0, 0, None)
            self._vocabulary = vocabulary
        return self._vocabulary

    def counted(self, corpus: Corpus) -> tuple[_core.Vocabulary, _core.Extractor]:
        """Return the features of the segments of a shard, and what finds them."""
        vocabulary, extractor = self.new_vocabulary(), self.new_extractor(corpus)
        marks = self._marks(self.segments_of(corpus)[0])
        vocabulary.add_segments(extractor, corpus.core, self.max_length, marks)
        return vocabulary, extractor

    def problem(self, corpus: Corpus) -> LabelProblem:  # type: ignore[override]
        """Return the problem of a shard."""
        self.outputs, _ = self.segments_of(corpus)
        weighted = self._weighted(corpus, self.new_extractor(corpus))
        return self.label_problem(weighted, self._marks(self.outputs), sentence_weights(corpus))


def _look(corpus: Corpus, number: int, target: int, max_length: int | None, usual: int) -> _Labels:
    whole = [to_segments(labels)[0] for labels in corpus.column(target)]
    longest = max(end - start for row in whole for start, end, _ in row)
    kept = max_length or usual
    found = [to_segments(labels, kept) for labels in corpus.column(target)]
    times = Counter[str]()
    for (row, _), weight in zip(found, corpus.weights or [1.0] * len(found), strict=True):
        for start, end, kind in row:
            times[kind] += weight * (end - start)  # type: ignore[assignment]
    return _Labels(longest, sum(cut for _, cut in found), times)


def _count(corpus: Corpus, number: int, reader: _Reader) -> FeatureCounts:
    vocabulary, _ = reader.counted(corpus)
    return FeatureCounts(vocabulary.counts(), 0, [vocabulary.size])


def _names(
    corpus: Corpus, number: int, reader: _Reader, wanted: npt.NDArray[np.uint64]
) -> dict[int, bytes]:
    vocabulary, extractor = reader.counted(corpus)
    keys = np.frombuffer(vocabulary.keys(), np.uint64)
    numbers = np.flatnonzero(np.isin(keys, wanted)).astype(np.uint32)
    names = vocabulary.names(extractor, False, numbers, 0, len(corpus))
    return dict(zip(np.sort(keys[numbers]).tolist(), split_names(*names), strict=True))


def _make_problem(corpus: Corpus, number: int, reader: _Reader) -> LabelProblem:
    return reader.problem(corpus)
