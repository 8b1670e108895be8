"""Training on a file larger than memory: the perceptron over pieces of it, read anew each pass.

In memory are the features with their weights and one piece of the file. The first pass over the
file counts, then come the passes of learning, and a last one finds the names of the features that
have weights. ``seen(…)``, which needs the whole file at once, is left out of presets.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...exceptions import FileError, LineError
from ...text.corpus import Corpus, guess_format
from ...text.files import pieces
from ...text.presets import PRESETS, load_templates
from ...text.templates import FeatureTemplates
from .fitting import Fitting, check_legal, default_target, usual_features
from .learned import LearnedWeights
from .model import TaggerModel
from .training import Monitor, split_weights

__all__ = ["fit_stream"]

#: Bytes of text a piece, and of strings to be kept from piece to piece.
_PIECE = 4 << 20
_MOST_STRINGS = 64 << 20


class _Stream:
    """The pieces of a file as corpora that share their strings."""

    def __init__(self, path: str, format: str | None) -> None:
        if path == "-":
            raise ValueError("standard input cannot be read more than once: name a file")
        self.path = path
        first = next(pieces(path, 1 << 16), None)
        self.format = format or guess_format(path, first[0] if first else b"")
        self.corpus = Corpus(_core.Corpus(self.format), self.format, path)

    def __iter__(self) -> Iterator[Corpus]:
        core = self.corpus._core
        for text, line in pieces(self.path, _PIECE):
            if core.n_bytes > _MOST_STRINGS:
                core.clear()
            else:
                core.clear_tokens()
            core.set_line(line)
            try:
                core.read(text)
            except LineError as error:
                raise error.in_file(self.path) from None
            if core.n_tokens:
                yield self.corpus


def fit_stream(
    tagger: Any, path: str, format: str | None
) -> tuple[TaggerModel, list[dict[str, Any]]]:
    """Learn from a file; return the model and a record of the passes."""
    stream = _Stream(path, format)
    for first in stream:
        run = Fitting(_streamable(tagger, first), first)
        break
    else:
        raise FileError(path, "there are no sentences in it")
    tagger = run.tagger
    if tagger.learner != "perceptron" or tagger.order != 1 or tagger.n_models != 1:
        raise ValueError("streaming is for the perceptron of order 1, one model: n_models=1")
    if tagger.checkpoint is not None:
        raise ValueError("checkpoint: streaming cannot go on from one; use no checkpoint")
    if run.features.has_transitions or run.features.has_values or run.templates.lexica:
        raise ValueError(
            "streaming is for features that have names: without transition:, vector() and seen()"
        )
    vocabulary = run.vocabulary = run.new_vocabulary()
    n_sentences = n_tokens = 0
    for corpus, extractor in _extracted(run, stream):
        vocabulary.add(extractor, corpus._core, None)
        n_sentences += len(corpus)
        n_tokens += corpus.n_tokens
    labels = run.freeze(vocabulary, None)
    masks = run.masks()
    run.announce()
    learner = _core.IntegerPerceptron(vocabulary, True, masks.start, masks.end, masks.transition)
    row_ptr, column = vocabulary.row_ptr(), vocabulary.column()
    monitor = Monitor(None, run.measure, 0, bool(tagger.verbose), n_tokens)

    def weights() -> LearnedWeights:
        w = memoryview(learner.weights(tagger.average)).cast("d")
        return split_weights(row_ptr, column, w, len(labels))

    for number in range(1, run.passes + 1):
        wrong = updates = 0
        for i, (corpus, extractor) in enumerate(_extracted(run, stream)):
            if tagger.scheme and number == 1:
                check_legal(corpus, run.target, labels, masks, tagger.scheme)
            rows = vocabulary.rows(extractor, corpus._core)
            if not rows.all_labels_known:
                raise FileError(path, "streaming needs the label of every token")
            learner.clear_batches()
            learner.add_batch(rows)
            complete, updated, mistakes = learner.epoch(
                0, tagger.shuffle, tagger.random_state, number << 32 | i
            )
            if not complete:
                raise KeyboardInterrupt
            wrong += int(mistakes)
            updates += updated
        monitor.look(number, weights, updates=updates, wrong=wrong)
        if updates == 0:
            learner.skip((run.passes - number) * n_sentences)  # as if the other passes were made
            break
    model = run.model(weights(), passes=len(monitor.history))
    model.training.update(sentences=n_sentences, tokens=n_tokens)
    if tagger.names and not tagger.hash_bits:
        model.names = {"state": _names(run, stream, model)}
    return model, monitor.history


def _streamable(tagger: Any, corpus: Corpus) -> Any:
    """Return the tagger's parameters with what a preset asks for beyond streaming left out."""
    settled = copy.copy(tagger)
    if tagger.n_models is None:
        settled.n_models = 1
    if tagger.order is None:
        settled.order = 1
    name = tagger.features
    if name == "auto":
        target = corpus.find_column(default_target(tagger, corpus))
        name = usual_features(corpus, target, tagger.unknown)
    if isinstance(name, str) and name in PRESETS:
        templates = load_templates(name, tagger.functions)
        plain = [t for t in templates.templates if all(a.kind != "lexicon" for a, _ in t.atoms)]
        settled.features = FeatureTemplates(plain, functions=tagger.functions)
        if tagger.scheme is None:
            settled.scheme = PRESETS[name][1].get("scheme")
    return settled


def _extracted(run: Fitting, stream: _Stream) -> Iterator[tuple[Corpus, Any]]:
    """Yield the pieces in the run's scheme, each with an extractor of its features."""
    for piece in stream:
        corpus = run.in_scheme(piece)
        yield corpus, _core.Extractor(run.features, corpus._core, False)


def _names(run: Fitting, stream: _Stream, model: TaggerModel) -> tuple[bytes, Any]:
    """Collect the names of the features that have weights, where each was first seen."""
    keys = memoryview(run.vocabulary.keys()).cast("Q")
    number = {key: i for i, key in enumerate(keys)}
    wanted = array("I", [number[key] for key in model.unpacked()[0]])  # in the order of the keys
    found: list[bytes] = [b""] * len(wanted)
    first = 0
    for corpus, extractor in _extracted(run, stream):
        text, end = run.vocabulary.names(extractor, False, wanted, first, len(corpus))
        bounds = [0, *memoryview(end).cast("I")]
        for i in range(len(wanted)):
            if bounds[i + 1] > bounds[i]:
                found[i] = text[bounds[i] : bounds[i + 1]]
        first += len(corpus)
    ends, total = array("I"), 0
    for name in found:
        total += len(name)
        ends.append(total)
    return b"".join(found), ends
