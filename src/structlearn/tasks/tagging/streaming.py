"""Training on a file larger than memory: the perceptron over pieces of it, read anew each pass.

In memory are the features with their weights and one piece of the file. The first pass over the
file counts, then come the passes of learning, and a last one finds the names of the features that
have weights. ``seen(…)``, which needs the whole file at once, is left out of presets.
"""

from __future__ import annotations

import copy
import itertools
from array import array
from collections.abc import Iterator
from typing import Any

from ... import _core
from ...exceptions import FileError, LineError
from ...text.corpus import Corpus, guess_format
from ...text.files import pieces
from ...text.presets import PRESETS, load_templates
from ...text.templates import FeatureTemplates
from .fitting import TokenFitting, check_legal, default_target, usual_features
from .integer_perceptron import IntegerPerceptron
from .problem import TokenProblem, scheme_masks

__all__ = ["StreamFitting"]

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


class StreamFitting(TokenFitting):
    """One training run over a file that is read anew for each pass.

    Parameters
    ----------
    tagger : Tagger
        Read only: its parameters.
    path : str
    format : {"columns", "conllu"} or None
    """

    def __init__(self, tagger: Any, path: str, format: str | None) -> None:
        self.stream = _Stream(path, format)
        first = next(iter(self.stream), None)
        if first is None:
            raise FileError(path, "there are no sentences in it")
        super().__init__(_streamable(tagger, first), first)
        settled = self.tagger
        if settled.learner != "perceptron" or settled.order != 1 or settled.n_models != 1:
            raise ValueError("streaming is for the perceptron of order 1, one model: n_models=1")
        if settled.class_weight is not None:
            raise ValueError("streaming has no class_weight: all sentences weigh the same")
        if self.features.has_transitions or self.features.has_values or self.templates.lexica:
            raise ValueError(
                "streaming is for features that have names: without transition:, vector(), seen()"
            )

    def extracted(self) -> Iterator[tuple[Corpus, Any]]:
        """Yield the pieces in the scheme to be learned, each with an extractor of its features."""
        for piece in self.stream:
            corpus = self.in_scheme(piece)
            yield corpus, _core.Extractor(self.features, corpus._core, False)

    def problem(self) -> TokenProblem:
        """Return a problem without sentences: it knows which weights there are."""
        vocabulary = self.new_vocabulary()
        self.counts = {"sentences": 0, "tokens": 0}
        for corpus, extractor in self.extracted():
            vocabulary.add(extractor, corpus._core, None)
            self.counts["sentences"] += len(corpus)
            self.counts["tokens"] += corpus.n_tokens
        self.freeze(vocabulary, None)
        self.masks = scheme_masks(self.labels, self.tagger.scheme)
        self._problem = _StreamProblem(vocabulary, _core.TokenRows(), 1, self.masks)
        self._problem.told = {**self.counts, "keys": vocabulary.keys()}
        self.announce()
        return self._problem

    def how(self, problem: Any) -> dict[str, Any]:
        """Return the perceptron over pieces: whole numbers are all that streaming has."""
        learner = IntegerPerceptron(problem, self.masks, self._batches, self.tagger)
        return {"solver": learner.seeded}

    def _batches(self, native: _core.IntegerPerceptron) -> Iterator[_core.IntegerBatch]:
        tagger = self.tagger
        for corpus, extractor in self.extracted():
            rows = self.vocabulary.rows(extractor, corpus._core).arrays()
            if (rows["label"] < 0).any():
                raise FileError(self.stream.path, "streaming needs the label of every token")
            if tagger.scheme:
                check_legal(corpus, self.target, self.labels, self.masks, tagger.scheme)
            yield native.read(rows["sentence"], rows["begin"], rows["feature"], rows["label"])

    def more(self) -> dict[str, Any]:
        """Return the counts of the whole file."""
        return {**super().more(), **self.counts}

    def names_of(self, keys: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """Collect the names of the features that have weights, where each was first seen."""
        by_number = memoryview(keys).cast("Q")
        wanted = array("I", sorted(memoryview(kept["state"]).cast("I"), key=by_number.__getitem__))
        found: list[bytes] = [b""] * len(wanted)
        first = 0
        for corpus, extractor in self.extracted():
            text, end = self.vocabulary.names(extractor, False, wanted, first, len(corpus))
            bounds = [0, *memoryview(end).cast("I")]
            for i in range(len(wanted)):
                if bounds[i + 1] > bounds[i]:
                    found[i] = text[bounds[i] : bounds[i + 1]]
            first += len(corpus)
        return {"state": (b"".join(found), array("I", itertools.accumulate(map(len, found))))}


class _StreamProblem(TokenProblem):
    """Named by what is known of the file: its sentences are not there."""

    told: dict[str, Any]

    def specification(self) -> dict[str, Any]:
        return {**super().specification(), **self.told}


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
