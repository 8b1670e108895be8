"""From a labelled corpus and a tagger's parameters to its model."""

from __future__ import annotations

import copy
import functools
import itertools
import sys
import warnings
from array import array
from typing import Any

from ... import _core
from ...exceptions import ConvergenceWarning, FileError, LineError
from ...text.corpus import Corpus
from ...text.presets import PRESETS, load_templates
from ...text.segment_templates import SegmentTemplates
from ...text.templates import FeatureTemplates
from .chunk_labels import are_chunk_labels, file_scheme, written
from .learned import LearnedWeights, Masks
from .model import TaggerModel
from .training import (
    Monitor,
    TrainingSet,
    make_perceptron,
    train_perceptron,
    train_side_by_side,
)

__all__ = ["Fitting", "check_legal", "default_target", "usual_features"]

_PASSES = {
    "perceptron": 10,
    "svm": 30,
    "crf": 100,
    "hmm": 1,
    "passive-aggressive": 10,
    "arow": 10,
    "adagrad": 20,
}
_MOST_LABELS_IN_INTEGERS = 4096
#: Columns of CoNLL-U in which "_" is a value like others.
_BLANK_IS_A_VALUE = ("feats", "deps", "misc")


class Fitting:
    """One training run of a tagger.

    Parameters
    ----------
    tagger : Tagger
        Read only: its parameters.
    corpus : Corpus
        Labelled sentences.
    start : TaggerModel, optional
        Where to go on from.
    """

    def __init__(self, tagger: Any, corpus: Corpus, start: TaggerModel | None = None) -> None:
        self.start = start
        if start is not None and tagger.target is None:
            self.target = corpus.find_column(start.target + 1)
        else:
            self.target = corpus.find_column(default_target(tagger, corpus))
        preset = tagger.features
        if start is not None and preset != "auto":
            named = preset
            if not isinstance(preset, FeatureTemplates):
                named = load_templates(preset, tagger.functions)
            if named.to_json() != start.templates.to_json():
                raise ValueError("start: the features are those of the earlier model, not others")
        if isinstance(preset, str) and preset == "auto":
            preset = usual_features(corpus, self.target, tagger.unknown)
        self.tagger = tagger = _settled(tagger, preset, start)
        self.n_averaged = tagger.n_models
        if corpus.columns[self.target] in _BLANK_IS_A_VALUE and tagger.unknown == "_":
            tagger.unknown = ""
        self.scheme_of_file = file_scheme(corpus._core.strings(self.target))
        if start is not None:
            check_start(start, tagger)
        self.corpus = self.in_scheme(corpus)
        self.templates = self._choose_templates(preset)
        if self.start is None:
            self.templates.learn_lexica(self.corpus, self.target, tagger.unknown)
        self.features = self.templates.compile(corpus.format, corpus.n_columns)
        self.passes = tagger.max_iter or _PASSES[tagger.learner]
        self.preset = preset if isinstance(preset, str) else ""

    # -- labels and features --------------------------------------------------------------------

    def in_scheme(self, corpus: Corpus) -> Corpus:
        """Return the corpus with labels of the scheme that the model is to learn."""
        if self.tagger.scheme != "iobes":
            return corpus
        copy = Corpus(corpus._core.copy(), corpus.format, corpus.path)
        copy._core.to_iobes(self.target, self.tagger.unknown)
        return copy

    def _choose_templates(self, features: Any) -> FeatureTemplates:
        tagger, corpus = self.tagger, self.corpus
        if self.start is not None:
            templates = self.start.templates
        elif isinstance(features, SegmentTemplates):
            raise ValueError("these templates are about segments: they are for a SegmentTagger")
        elif isinstance(features, FeatureTemplates):
            templates = features.copy()
            templates.functions.update(tagger.functions or {})
        else:
            templates = load_templates(features, tagger.functions)
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
        if tagger.order > 1 and any(t.transition for t in templates.templates):
            raise ValueError("features of label pairs need order 1")
        return templates

    def new_vocabulary(self) -> _core.Vocabulary:
        """Return a vocabulary with nothing in it but what an earlier model had."""
        tagger = self.tagger
        width = 1 << tagger.hash_bits if tagger.hash_bits else 0
        vocabulary = _core.Vocabulary(self.features, self.target, width, tagger.unknown)
        if self.start is not None:
            for label in self.start.labels:
                vocabulary.add_label(label)
            if not self.start.hashed:
                vocabulary.add_features(*self.start.core.unpack(False)[:3])
        return vocabulary

    def freeze(self, vocabulary: _core.Vocabulary, rows: _core.TokenRows | None) -> list[str]:
        """End the counting; return the labels."""
        vocabulary.freeze(self.tagger.min_count, int(self.tagger.all_states), rows)
        labels = list(vocabulary.labels)
        if not labels:
            raise FileError(
                self.corpus.path or "the corpus",
                f"no token has a label: all are {self.tagger.unknown!r}",
            )
        if self.start is not None and labels != self.start.labels:
            new = sorted(set(labels) - set(self.start.labels))
            raise ValueError(f"the model to go on from does not have the labels {new}")
        self.labels = labels
        self.measure = "f1" if are_chunk_labels(labels) else "accuracy"
        return labels

    def masks(self) -> Masks:
        """Return the hard constraints of the scheme."""
        if not self.tagger.scheme:
            return Masks()
        from ...metrics import legal_transitions

        return Masks.of(self.labels, legal_transitions(self.labels, self.tagger.scheme))

    # -- learning -------------------------------------------------------------------------------

    def run(self, dev: Corpus | None) -> tuple[TaggerModel, list[dict[str, Any]], bool]:
        """Learn; return the model, the record of the passes, and whether Ctrl-C ended it."""
        data = self._training_set()
        self.vocabulary = data.vocabulary
        self.announce()
        score: Any = None
        if dev is not None:
            from .calibration import DevScore, calibrate

            score = DevScore(self, dev)
        monitor = Monitor(
            score,
            self.measure,
            self.tagger.patience,
            bool(self.tagger.verbose),
            self.corpus.n_tokens,
        )
        learned, interrupted = self._learn(data, monitor)
        best = monitor.best_pass or len(monitor.history) // monitor.run
        model = self.model(learned, passes=best, extractor=data.extractor)
        if dev is not None and not interrupted:
            model.temperature = calibrate(model, self.in_scheme(dev))
        return model, monitor.history, interrupted

    def announce(self) -> None:
        """Say what was chosen where the parameters left it open."""
        if self.tagger.verbose:
            features = f"features {self.preset}, " if self.preset else ""
            target = f"target {self.corpus.columns[self.target]}"
            scheme = f"scheme {self.tagger.scheme or 'none'}"
            print(f"{features}{target}, {scheme}", file=sys.stderr, flush=True)

    def _training_set(self) -> TrainingSet:
        corpus, rows = self.corpus, _core.TokenRows()
        vocabulary = self.new_vocabulary()
        try:
            # An earlier model's lexica were made from other sentences.
            extractor = _core.Extractor(self.features, corpus._core, self.start is None)
            vocabulary.add(extractor, corpus._core, rows)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        labels = self.freeze(vocabulary, rows)
        data = TrainingSet(corpus, extractor, vocabulary, rows, self.masks())
        if self.tagger.scheme:
            check_legal(corpus, self.target, labels, data.masks, self.tagger.scheme)
        return data

    def _learn(self, data: TrainingSet, monitor: Monitor) -> tuple[LearnedWeights, bool]:
        tagger = self.tagger
        total: LearnedWeights | None = None
        count = tagger.n_models if tagger.learner == "perceptron" else 1
        natively = self._suits_integers(data)
        if tagger.checkpoint is not None and (natively or count > 1):
            what = "averaged models" if count > 1 else "the first-order perceptron"
            raise ValueError(
                f"checkpoint: {what} cannot go on from one; use another learner or no checkpoint"
            )
        learner = make_perceptron(data) if natively else None
        options = {"max_iter": self.passes, "shuffle": tagger.shuffle, "average": tagger.average}
        seeds = range(tagger.random_state, tagger.random_state + count)
        threads = tagger.n_threads
        monitor.several = count > 1
        if learner is not None and count > 1 and threads > 1:
            monitor.share_threads()
            found, interrupted = train_side_by_side(
                learner, data, seeds, threads, monitor, **options
            )
            self.n_averaged = len(found)
            return functools.reduce(LearnedWeights.plus, found).divided(len(found)), interrupted
        self.n_averaged = 1
        for run, seed in enumerate(seeds):
            if run:
                monitor.restart()
            if learner is not None:
                learned, interrupted = train_perceptron(
                    learner, data, seed=seed, monitor=monitor, **options
                )
            else:
                learned, interrupted = self._estimate(data, monitor, seed)
            if interrupted:  # the runs that are complete; without any, what this one has
                return (learned if total is None else total.divided(run)), True
            total = learned if total is None else total.plus(learned)
            self.n_averaged = run + 1
        assert total is not None
        return total.divided(count), False

    def _suits_integers(self, data: TrainingSet) -> bool:
        """Whether the fast way is open: it computes the same as the estimator."""
        return (
            self.tagger.learner == "perceptron"
            and self.tagger.order == 1
            and self.start is None
            and data.vocabulary.pair_size == 0
            and not data.rows.has_values
            and data.rows.all_labels_known
            and len(self.labels) <= _MOST_LABELS_IN_INTEGERS
        )

    def _estimate(
        self, data: TrainingSet, monitor: Monitor, seed: int
    ) -> tuple[LearnedWeights, bool]:
        from .estimation import earlier_weights, make_parameters, train_estimator

        before = None if self.start is None else earlier_weights(self.start, data)
        parameters = make_parameters(self.tagger, self.passes, seed)
        with warnings.catch_warnings():
            if self.tagger.max_iter is not None or monitor.score is not None:
                # So many passes were asked for, or the dev score decides.
                warnings.simplefilter("ignore", ConvergenceWarning)
            return train_estimator(data, parameters, monitor, before)

    # -- the model ------------------------------------------------------------------------------

    def model(
        self,
        learned: LearnedWeights,
        passes: int = 0,
        extractor: _core.Extractor | None = None,
    ) -> TaggerModel:
        """Return a model with these weights; with the names of its features if it can."""
        tagger, vocabulary = self.tagger, self.vocabulary
        keys = b"" if tagger.hash_bits else vocabulary.keys()
        arrays, kept = TaggerModel.pack(
            keys,
            vocabulary.pair_keys(),
            learned.with_masks(self.masks()),
            len(self.labels),
            tagger.prune,
        )
        names = {}
        if extractor is not None and tagger.names and not tagger.hash_bits:
            names = {
                table: vocabulary.names(
                    extractor, table == "pair", kept[table], 0, len(self.corpus)
                )
                for table in kept
            }
            if self.start is not None:
                names["state"] = self._with_earlier_names(keys, kept["state"], names["state"])
        return TaggerModel(
            self.templates,
            self.corpus.format,
            self.corpus.n_columns,
            self.target,
            self.labels,
            self.shown(),
            tagger.order,
            bool(tagger.hash_bits),
            arrays,
            temperature=1.0 if tagger.learner in ("crf", "hmm") else None,
            training=self.record(passes),
            names=names,
        )

    def _with_earlier_names(
        self, keys: bytes, kept: bytes, names: tuple[bytes, bytes]
    ) -> tuple[bytes, Any]:
        """Return the names with those that only the earlier model knows filled in."""
        assert self.start is not None
        earlier = dict(zip(self.start.unpacked()[0], self.start.feature_names(), strict=False))
        by_number = memoryview(keys).cast("Q")
        ordered = sorted(by_number[f] for f in memoryview(kept).cast("I"))
        text, ends = names
        bounds = [0, *memoryview(ends).cast("I")]
        merged = [
            text[bounds[i] : bounds[i + 1]] or earlier.get(key, "").encode()
            for i, key in enumerate(ordered)
        ]
        return b"".join(merged), array("I", itertools.accumulate(map(len, merged)))

    def shown(self) -> list[str]:
        """Return how the labels are written: as the training file has them."""
        if self.tagger.scheme != "iobes":
            return self.labels
        return [written(label, self.scheme_of_file) for label in self.labels]

    def record(self, passes: int) -> dict[str, Any]:
        """Return what the model file tells of its training."""
        tagger = self.tagger
        return {
            "learner": tagger.learner,
            "sentences": len(self.corpus),
            "tokens": self.corpus.n_tokens,
            "features": self.vocabulary.size,
            "passes": passes,
            "scheme": tagger.scheme,
            "random_state": tagger.random_state,
            "n_models": self.n_averaged,
            "unknown": tagger.unknown,
        }


def default_target(tagger: Any, corpus: Corpus) -> str:
    """Return the column of the labels: as named, or the usual one of the format."""
    if tagger.target is not None:
        return str(tagger.target)
    return "upos" if corpus.format == "conllu" else "-1"


def _settled(tagger: Any, features: Any, start: TaggerModel | None) -> Any:
    """Return the tagger's parameters with what they leave to the preset settled."""
    settings = {"all_states": False, "n_models": 1, "order": 1, "scheme": "none"}
    if isinstance(features, str) and features in PRESETS:
        settings.update(PRESETS[features][1])
    if start is not None:
        settings["scheme"] = start.training.get("scheme") or "none"
        settings["order"] = start.order
    if tagger.learner != "perceptron":
        # The others learn what a pair that was not seen is worth from the regulariser.
        settings.update(n_models=1, all_states=False)
    settled = copy.copy(tagger)
    for name, value in settings.items():
        if getattr(settled, name) is None:
            setattr(settled, name, value)
    if settled.scheme == "none":
        settled.scheme = None
    return settled


def usual_features(corpus: Corpus, target: int, unknown: str) -> str:
    """Choose a preset by the labels: chunks, entities (mostly outside), or tags."""
    strings = corpus._core.strings(target)
    if not are_chunk_labels([k for k in strings if k != unknown]) or corpus.n_columns < 3:
        return "pos"
    numbers = array("I", corpus._core.cell_numbers(target))
    outside = sum(1 for k in numbers if strings[k] == "O")
    return "ner" if outside > 0.6 * len(numbers) else "chunk"


def check_start(start: TaggerModel, tagger: Any) -> None:
    """Refuse to go on from a model whose weights would mean something else here."""
    if start.emissions is not None:
        raise ValueError("start: training cannot go on from a hidden Markov model")
    if start.order != tagger.order:
        raise ValueError(f"start: a model of order {start.order}, not {tagger.order}")
    width = len(start.unpacked()[1]) - 1 if start.hashed else 0
    if width != (1 << tagger.hash_bits if tagger.hash_bits else 0):
        bits = width.bit_length() - 1 if width else 0
        raise ValueError(f"start: a model with hash_bits={bits}, not {tagger.hash_bits}")
    if "pair.slots" in start.arrays:
        raise ValueError("start: training cannot go on from a model with features of label pairs")


def check_legal(corpus: Corpus, target: int, labels: list[str], masks: Masks, scheme: str) -> None:
    """Refuse gold labels that the constraints forbid: no learner could ever reach them."""
    index = {label: i for i, label in enumerate(labels)}
    n = len(labels)
    for s in range(len(corpus)):
        before = -1
        for t, label in enumerate(corpus.cells(s, target)):
            k = index.get(label, -1)
            first = t == 0 and k >= 0 and masks.start[k] != 0
            if first or (before >= 0 and k >= 0 and masks.transition[before * n + k] != 0):
                place = "at the start" if first else f"after {labels[before]}"
                raise FileError(
                    corpus.path or "the corpus",
                    f"{label} {place} is not legal in the scheme {scheme!r}; scheme 'iobes' "
                    "converts the labels first",
                    corpus._core.line_number(s, t),
                )
            before = k
