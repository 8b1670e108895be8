"""From a corpus with chunk labels and the parameters of a segment tagger to its model."""

from __future__ import annotations

import copy
import sys
import warnings
from array import array
from typing import Any

from ... import _core
from ...exceptions import ConvergenceWarning, FileError, LineError
from ...metrics import chunk_f1
from ...text.corpus import Corpus
from ...text.segment_presets import SEGMENT_PRESETS, load_segment_templates
from ...text.segment_templates import SegmentTemplates
from ...text.templates import FeatureTemplates
from ..tagging.calibration import best_temperature
from ..tagging.chunk_labels import are_chunk_labels
from ..tagging.learned import LearnedWeights
from ..tagging.training import Monitor
from .labels import OUTSIDE, to_segments
from .model import SegmentModel
from .training import train_segments

__all__ = ["SegmentFitting"]

_PASSES = {
    "perceptron": 10,
    "svm": 30,
    "crf": 100,
    "passive-aggressive": 10,
    "arow": 10,
    "adagrad": 20,
}
#: The longest segment, where the training text has longer ones and nothing else is asked for.
_USUAL_LENGTH = 8


class SegmentFitting:
    """One training run of a segment tagger.

    Parameters
    ----------
    tagger : SegmentTagger
        Read only: its parameters.
    corpus : Corpus
        Labelled sentences.
    """

    def __init__(self, tagger: Any, corpus: Corpus) -> None:
        self.corpus = corpus
        self.target = corpus.find_column("-1" if tagger.target is None else tagger.target)
        self.tagger = _settled(tagger)
        self.templates = self._choose_templates(tagger.features)
        _check_labels(corpus, self.target)
        whole = [to_segments(labels)[0] for labels in corpus.column(self.target)]
        longest = max(end - start for row in whole for start, end, _ in row)
        self.max_length = tagger.max_length or min(longest, _USUAL_LENGTH)
        self.outputs, self.n_cut = self.segments_of(corpus)
        kinds = {kind for row in self.outputs for _, _, kind in row} - {OUTSIDE}
        self.labels = [OUTSIDE, *sorted(kinds)]
        self.templates.learn_lexica(corpus, self.target, "")
        self.features = self.templates.compile_segments(corpus.format, corpus.n_columns)
        self.passes = tagger.max_iter or _PASSES[tagger.learner]

    def segments_of(self, corpus: Corpus) -> tuple[list[list[tuple[int, int, str]]], int]:
        """Return the segments of each sentence, none of them too long, and how many were cut."""
        outputs, n_cut = [], 0
        for labels in corpus.column(self.target):
            segments, cut = to_segments(labels, self.max_length)
            outputs.append(segments)
            n_cut += cut
        return outputs, n_cut

    def _choose_templates(self, features: Any) -> SegmentTemplates:
        tagger, corpus = self.tagger, self.corpus
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
        if not templates.templates:
            raise ValueError("there are no feature templates")
        for name in templates.columns():
            if corpus.find_column(name) == self.target:
                if corpus.n_columns == 1:
                    raise FileError(
                        corpus.path or "the corpus",
                        "there is one column, and it would be both word and label; columns are "
                        "separated by blanks or tabs, and the label is the last",
                    )
                raise FileError(
                    corpus.path or "the corpus",
                    f"the features read the column {name!r}, which is the target; name another "
                    "target, or other features",
                )
        return templates

    def _has_pos(self) -> bool:
        try:
            return self.corpus.find_column("pos") != self.target
        except FileError:
            return False

    # -- learning -------------------------------------------------------------------------------

    def run(self, dev: Corpus | None) -> tuple[SegmentModel, list[dict[str, Any]], bool]:
        """Learn; return the model, the record of the passes, and whether Ctrl-C ended it."""
        tagger, corpus = self.tagger, self.corpus
        if tagger.verbose and self.n_cut:
            print(
                f"{self.n_cut} chunks are longer than {self.max_length} tokens and were cut",
                file=sys.stderr,
            )
        if dev is not None:
            _check_labels(dev, self.target, some=False)
        vocabulary = _core.SegmentVocabulary()
        try:
            extractor = _core.SegmentExtractor(self.features, corpus._core, self.max_length, True)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        vocabulary.add(extractor, _starts(self.outputs))
        vocabulary.keep(tagger.min_count)
        self.keys = vocabulary.keys()
        self.n_features = vocabulary.size
        monitor = Monitor(
            None if dev is None else _DevScore(self, dev),
            "f1",
            tagger.patience,
            bool(tagger.verbose),
            corpus.n_tokens,
        )
        number = {label: i for i, label in enumerate(self.labels)}
        with warnings.catch_warnings():
            if tagger.max_iter is not None or dev is not None:
                # So many passes were asked for, or the dev score decides.
                warnings.simplefilter("ignore", ConvergenceWarning)
            learned, interrupted = train_segments(
                tagger,
                self.passes,
                vocabulary.rows(extractor),
                self.n_features,
                [[(a, b, number[kind]) for a, b, kind in row] for row in self.outputs],
                len(self.labels),
                self.max_length,
                monitor,
            )
        model = self.model(learned, monitor.best_pass or len(monitor.history) // monitor.run)
        if dev is not None and not interrupted:
            model.temperature = self._calibrated(model, dev)
        return model, monitor.history, interrupted

    def _calibrated(self, model: SegmentModel, dev: Corpus) -> float:
        number = {label: i for i, label in enumerate(self.labels)}
        gold = array("i")
        for row in self.segments_of(dev)[0]:
            for start, end, kind in row:
                gold.append(number.get(kind, len(number)))
                gold.extend([-1] * (end - start - 1))
        return best_temperature(lambda x: model.core.log_loss(dev._core, gold, 2.0**x))

    def model(self, learned: LearnedWeights, passes: int = 0) -> SegmentModel:
        """Return a model with these weights."""
        tagger = self.tagger
        return SegmentModel(
            self.templates,
            self.corpus.format,
            self.corpus.n_columns,
            self.target,
            self.labels,
            self.max_length,
            SegmentModel.pack(self.keys, learned, len(self.labels), tagger.prune),
            temperature=1.0 if tagger.learner == "crf" else None,
            training={
                "learner": tagger.learner,
                "sentences": len(self.corpus),
                "tokens": self.corpus.n_tokens,
                "features": self.n_features,
                "passes": passes,
                "cut": self.n_cut,
                "random_state": tagger.random_state,
                "n_models": tagger.n_models,
            },
        )


class _DevScore:
    """Called with weights, gives chunk F1."""

    def __init__(self, fitting: SegmentFitting, dev: Corpus) -> None:
        self.fitting = fitting
        self.dev = dev
        self.gold = dev.column(fitting.target)

    def __call__(self, learned: LearnedWeights) -> float:
        model = self.fitting.model(learned)
        return chunk_f1(self.gold, model.label_corpus(self.dev, self.fitting.tagger.n_threads))


def _settled(tagger: Any) -> Any:
    """Return the tagger's parameters with what they leave to the preset settled."""
    settings: dict[str, Any] = {"all_states": False, "n_models": 1}
    if isinstance(tagger.features, str) and tagger.features in SEGMENT_PRESETS:
        settings.update(SEGMENT_PRESETS[tagger.features][1])
    if tagger.learner != "perceptron":
        settings["n_models"] = 1
    settled = copy.copy(tagger)
    for name, value in settings.items():
        if getattr(settled, name) is None:
            setattr(settled, name, value)
    return settled


def _check_labels(corpus: Corpus, target: int, some: bool = True) -> None:
    """Refuse a column that does not have the labels of chunks."""
    strings = corpus._core.strings(target)
    chunked = are_chunk_labels(strings) or (not some and all(k == OUTSIDE for k in strings))
    wrong = next((k for k in strings if k != OUTSIDE and not are_chunk_labels([k])), None)
    if not chunked:
        found = "all of them are 'O'" if wrong is None else f"{wrong!r} is none"
        raise FileError(
            corpus.path or "the corpus",
            f"column {target + 1} is to have labels of chunks, O, B-PER, I-PER, ...: {found}",
        )
    if any(k[2:] == OUTSIDE for k in strings):
        raise FileError(corpus.path or "the corpus", "a chunk's type cannot be 'O'")


def _starts(outputs: list[list[tuple[int, int, str]]]) -> bytes:
    """Return a byte a token: 1 where a segment begins."""
    marks = bytearray()
    for row in outputs:
        for start, end, _ in row:
            marks.append(1)
            marks.extend(bytes(end - start - 1))
    return bytes(marks)
