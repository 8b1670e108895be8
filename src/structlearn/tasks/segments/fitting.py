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
from ...scoring.layout import observed_outcomes
from ...structures.chains.semimarkov import SemiMarkov
from ...text.corpus import Corpus
from ...text.segment_presets import SEGMENT_PRESETS, load_segment_templates
from ...text.segment_templates import SegmentTemplates
from ...text.templates import FeatureTemplates
from ..tagging.fitting import Fitting, sentence_weights
from ..tagging.inspection import strongest
from ..tagging.problem import LabelProblem, Weighted
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
    presets = SEGMENT_PRESETS
    other_learners: Mapping[str, Any] = {"n_models": 1}

    def __init__(self, tagger: Any, corpus: Corpus) -> None:
        self.corpus = corpus
        self.target = corpus.find_column("-1" if tagger.target is None else tagger.target)
        self.tagger = self.settle(tagger, tagger.features)
        self.templates = self._choose_templates(tagger.features)
        self.look_at_labels()
        self.templates.learn_lexica(corpus, self.target, "")
        self.features = self.templates.compile_segments(corpus.format, corpus.n_columns)

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

    def _choose_templates(self, features: Any) -> SegmentTemplates:
        tagger = self.tagger
        if isinstance(features, SegmentTemplates):
            templates = features.copy()
            templates.functions.update(tagger.functions or {})
        elif isinstance(features, FeatureTemplates):
            raise ValueError(
                "these templates are about tokens: they are for a Tagger; a SegmentTagger takes "
                "SegmentTemplates, with places such as begin(word)"
            )
        else:
            templates = load_segment_templates(features, tagger.functions)
            if features in SEGMENT_PRESETS and not self._has_pos():
                templates = templates.without_column("pos")
                self.leaves_out_tags = True
        chosen: SegmentTemplates = self.check_templates(templates)
        return chosen

    def _has_pos(self) -> bool:
        try:
            return self.corpus.find_column("pos") != self.target
        except FileError:
            return False

    def shown(self) -> list[str]:
        """Return the labels of the file."""
        return list(self.corpus.counts(self.target))

    # -- learning -------------------------------------------------------------------------------

    def problem(self) -> LabelProblem:
        """Return the problem to be solved."""
        tagger, corpus = self.tagger, self.corpus
        self.describe_data()
        if self.n_cut:
            self.say(f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut")
        vocabulary = _core.SegmentVocabulary()
        try:
            extractor = _core.SegmentExtractor(self.features, corpus.core, self.max_length, True)
            self._extractor = extractor
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        marks = self._marks(self.outputs)
        vocabulary.add(extractor, (marks >= 0).astype(np.uint8))
        vocabulary.keep(tagger.min_count)
        self.keys, self.n_features = vocabulary.keys(), vocabulary.size
        weighted = self._weighted(vocabulary.rows(extractor), marks)
        self._problem = self.label_problem(weighted, marks, sentence_weights(corpus))
        return self._problem

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

    def _weighted(self, rows: dict[str, Any], marks: Any) -> Weighted:
        """Return the features of all segments, ``max_length`` rows for each token."""
        n, width = len(self.labels), self.max_length
        block = FeatureRows(
            rows["site"], self.n_features, None, rows["begin"], rows["feature"], inner=(width,)
        )
        if self.tagger.all_possible_states:
            row_ptr = np.arange(self.n_features + 1, dtype=np.uint32) * np.uint32(n)
            return Weighted(
                block, row_ptr, np.tile(np.arange(n, dtype=np.uint32), len(row_ptr) - 1)
            )
        begin = np.flatnonzero(marks >= 0)
        lengths = np.diff(np.append(begin, len(marks)))
        seen = observed_outcomes(
            block, n, begin * width + lengths - 1, marks[begin].astype(np.int64)
        )
        return Weighted(block, *seen)

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
        arrays, _ = packed_table("segment", self.keys, *rows, n, self.tagger.prune)
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
        numbers = sorted({f for row in ranked for f, _ in row})
        keys = np.frombuffer(self.keys, dtype=np.uint64)[numbers]
        names = dict(zip(numbers, self.names_of(keys), strict=True))
        return {
            label: [[names[f], round(w, 6)] for f, w in row]
            for label, row in zip(self.labels, ranked, strict=True)
        }

    def names_of(self, keys: npt.NDArray[np.uint64]) -> list[str]:
        """Return the names of some features."""
        starts = (self._marks(self.outputs) >= 0).astype(np.uint8)
        return self._extractor.find_names(starts, keys)

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
