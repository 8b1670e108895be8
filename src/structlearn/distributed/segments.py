"""Taggers of segments over shards."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..estimators.outputs import class_weight_table
from ..exceptions import LineError
from ..metrics.segments import OUTSIDE, to_segments
from ..scoring.layout import joined_rows
from ..tasks.segments.fitting import SegmentFitting, check_chunk_labels
from ..tasks.tagging.fitting import sentence_weights
from ..tasks.tagging.problem import LabelProblem, Weighted
from ..text.corpus import Corpus
from .constituents import Keys
from .corpora import CountedLexicon, ShardedCorpus
from .problem import ShardedProblem

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
        held, tagger = self.corpus.held, self.tagger
        self.describe_data()
        if self.n_cut:
            self.say(f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut")
        templates = self.templates.copy()
        known = self.templates.lexica
        lexica = {name: self.corpus.counted(lexicon) for name, lexicon in known.items()}
        templates.lexica = {}
        reader = self._reader = _Reader(self, templates, lexica)
        counted: Keys = held.sum(_count, reader)
        reader.keys = self.keys = counted.frequent(tagger.min_count)
        self.n_features = reader.n_features = len(self.keys) // 8
        if not tagger.all_possible_states:
            parts = held.each(_seen, reader)
            reader.seen = joined_rows(parts, self.n_features, len(self.labels))
        problem = ShardedProblem(held.then(_make_problem, reader), self.corpus.tokens)
        held.release()
        # One token outside of any segment: knows which weights there are.
        cells = [OUTSIDE if c == self.target else "_" for c in range(self.corpus.n_columns)]
        self._problem = reader.problem(Corpus.from_sentences([[tuple(cells)]], self.corpus.format))
        return problem

    def names_of(self, keys: npt.NDArray[np.uint64]) -> list[str]:
        """Return the names of some features, each from a shard that has it."""
        parts = self.corpus.held.each(_find_names, self._reader, keys)
        return [next(filter(None, told), "") for told in zip(*parts, strict=True)]


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
        self.keys = b""
        self.n_features = 0
        self.seen: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def extractor(self, corpus: Corpus) -> Any:
        """Return what finds the features of segments."""
        if not hasattr(self, "_compiled"):
            templates = self.templates.copy()
            templates.lexica = {name: counts.lexicon() for name, counts in self.lexica.items()}
            self._compiled = templates.compile_segments(self.format, self.n_columns)
        try:
            return _core.SegmentExtractor(self._compiled, corpus.core, self.max_length, True)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None

    def rows(self, corpus: Corpus) -> dict[str, Any]:
        """Return the rows of all segments of a corpus."""
        vocabulary = _core.SegmentVocabulary()
        once = b"\1\0\0\0" * self.n_features
        vocabulary.add_counts(self.keys, once)
        return vocabulary.rows(self.extractor(corpus))

    def problem(self, corpus: Corpus) -> LabelProblem:  # type: ignore[override]
        """Return the problem of a shard."""
        self.outputs, _ = self.segments_of(corpus)
        marks = self._marks(self.outputs)
        weighted = self._weighted(self.rows(corpus), marks)
        if self.seen is not None:
            weighted = Weighted(weighted.rows, *self.seen)
        return self.label_problem(weighted, marks, sentence_weights(corpus))


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


def _count(corpus: Corpus, number: int, reader: _Reader) -> Keys:
    vocabulary = _core.SegmentVocabulary()
    marks = reader._marks(reader.segments_of(corpus)[0])
    vocabulary.add(reader.extractor(corpus), (marks >= 0).astype("uint8"))
    return Keys(*vocabulary.counts())


def _seen(corpus: Corpus, number: int, reader: _Reader) -> Any:
    marks = reader._marks(reader.segments_of(corpus)[0])
    weighted = reader._weighted(reader.rows(corpus), marks)
    return weighted.row_ptr, weighted.column, weighted.real


def _find_names(
    corpus: Corpus, number: int, reader: _Reader, keys: npt.NDArray[np.uint64]
) -> list[str]:
    marks = reader._marks(reader.segments_of(corpus)[0])
    names: list[str] = reader.extractor(corpus).find_names((marks >= 0).astype("uint8"), keys)
    return names


def _make_problem(corpus: Corpus, number: int, reader: _Reader) -> LabelProblem:
    return reader.problem(corpus)
