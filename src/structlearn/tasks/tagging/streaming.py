"""Training on a file larger than memory: the perceptron over pieces of it, read again in each pass.

In memory are the features with their weights and one piece of the file. The first pass over the
file counts, then come the passes of learning, and a last one finds the names of the features that
have weights. ``seen(…)``, which needs the whole file at once, is left out of presets.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import FileError
from ...text.corpus import Corpus
from ...text.presets import PRESETS
from ...text.stream import CorpusStream
from ...text.templates import FeatureTemplates
from .model import joined_names, split_names
from .targets import check_legal, find_targets, templates_for, usual_features
from .token_fitting import TokenFitting
from .token_problem import TokenProblem

__all__ = ["StreamFitting"]


class StreamFitting(TokenFitting):
    """One training run over a file that is read again in each pass.

    Parameters
    ----------
    tagger : Tagger
        Read only: its parameters.
    path : str
    format : {"columns", "conllu"} or None
    """

    def __init__(self, tagger: Any, path: str, format: str | None) -> None:
        self.stream = CorpusStream(path, format)
        first = next(iter(self.stream), None)
        if first is None:
            raise FileError(path, "there are no sentences in it")
        super().__init__(_streamable(tagger, first), first)
        settled = self.tagger
        if settled.learner != "perceptron" or settled.order != 1 or settled.n_models != 1:
            raise ValueError("streaming is for the perceptron of order 1, one model: n_models=1")
        if settled.candidates:
            raise ValueError("streaming considers all labels at each token: candidates=0")
        if settled.class_weight is not None:
            raise ValueError("streaming has no class_weight: all sentences weigh the same")
        if self.features.has_transitions or self.features.has_values or self.templates.lexica:
            raise ValueError(
                "streaming is for features that have names: without transition:, vector(), seen()"
            )

    def extracted(self) -> Iterator[tuple[Corpus, Any]]:
        """Yield the pieces in the scheme to be learned, each with an extractor of its features."""
        for piece in self.stream:
            corpus = self.in_scheme(self.with_labels(piece))
            yield corpus, _core.Extractor(self.features, corpus.core, False)

    def problem(self) -> TokenProblem:
        """Return a problem without sentences: it knows which weights there are."""
        vocabulary = self.new_vocabulary()
        sizes = []
        self.counts = {"sentences": 0, "tokens": 0}
        for corpus, extractor in self.extracted():
            vocabulary.add(extractor, corpus.core, None)
            sizes.append(len(corpus))
            self.counts["sentences"] += len(corpus)
            self.counts["tokens"] += corpus.n_tokens
        self.freeze(vocabulary, None)
        told = {**self.counts, "keys": vocabulary.keys()}
        self._problem = _StreamProblem(vocabulary, self.forbid(), self._pieces, sizes, told)
        self.announce()
        return self._problem

    def _pieces(self) -> Iterator[_core.TokenRows]:
        """Yield the rows of each piece of the file."""
        for corpus, extractor in self.extracted():
            rows = self.vocabulary.rows(extractor, corpus.core)
            if rows.has_unknown:
                raise FileError(self.stream.path, "streaming needs the label of every token")
            check_legal(corpus, self.target, self.forbid(), self.tagger.scheme)
            yield rows

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
            names = self.vocabulary.names(extractor, False, wanted, first, len(corpus))
            found = [new or old for new, old in zip(split_names(*names), found, strict=True)]
            first += len(corpus)
        return {"state": joined_names(found)}


class _StreamProblem(TokenProblem):
    """Sentences that are in a file: passes in whole numbers are all that there is.

    Parameters
    ----------
    pieces : callable
        Yields the rows of each piece of the file.
    sizes : list of int
        The numbers of sentences of the pieces.
    told : dict
        What is known of the file, by which checkpoints know the problem.
    """

    def __init__(
        self,
        vocabulary: _core.Vocabulary,
        forbid: Mapping[str, Any],
        pieces: Callable[[], Iterator[_core.TokenRows]],
        sizes: list[int],
        told: dict[str, Any],
    ) -> None:
        super().__init__(vocabulary, _core.TokenRows(), 1, forbid)
        self._pieces, self._sizes, self._told = pieces, sizes, told

    @property
    def n_examples(self) -> int:
        return sum(self._sizes)

    @property
    def probes(self) -> range:
        """No examples: the sentences are in the file."""
        return range(0)

    def specification(self) -> dict[str, Any]:
        return {**super().specification(), **self._told}

    def pass_order(self, orders: Any, shuffle: bool) -> npt.NDArray[np.int64]:
        """Return the pieces in their order, the sentences of each in one of their own."""
        ends = np.cumsum(self._sizes)
        own = [np.asarray(orders.permutation(n) if shuffle else range(n)) for n in self._sizes]
        placed = zip(own, ends - self._sizes, strict=True)
        return np.concatenate([order + begin for order, begin in placed]).astype(np.int64)

    def online_pass(
        self, options: dict[str, Any], state: Any, order: npt.NDArray[np.int64]
    ) -> tuple[Any, dict[str, float]]:
        total: dict[str, float] = {}
        begin = 0
        for rows, n in zip(self._pieces(), self._sizes, strict=True):
            own = order[(order >= begin) & (order < begin + n)] - begin
            begin += n
            report = state.make_pass(state.native.read(rows), own)
            for name, value in report.items():
                total[name] = value if name == "complete" else total.get(name, 0) + value
            if not report["complete"]:
                break
        return state, total


def _streamable(tagger: Any, corpus: Corpus) -> Any:
    """Return the tagger's parameters with what a preset asks for beyond streaming left out."""
    settled = copy.copy(tagger)
    if tagger.n_models is None:
        settled.n_models = 1
    if tagger.order is None:
        settled.order = 1
    name = tagger.features
    targets = find_targets(tagger, corpus)
    if name == "auto":
        name = usual_features(corpus, targets, tagger.unknown)
    if isinstance(name, str) and name in PRESETS:
        templates = templates_for(name, tagger.functions, corpus, targets)
        plain = [t for t in templates.templates if all(a.kind != "lexicon" for a, _ in t.atoms)]
        settled.features = FeatureTemplates(plain, functions=tagger.functions)
        if tagger.scheme is None and len(targets) == 1:
            settled.scheme = PRESETS[name][1].get("scheme")
    return settled
