"""From a corpus with chunk labels and the parameters of a segment tagger to its model."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Vector
from ...exceptions import FileError
from ...features.rows import FeatureRows
from ...fitting.split_corpus import SplitCorpus
from ...io.weight_tables import packed_table
from ...metrics.boundaries import split_label
from ...metrics.schemes import are_chunk_labels, file_scheme
from ...metrics.segments import OUTSIDE, to_segments
from ...models.label_constraints import segment_sequences
from ...models.ranking import heaviest_by_label
from ...problem import Problem
from ...problem.gold import GoldOutputs
from ...scoring.layout import WeightLayout
from ...structures.chains.segments import OpenSegments
from ...structures.chains.semimarkov import SemiMarkov
from ...text.corpus import Corpus
from ...text.templates import FeatureTemplates
from ..tagging.fitting import AnyCorpus, Fitting, sentence_weights
from ..tagging.inventory import FeatureCounts, Inventory, count_features, name_features
from ..tagging.label_layout import label_layout, seen_labels
from ..tagging.lawful import segmentation_under
from ..tagging.problem import LabelProblem
from ..tagging.training_data import warn_of_partial_labels
from ..tagging.weights import put_scores, put_weights
from .model import SegmentModel
from .open_labels import (
    Choice,
    OpenSegment,
    choice,
    fitting_segments,
    is_open,
    needed_length,
    of_known_tokens,
)

#: Segments of each sentence; of one whose labels are known in part all that it may have.
Segments = list[Any]

#: Features of each label whose names a model has.
_NAMED = 20
#: The longest segment, where the training text has longer ones and nothing else is asked for.
_USUAL_LENGTH = 8
#: Marks of tokens: inside a segment; of a sentence whose labels are known in part.
_GOES_ON, _OPEN = -1, -2
#: What an inventory works out from the rest.
_MADE = ("layout", "structure")


class SegmentInventory(Inventory):
    """Features and labels of segments. Can be sent.

    Parameters
    ----------
    labels : list of str
        Of segments.
    max_length : int
        Tokens of the longest segment.
    templates, corpus, target
        As of :class:`Inventory`.
    constraints : list of str
        What outputs keep to.
    reading : LabelReading
        What the cells of the labels stand for.
    """

    _outputs: tuple[Segments, npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None

    def __init__(
        self,
        labels: list[str],
        max_length: int,
        templates: FeatureTemplates,
        corpus: SplitCorpus,
        target: int,
        constraints: Sequence[str] = (),
        *,
        reading: LabelReading,
    ) -> None:
        super().__init__(templates, corpus, target)
        self.labels, self.max_length, self.constraints = labels, max_length, constraints
        self.reading = reading

    def __getstate__(self) -> dict[str, Any]:
        return {name: v for name, v in super().__getstate__().items() if name not in _MADE}

    @cached_property
    def structure(self) -> SemiMarkov:
        """Segmentations, under constraints where there are any."""
        return segmentation_under(self.max_length, self.constraints, self.labels)

    @cached_property
    def layout(self) -> WeightLayout:
        """Where each weight is."""
        forbid = {"segment": [(length, OUTSIDE) for length in range(2, self.max_length + 1)]}
        seen = {"segment": seen_labels(self.vocabulary)}
        return label_layout(self.structure, self.labels, seen, forbid)

    def new_vocabulary(self) -> _core.Vocabulary:
        """Return a vocabulary with the labels as numbers, which stay in their order."""
        vocabulary = super().new_vocabulary()
        for k in range(len(self.labels)):
            vocabulary.add_label(f"{k:06}")
        return vocabulary

    def take_in(
        self, vocabulary: _core.Vocabulary, extractor: _core.Extractor, corpus: Corpus, rows: Any
    ) -> None:
        """Count the features of the segments of a corpus."""
        found = self.outputs(corpus)
        vocabulary.add_segments(extractor, corpus.core, self.max_length, *found[1:])
        self._outputs = None if rows is None else found

    def outputs(
        self, corpus: Corpus
    ) -> tuple[Segments, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the segments of each sentence, none of them too long, and marks of tokens.

        Those have the number of the label of a segment that begins there, else −1; −2 in sentences
        whose labels are known in part. Of these come last the segments that features are learned
        from: first token in the corpus, the one behind the last, label.
        """
        if self._outputs is not None:
            return self._outputs
        number = {label: i for i, label in enumerate(self.labels)}
        outputs, marks, open_ = Segments(), array("i"), array("i")
        for s, row in enumerate(self.reading.rows(corpus, self.target)):
            if row.choices is not None:
                fitting = self._fitting(row.choices, corpus, s)
                outputs.append(OpenSegments(self._numbered(fitting)))
                for start, end, kinds in of_known_tokens(fitting, row.choices):
                    for k in sorted(number[kind] for kind in kinds or ()):
                        open_.extend((len(marks) + start, len(marks) + end, k))
                marks.extend([_OPEN] * len(row.choices))
                continue
            segments = []
            for start, end, kind in to_segments(row.labels, self.max_length)[0]:
                segments.append((start, end, number[kind]))
                marks.append(number[kind])
                marks.extend([_GOES_ON] * (end - start - 1))
            outputs.append(segments)
        return outputs, np.array(marks, dtype=np.int32), np.array(open_, dtype=np.int32)

    def _fitting(self, choices: list[Choice], corpus: Corpus, s: int) -> list[OpenSegment]:
        """Return the segments that a sentence may have; refuse one that they do not cover."""
        found = fitting_segments(choices, self.max_length, self.reading.ends_marked)
        if needed_length(found, len(choices)) is None:
            raise FileError(
                corpus.path or "the corpus",
                f"no segments of at most {self.max_length} tokens fit the labels of this sentence, "
                "some of which are open: correct them, or raise max_length",
                corpus.core.line_number(s, 0) or None,
            )
        return found

    def _numbered(self, segments: list[OpenSegment]) -> list[tuple[int, int, Any]]:
        """Return segments with the numbers of the labels that each of them may have."""
        number = {label: i for i, label in enumerate(self.labels)}
        chunks = frozenset(number.values()) - {number[OUTSIDE]}
        return [
            (start, end, (None if end == start + 1 else chunks) if kinds is None
             else frozenset(number[kind] for kind in kinds))
            for start, end, kinds in segments
        ]  # fmt: skip

    def problem(self, corpus: Corpus, class_weight: Any) -> LabelProblem:
        """Return the problem of a part: ``max_length`` rows of features for each token."""
        extractor, width = self.extractor(corpus), self.max_length
        arrays = self.vocabulary.segment_rows(extractor, corpus.core, width).arrays()
        place = arrays["sentence"], self.vocabulary.size, None, arrays["begin"], arrays["feature"]
        rows = {"segment": FeatureRows(*place, inner=(width,))}
        outputs, marks, _ = self.outputs(corpus)
        begins = np.maximum.accumulate(np.where(marks != _GOES_ON, np.arange(len(marks)), 0))
        labels = np.maximum(marks[begins], -1).astype(np.int64)  # −1: open
        ends = np.cumsum([0, *corpus.core.lengths()])
        gold, weight = GoldOutputs(outputs, labels, ends), sentence_weights(corpus)
        return LabelProblem(
            self.structure, self.labels, self.layout, rows, gold, class_weight, weight
        )


class SegmentFitting(Fitting):
    """One training run of a segment tagger.

    Parameters
    ----------
    tagger : SegmentTagger
        Read only: its parameters.
    corpus : SplitCorpus
        Labelled sentences, with their weights.
    start : SegmentModel, optional
        The model to continue from.
    """

    of_segments = True
    other_learners: Mapping[str, Any] = {"n_models": 1}

    def __init__(
        self, tagger: Any, corpus: Corpus | SplitCorpus, start: SegmentModel | None = None
    ) -> None:
        self.corpus = corpus = SplitCorpus.of(corpus)
        self.start = start
        usual = "-1" if start is None else start.target + 1
        self.target = corpus.find_column(usual if tagger.target is None else tagger.target)
        self.tagger = self.settle(tagger, tagger.features)
        self.templates = self.check_templates(self._choose_templates(tagger.features))
        unknown, sets = self.tagger.unknown, self.tagger.sets
        strings = check_chunk_labels(corpus, self.target, unknown, sets)
        self.reading = LabelReading(unknown, sets, file_scheme(strings) != "bio")
        warn_of_partial_labels(corpus, self.target, unknown, sets)
        if start is None:
            whole = corpus.with_sets(self.target, sets, unknown) if sets else corpus
            self.templates.learn_lexica(whole, self.target, unknown)
        self.chunks: _Chunks = corpus.parts.sum(_Chunks, self.target, self.reading)
        self.max_length = tagger.max_length or min(self.chunks.longest, _USUAL_LENGTH)
        earlier = () if start is None else start.constraints
        if start is not None:
            self.max_length = max(self.max_length, start.max_length)
        times = self.chunks.times.items()
        self.n_cut = sum(n for (_, length), n in times if length > self.max_length)
        labels = self._all_labels()
        if self.chunks.n_open and (earlier or self.tagger.constraints):
            raise FileError(
                corpus.path or "the corpus",
                "constraints on segments are learned from whole labellings, and some labels here "
                "are sets or unknown: leave out one of the two, or train a tagger of tokens",
            )
        reads = partial(_segment_numbers, self.target, self.max_length, labels, self.reading)
        self.corpus = corpus = self.lawful(corpus, segment_sequences, labels, reads, earlier)
        if self.n_illegal:
            self.chunks = corpus.parts.sum(_Chunks, self.target, self.reading)
        self.labels = self._all_labels()
        self.inventory = SegmentInventory(
            self.labels, self.max_length, self.templates, corpus, self.target, self.constraints,
            reading=self.reading,
        )  # fmt: skip
        self.inventory.trains = start is None  # an earlier model's lexica have other sentences

    def _all_labels(self) -> list[str]:
        """Return the labels of the corpus and of the earlier model."""
        known = set(self.chunks.weights).union(() if self.start is None else self.start.labels)
        return [OUTSIDE, *sorted(known - {OUTSIDE})]

    def _choose_templates(self, features: Any) -> FeatureTemplates:
        """Return the templates of the earlier model, or those that the parameters name."""
        if self.start is None:
            return self.read_templates(features)
        templates: FeatureTemplates = self.start.templates
        if features != "segments" and self.read_templates(features).to_json() != (
            templates.to_json()
        ):
            raise ValueError("start: the features are those of the earlier model, not others")
        return templates

    def shown(self) -> list[str]:
        """Return the labels of the file."""
        return self.reading.strings(self.corpus.counts(self.target))

    @property
    def unknown(self) -> str:
        """The label of files that means unknown."""
        return self.reading.unknown

    def with_labels(self, corpus: AnyCorpus) -> AnyCorpus:
        """Return a corpus in which sets of labels are not known."""
        sets = self.reading.sets
        return corpus.with_sets(self.target, sets, self.unknown) if sets else corpus

    def label_totals(self) -> Mapping[str, float]:
        """Return how much the tokens of each kind of segments weigh."""
        return {label: self.chunks.weights.get(label, 0.0) for label in self.labels}

    # -- learning -------------------------------------------------------------------------------

    def problem(self) -> Problem:
        """Return the problem to be solved."""
        parts, inventory, tagger = self.corpus.parts, self.inventory, self.tagger
        self.describe_data()
        if self.start is not None:
            self.say_new_labels(self.start.labels)
        if self.n_cut:
            self.say(f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut")
        counts = parts.sum(count_features, inventory, parts.whole)
        if self.start is not None:  # what the earlier model had comes first
            keys, row_ptr, column, _ = self.start.core.unpack()
            before = FeatureCounts(inventory.new_vocabulary(), inventory.width)
            numbers = self._own_numbers()[np.frombuffer(column, np.uint32)].astype(np.uint32)
            before.vocabulary.add_features(keys, row_ptr, numbers)
            counts = before + counts
        inventory.freeze(counts, tagger.min_count, int(tagger.all_possible_states))
        self.n_features = inventory.vocabulary.size
        given = inventory, self.class_weight()
        return parts.problem(_problem, *given, n_tokens=self.corpus.n_tokens)

    def _own_numbers(self) -> npt.NDArray[np.int64]:
        """Return the number here of each label of the earlier model."""
        assert self.start is not None
        number = {label: k for k, label in enumerate(self.labels)}
        return np.array([number[label] for label in self.start.labels], dtype=np.int64)

    def starting_weights(self, problem: Any) -> Vector | None:
        """Return the weights of the earlier model, 0 for what is new; None without one."""
        if self.start is None:
            return None
        layout, ours = self.inventory.layout, self._own_numbers()
        w = np.zeros(layout.n_weights)
        _, row_ptr, column, values = (
            np.frombuffer(x, kind)
            for x, kind in zip(
                self.start.core.unpack(), (np.uint64, np.uint32, np.uint32, float), strict=True
            )
        )
        rows = np.repeat(np.arange(len(row_ptr) - 1, dtype=np.int64), np.diff(row_ptr))
        put_weights(layout.blocks["segment"], w, rows, ours[column], values)
        for name, block in layout.present().items():
            if name != "segment":
                put_scores(block, w, self.start.arrays[name], ours, len(self.labels))
        return w

    def run(self, dev: Corpus | None) -> tuple[Any, Any]:
        """Learn; return the model and the record of the training."""
        if dev is not None:
            check_chunk_labels(dev, self.target, self.unknown, self.reading.sets, some=False)
        return super().run(dev)

    def model(self, w: Vector, *, names: bool = False) -> SegmentModel:
        """Return a model with these weights."""
        inventory, n = self.inventory, len(self.labels)
        rows = inventory.layout.rows("segment", w)
        arrays, _ = packed_table("segment", inventory.keys, *rows, n, self.tagger.prune)
        for name in ("start", "end", "transition"):
            arrays[name] = inventory.layout.table(name, w)
        model = SegmentModel(
            **self.common(), templates=self.templates, arrays=arrays, max_length=self.max_length
        )
        if names:
            model.training["strongest"] = self._strongest(rows)
        return model

    def _strongest(self, rows: tuple[Any, Any, Vector]) -> dict[str, list[list[Any]]]:
        """Return [name, weight] of the heaviest features of each label.

        Names are not kept while learning: these few are found again in the training text.
        """
        ranked, parts = heaviest_by_label(*rows, len(self.labels), _NAMED), self.corpus.parts
        numbers = np.array(sorted({f for row in ranked for f, _ in row}), np.uint32)
        found = parts.sum(name_features, self.inventory, {"segment": numbers})["segment"].by_key()
        keys = np.frombuffer(self.inventory.keys, np.uint64)[numbers].tolist()
        # Those that only an earlier model has seen have no names here.
        pairs = zip(numbers.tolist(), keys, strict=True)
        names = {f: found[key] for f, key in pairs if key in found}
        return {
            label: [[names[f].decode(), round(w, 6)] for f, w in row if f in names]
            for label, row in zip(self.labels, ranked, strict=True)
        }

    def more(self) -> dict[str, Any]:
        """Return how many chunks were cut, and how open labels are written."""
        found = {"cut": self.n_cut, "unknown": self.unknown}
        return {**found, "sets": self.reading.sets} if self.reading.sets else found


def check_chunk_labels(
    corpus: Corpus | SplitCorpus, target: int, unknown: str, sets: str, some: bool = True
) -> list[str]:
    """Return the labels of a column; refuse one that does not have those of chunks."""
    strings = LabelReading(unknown, sets).strings(corpus.counts(target))
    chunked = are_chunk_labels(strings) or (not some and all(k == OUTSIDE for k in strings))
    wrong = next((k for k in strings if k != OUTSIDE and not are_chunk_labels([k])), None)
    if wrong == "?" and are_chunk_labels([k for k in strings if k != "?"]):
        raise FileError(
            corpus.path or "the corpus",
            f"column {target + 1} has '?', which may stand for a label that nobody knows: with "
            "unknown='?' (--unknown '?') such tokens are left open",
        )
    if not chunked:
        found = "all of them are 'O'" if wrong is None else f"{wrong!r} is not one"
        raise FileError(
            corpus.path or "the corpus",
            f"column {target + 1} must have labels of chunks (O, B-PER, I-PER, ...): {found}",
        )
    if any(k[2:] == OUTSIDE for k in strings):
        raise FileError(corpus.path or "the corpus", "a chunk's type cannot be 'O'")
    return strings


class LabelRow(NamedTuple):
    """The labels of a sentence; those that each token may have, where some are open."""

    labels: list[str]
    choices: list[Choice] | None


class LabelReading(NamedTuple):
    """What the cells of a column of labels stand for.

    Attributes
    ----------
    unknown, sets : str
        The label that means unknown, and what separates the labels of a set.
    ends_marked : bool
        The scheme is IOBES or BILOU.
    """

    unknown: str
    sets: str
    ends_marked: bool = False

    def strings(self, cells: Iterable[str]) -> list[str]:
        """Return the labels that these cells stand for, each once."""
        found = (choice(cell, self.sets, self.unknown) or () for cell in cells)
        return list(dict.fromkeys(label for labels in found for label in sorted(labels)))

    def rows(self, corpus: Corpus, target: int) -> Iterator[LabelRow]:
        """Yield the labels of each sentence."""
        for labels in corpus.column(target):
            choices = [choice(cell, self.sets, self.unknown) for cell in labels]
            yield LabelRow(labels, choices if is_open(choices) else None)


class _Chunks:
    """The chunks of a part: how many there are of each kind and length, and what they weigh.

    Of sentences whose labels are known in part the kinds alone are counted, and the sentences.
    """

    def __init__(self, corpus: Corpus, target: int, reading: LabelReading) -> None:
        self.times: Counter[tuple[str, int]] = Counter()
        self.weights: Counter[str] = Counter()
        self.n_open, self.longest = 0, 1
        rows = list(reading.rows(corpus, target))
        for row, weight in zip(rows, corpus.weights or [1.0] * len(rows), strict=True):
            if row.choices is not None:
                self.n_open += 1
                for label in reading.strings(row.labels):
                    kind = split_label(label)[1] or OUTSIDE
                    self.times[kind, 1] += 1
                    self.weights[kind] += 0
                fitting = fitting_segments(row.choices, _USUAL_LENGTH, reading.ends_marked)
                known = of_known_tokens(fitting, row.choices)
                needed = needed_length(fitting, len(row.choices)) or 1
                self.longest = max([self.longest, needed, *(b - a for a, b, _ in known)])
                continue
            for start, end, kind in to_segments(row.labels)[0]:
                self.times[kind, end - start] += 1
                self.weights[kind] += weight * (end - start)  # type: ignore[assignment]
                self.longest = max(self.longest, end - start)

    def __add__(self, other: _Chunks) -> _Chunks:
        self.times.update(other.times)
        self.weights.update(other.weights)
        self.n_open += other.n_open
        self.longest = max(self.longest, other.longest)
        return self


def _segment_numbers(
    target: int, max_length: int, labels: list[str], reading: LabelReading, corpus: Corpus
) -> list[tuple[list[int], list[int]]]:
    """Return the numbers of the labels of each sentence's segments, and where these begin."""
    number = {label: k for k, label in enumerate(labels)}
    given = reading.rows(corpus, target)
    rows = (to_segments(row.labels, max_length)[0] for row in given if row.choices is None)
    return [([number[kind] for _, _, kind in row], [begin for begin, _, _ in row]) for row in rows]


def _problem(corpus: Corpus, inventory: SegmentInventory, class_weight: Any) -> LabelProblem:
    return inventory.problem(corpus, class_weight)
