"""Taggers of tokens over shards: the vocabulary in one pass, the problems in a second.

Counts of features are added in the order of the shards, so that features have the numbers that one
file with all sentences would have given them, and rare ones are left out by their counts in all of
it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .. import _core
from ..exceptions import CapabilityError, LineError
from ..scoring.layout import joined_rows
from ..tasks.tagging.fitting import sentence_weights
from ..tasks.tagging.model import joined_names, split_names
from ..tasks.tagging.problem import pair_rows, seen_pairs
from ..tasks.tagging.targets import check_legal
from ..tasks.tagging.token_fitting import TokenFitting
from ..tasks.tagging.token_problem import TokenProblem
from ..text.corpus import Corpus
from ..text.templates import FeatureTemplates
from .corpora import ShardedCorpus
from .problem import ShardedProblem

__all__ = ["FeatureCounts", "ShardedTokenFitting"]


class ShardedTokenFitting(TokenFitting):
    """One training run over shards.

    Parameters
    ----------
    tagger : Tagger
        Read only: its parameters.
    corpus : ShardedCorpus
    keep : bool
        The corpus is needed afterwards.
    """

    corpus: Any

    def __init__(self, tagger: Any, corpus: ShardedCorpus, *, keep: bool = False) -> None:
        self.keep = keep
        if tagger.learner == "hmm":
            raise CapabilityError(
                "a hidden Markov model is counted on one machine, not over shards: use fit"
            )
        if tagger.candidates:
            raise CapabilityError(
                "candidates are chosen on one machine; over shards all labels are considered at "
                "each token: use candidates=0"
            )
        super().__init__(tagger, corpus)  # type: ignore[arg-type]

    def _reader(self, **more: Any) -> _Reader:
        corpus, templates = self.corpus, self.templates.copy()
        counted = {name: corpus.counted(known) for name, known in self.templates.lexica.items()}
        templates.lexica = {}
        return _Reader(
            templates=templates,
            lexica=counted,
            format=corpus.format,
            n_columns=corpus.n_columns,
            target=self.target,
            unknown=self.tagger.unknown,
            width=1 << self.tagger.hash_bits if self.tagger.hash_bits else 0,
            order=self.tagger.order,
            scheme=self.tagger.scheme,
            **more,
        )

    def problem(self) -> Any:
        """Return the sum of the shards' problems."""
        held, tagger = self.corpus.held, self.tagger
        vocabulary = self.new_vocabulary()
        counts: FeatureCounts = held.sum(_count, self._reader())
        vocabulary.add_counts(*counts.parts)
        self.first_seen = counts.first_seen
        all_keys = vocabulary.keys()
        self.freeze(vocabulary, None)
        if not tagger.hash_bits:
            self._settle_names(all_keys)
        frozen = (
            vocabulary.keys() if not tagger.hash_bits else _numbers(vocabulary.size),
            vocabulary.row_ptr(),
            vocabulary.column(),
            list(vocabulary.labels),
            vocabulary.pair_keys(),
        )
        forbid = self.forbid()
        reader = self._reader(
            vocabulary_parts=frozen, forbid=forbid, class_weight=self._class_weight()
        )
        if vocabulary.pair_size:
            n = len(self.labels) ** 2
            reader.pairs = joined_rows(held.each(_seen_pairs, reader), vocabulary.pair_size + 1, n)
        problems = held.then(_make_problem, reader)
        problem = ShardedProblem(problems, self.corpus.tokens)
        if not self.keep:
            held.release()
        # Without sentences: knows which weights there are.
        self._problem = TokenProblem(
            vocabulary, _core.TokenRows(), tagger.order, forbid, pairs=reader.pairs
        )
        self.announce()
        return problem

    def _class_weight(self) -> Any:
        """Return the weights of the classes, which "balanced" counts in all shards."""
        given = self.tagger.class_weight
        if not isinstance(given, str):
            return given
        from ..estimators.outputs import class_weight_table

        totals: Counter[str] = self.corpus.held.sum(_label_totals, self.target)
        table = class_weight_table(
            given, np.array(self.labels), np.array([totals[k] for k in self.labels])
        )
        assert table is not None
        return dict(zip(self.labels, table.tolist(), strict=True))

    # -- names ----------------------------------------------------------------------------------

    def _settle_names(self, all_keys: bytes) -> None:
        """Find out the shard that has seen each feature that was kept first."""
        shard = np.repeat(np.arange(len(self.first_seen)), self.first_seen)
        before = np.frombuffer(all_keys, np.uint64)
        kept = np.isin(before, np.frombuffer(self.vocabulary.keys(), np.uint64))
        self.shard_of = shard[kept]

    def names_of(self, keys: Any, kept: dict[str, Any]) -> dict[str, Any]:
        """Ask each shard for the names of the features that it was the first to see."""
        number = np.frombuffer(keys, np.uint64)
        wanted = np.sort(np.frombuffer(kept["state"], np.uint32))
        reader = self._reader()
        n = len(self.corpus.held.crew.shards)
        asked = [number[wanted[self.shard_of[wanted] == k]] for k in range(n)]
        pairs = np.frombuffer(self.vocabulary.pair_keys(), np.uint64)
        pair_wanted = pairs[np.frombuffer(kept["pair"], np.uint32)] if "pair" in kept else None
        found: dict[str, dict[int, bytes]] = {"state": {}, "pair": {}}
        for part in self.corpus.held.each(_names, reader, asked, pair_wanted):
            for table, names in part.items():
                found[table] = {**names, **found[table]}
        tables = {"state": number[wanted]} | ({} if pair_wanted is None else {"pair": pair_wanted})
        return {
            table: joined_names([found[table].get(key, b"") for key in sorted(all_.tolist())])
            for table, all_ in tables.items()
        }


class _Reader:
    """What a shard needs to know to be read, as it is sent; what is made of it is made once."""

    forbid: Any = None
    class_weight: Any = None
    vocabulary_parts: Any = None
    pairs: Any = None

    def __init__(
        self,
        *,
        templates: FeatureTemplates,
        lexica: dict[str, Any],
        format: str,
        n_columns: int,
        target: int,
        unknown: str,
        width: int,
        order: int,
        scheme: str | None,
        **more: Any,
    ) -> None:
        self.templates, self.lexica = templates, lexica
        self.format, self.n_columns, self.target = format, n_columns, target
        self.unknown, self.width, self.order, self.scheme = unknown, width, order, scheme
        vars(self).update(more)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    @property
    def features(self) -> Any:
        """The templates, compiled."""
        if not hasattr(self, "_features"):
            templates = self.templates.copy()
            templates.lexica = {name: counts.lexicon() for name, counts in self.lexica.items()}
            self._features = templates.compile(self.format, self.n_columns)
        return self._features

    def empty(self) -> _core.Vocabulary:
        """Return a vocabulary without features."""
        return _core.Vocabulary(self.features, self.target, self.width, self.unknown)

    @property
    def vocabulary(self) -> _core.Vocabulary:
        """The vocabulary of all shards."""
        if not hasattr(self, "_vocabulary"):
            keys, row_ptr, column, labels, pair_keys = self.vocabulary_parts
            vocabulary = self.empty()
            once = np.ones(len(keys) // 8, np.uint32), np.ones(len(pair_keys) // 8, np.uint32)
            vocabulary.add_counts(keys, once[0], row_ptr, column, labels, pair_keys, once[1])
            vocabulary.freeze(0, 0, None)
            self._vocabulary = vocabulary
        return self._vocabulary

    def extractor(self, corpus: Corpus) -> _core.Extractor:
        """Return what finds the features of a training corpus."""
        return _core.Extractor(self.features, corpus.core, True)


class FeatureCounts:
    """What vocabularies have counted; to be added up in the order of the shards."""

    def __init__(self, parts: tuple[Any, ...], width: int, first_seen: list[int]) -> None:
        self.parts, self.width, self.first_seen = parts, width, first_seen

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        both = _core.Vocabulary(_core.FeatureSet([], []), 0, self.width, "")
        both.add_counts(*self.parts)
        before = both.size
        both.add_counts(*other.parts)
        # Features are numbered by first occurrence: those of the second that the first has not.
        seen_first = self.first_seen
        if not self.width:
            known = np.isin(
                np.frombuffer(other.parts[0], np.uint64), np.frombuffer(self.parts[0], np.uint64)
            )
            ends = np.concatenate(([0], np.cumsum(other.first_seen)))
            new = np.concatenate(([0], np.cumsum(~known)))
            seen_first = [*seen_first, *np.diff(new[ends]).tolist()]
            assert sum(seen_first) == both.size >= before
        return FeatureCounts(both.counts(), self.width, seen_first)


def _count(corpus: Corpus, number: int, reader: _Reader) -> FeatureCounts:
    vocabulary = reader.empty()
    try:
        vocabulary.add(reader.extractor(corpus), corpus.core, None)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None
    return FeatureCounts(vocabulary.counts(), reader.width, [vocabulary.size])


def _rows(corpus: Corpus, reader: _Reader) -> _core.TokenRows:
    try:
        return reader.vocabulary.rows(reader.extractor(corpus), corpus.core)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None


def _seen_pairs(corpus: Corpus, number: int, reader: _Reader) -> Any:
    arrays = _rows(corpus, reader).arrays()
    rows = pair_rows(arrays, reader.vocabulary.pair_size)
    return seen_pairs(arrays, rows, len(reader.vocabulary.labels))


def _make_problem(corpus: Corpus, number: int, reader: _Reader) -> TokenProblem:
    check_legal(corpus, reader.target, reader.forbid, reader.scheme)
    return TokenProblem(
        reader.vocabulary,
        _rows(corpus, reader),
        reader.order,
        reader.forbid,
        reader.class_weight,
        sentence_weights(corpus),
        pairs=reader.pairs,
    )


def _label_totals(corpus: Corpus, number: int, target: int) -> Counter[str]:
    """Return how much the tokens of each label weigh."""
    totals: Counter[str] = Counter()
    weights = corpus.weights or [1.0] * len(corpus)
    for labels, weight in zip(corpus.column(target), weights, strict=True):
        for label in labels:
            totals[label] += weight  # type: ignore[assignment]
    return totals


def _names(
    corpus: Corpus, number: int, reader: _Reader, asked: list[Any], pairs: Any
) -> dict[str, dict[int, bytes]]:
    vocabulary = reader.empty()
    extractor = reader.extractor(corpus)
    vocabulary.add(extractor, corpus.core, None)
    found: dict[str, dict[int, bytes]] = {}
    for table, wanted in (("state", asked[number]), ("pair", pairs)):
        if wanted is None:
            continue
        own = vocabulary.keys() if table == "state" else vocabulary.pair_keys()
        keys = np.frombuffer(own, np.uint64)
        kept = np.flatnonzero(np.isin(keys, wanted)).astype(np.uint32)
        told = vocabulary.names(extractor, table == "pair", kept, 0, len(corpus))
        names = split_names(*told)
        found[table] = dict(zip(np.sort(keys[kept]).tolist(), names, strict=True))
    return found


def _numbers(n: int) -> bytes:
    return np.arange(n, dtype=np.uint64).tobytes()
