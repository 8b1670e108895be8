"""From a corpus with chunk labels and the parameters of a segment tagger to its model."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import FileError, LineError
from ...features.rows import FeatureRows
from ...io.weight_tables import packed_table
from ...metrics.schemes import are_chunk_labels
from ...metrics.segments import OUTSIDE, to_segments
from ...problem.gold import GoldOutputs
from ...structures.chains.semimarkov import SemiMarkov
from ...text.corpus import Corpus
from ..tagging.fitting import Fitting, sentence_weights
from ..tagging.inspection import strongest
from ..tagging.model import split_names
from ..tagging.problem import LabelProblem, Weighted, seen_labels
from .model import SegmentModel

__all__ = ["SegmentFitting"]

Vector = npt.NDArray[np.float64]

#: Features of each label whose names a model has.
_NAMED = 20


class SegmentFitting(Fitting):
    """One training run of a segment tagger.

    Parameters
    ----------
    tagger : SegmentTagger
        Read only: its parameters.
    corpus : Corpus
        Labelled sentences, with their weights.
    """

    #: The longest segment, where the training text has longer ones and nothing else is asked for.
    usual_length = 8
    of_segments = True
    other_learners: Mapping[str, Any] = {"n_models": 1}

    def __init__(self, tagger: Any, corpus: Corpus) -> None:
        self.corpus = corpus
        self.target = corpus.find_column("-1" if tagger.target is None else tagger.target)
        self.tagger = self.settle(tagger, tagger.features)
        self.templates = self.check_templates(self.read_templates(tagger.features))
        self.look_at_labels()
        self.templates.learn_lexica(corpus, self.target, "")
        self.features = self.templates.compile(corpus.format, corpus.n_columns)

    def look_at_labels(self) -> None:
        """Find out the labels, the longest segment and the outputs."""
        corpus = self.corpus
        check_chunk_labels(corpus, self.target)
        whole = [to_segments(labels)[0] for labels in corpus.column(self.target)]
        longest = max(end - start for row in whole for start, end, _ in row)
        self.max_length = self.tagger.max_length or min(longest, self.usual_length)
        self.outputs, self.n_cut = self.segments_of(corpus)
        kinds = {kind for row in self.outputs for _, _, kind in row} - {OUTSIDE}
        self.labels = [OUTSIDE, *sorted(kinds)]

    def segments_of(self, corpus: Corpus) -> tuple[list[list[tuple[int, int, str]]], int]:
        """Return the segments of each sentence, none of them too long, and how many were cut."""
        outputs, n_cut = [], 0
        for labels in corpus.column(self.target):
            segments, cut = to_segments(labels, self.max_length)
            outputs.append(segments)
            n_cut += cut
        return outputs, n_cut

    def shown(self) -> list[str]:
        """Return the labels of the file."""
        return list(self.corpus.counts(self.target))

    # -- learning -------------------------------------------------------------------------------

    def problem(self) -> LabelProblem:
        """Return the problem to be solved."""
        corpus = self.corpus
        self.describe_data()
        if self.n_cut:
            self.say(f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut")
        marks = self._marks(self.outputs)
        self.extractor = self.new_extractor(corpus)
        vocabulary = self.new_vocabulary()
        vocabulary.add_segments(self.extractor, corpus.core, self.max_length, marks)
        self.freeze(vocabulary)
        weighted = self._weighted(corpus, self.extractor)
        self._problem = self.label_problem(weighted, marks, sentence_weights(corpus))
        return self._problem

    def new_extractor(self, corpus: Corpus) -> _core.Extractor:
        """Return what finds the features of a training corpus."""
        try:
            return _core.Extractor(self.features, corpus.core, True)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None

    def new_vocabulary(self) -> _core.Vocabulary:
        """Return a vocabulary with the labels as numbers, which stay in their order."""
        vocabulary = _core.Vocabulary(self.features, self.target, 0, "")
        for k in range(len(self.labels)):
            vocabulary.add_label(f"{k:06}")
        return vocabulary

    def freeze(self, vocabulary: _core.Vocabulary) -> None:
        """End the counting: the features are known."""
        vocabulary.freeze(self.tagger.min_count, int(self.tagger.all_possible_states), None)
        self.vocabulary, self.n_features = vocabulary, vocabulary.size

    def label_problem(
        self, weighted: Weighted, marks: npt.NDArray[np.int32], sample_weight: Vector | None
    ) -> LabelProblem:
        """Return the problem of segments with these features."""
        return LabelProblem(
            SemiMarkov(self.max_length),
            self.labels,
            {"segment": weighted},
            self._gold(marks),
            {"segment": [(length, OUTSIDE) for length in range(2, self.max_length + 1)]},
            self.tagger.class_weight,
            sample_weight,
        )

    def _marks(self, outputs: Any) -> npt.NDArray[np.int32]:
        """Return for each token the number of the label of a segment that begins there, else −1.

        Kinds that the model does not know have the number after the last.
        """
        number = {label: i for i, label in enumerate(self.labels)}
        marks = array("i")
        for row in outputs:
            for start, end, kind in row:
                marks.append(number.get(kind, len(number)))
                marks.extend([-1] * (end - start - 1))
        return np.array(marks, dtype=np.int32)

    def _weighted(self, corpus: Corpus, extractor: _core.Extractor) -> Weighted:
        """Return the features of all segments, ``max_length`` rows for each token."""
        vocabulary, width = self.vocabulary, self.max_length
        rows = vocabulary.segment_rows(extractor, corpus.core, width).arrays()
        block = FeatureRows(
            rows["sentence"], vocabulary.size, None, rows["begin"], rows["feature"], inner=(width,)
        )
        return Weighted(block, *seen_labels(vocabulary))

    def _gold(self, marks: Any) -> GoldOutputs:
        number = {label: i for i, label in enumerate(self.labels)}
        outputs = [[(a, b, number[kind]) for a, b, kind in row] for row in self.outputs]
        begin = np.flatnonzero(marks >= 0)
        labels = np.repeat(marks[begin].astype(np.int64), np.diff(np.append(begin, len(marks))))
        ends = np.cumsum([row[-1][1] for row in outputs])
        return GoldOutputs(outputs, labels, np.concatenate(([0], ends)).astype(np.int64))

    def run(self, dev: Corpus | None) -> tuple[Any, Any]:
        """Learn; return the model and the record of the training."""
        if dev is not None:
            check_chunk_labels(dev, self.target, some=False)
        return super().run(dev)

    def model(self, w: Vector, *, names: bool = False) -> SegmentModel:
        """Return a model with these weights."""
        problem = self._problem
        rows, n = problem.rows("segment", w), len(self.labels)
        arrays, _ = packed_table("segment", self.vocabulary.keys(), *rows, n, self.tagger.prune)
        arrays.update((name, problem.table(name, w)) for name in ("start", "end", "transition"))
        model = SegmentModel(
            **self.common(), templates=self.templates, arrays=arrays, max_length=self.max_length
        )
        if names:
            model.training["strongest"] = self._strongest(rows)
        return model

    def _strongest(self, rows: tuple[Any, Any, Vector]) -> dict[str, list[list[Any]]]:
        """Return [name, weight] of the features that speak most for and against each label.

        Names are not kept while learning: these few are found again in the training text.
        """
        ranked = strongest(*rows, len(self.labels), _NAMED)
        numbers = np.array(sorted({f for row in ranked for f, _ in row}), np.uint32)
        keys = np.frombuffer(self.vocabulary.keys(), np.uint64)[numbers]
        names = dict(zip(numbers[np.argsort(keys)].tolist(), self.names_of(numbers), strict=True))
        return {
            label: [[names[f].decode(), round(w, 6)] for f, w in row]
            for label, row in zip(self.labels, ranked, strict=True)
        }

    def names_of(self, numbers: npt.NDArray[np.uint32]) -> list[bytes]:
        """Return the names of some features, in the order of their keys."""
        names = self.vocabulary.names(self.extractor, False, numbers, 0, len(self.corpus))
        return split_names(*names)

    def more(self) -> dict[str, Any]:
        """Return how many chunks were cut."""
        return {"cut": self.n_cut}


def check_chunk_labels(corpus: Corpus, target: int, some: bool = True) -> None:
    """Refuse a column that does not have the labels of chunks."""
    strings = list(corpus.counts(target))
    chunked = are_chunk_labels(strings) or (not some and all(k == OUTSIDE for k in strings))
    wrong = next((k for k in strings if k != OUTSIDE and not are_chunk_labels([k])), None)
    if not chunked:
        found = "all of them are 'O'" if wrong is None else f"{wrong!r} is not one"
        raise FileError(
            corpus.path or "the corpus",
            f"column {target + 1} must have labels of chunks (O, B-PER, I-PER, ...): {found}",
        )
    if any(k[2:] == OUTSIDE for k in strings):
        raise FileError(corpus.path or "the corpus", "a chunk's type cannot be 'O'")
