"""Dependency parsers over shards: taggers, the pruner, then the parser itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import _core
from ..exceptions import LineError
from ..fitting.jackknife import jackknifed_tags
from ..fitting.split_corpus import SplitCorpus
from ..meter import Meter
from ..problem import Problem
from ..tasks.dependencies.tags import (
    TAG_COLUMNS,
    Tags,
    column_tags,
    make_tagger,
    new_tagger,
    predicted_tags,
)
from ..tasks.dependencies.training import (
    ParserFitting,
    ParserProblem,
    parser_problem,
    pruner_problem,
)
from ..tasks.tagging.token_fitting import TokenFitting
from ..text.corpus import Corpus, corpus_of
from ..text.dependency_treebank import check_tags, gold_trees, read_treebank
from .corpora import ShardedCorpus, by_shard, read_corpora
from .crew import Crew, CrewParts, sent
from .problem import ShardedProblem
from .shards import FileShard, Shard

__all__ = ["fit_dependencies"]


def fit_dependencies(
    parser: Any, crew: Crew, dev: Any, format: str | None, sample_weight: Any
) -> None:
    """Fit a parser to shards of a treebank."""
    parser._check()
    if format not in (None, "conllu"):
        raise ValueError(f"a parser's trees are read from CoNLL-U, not from the format {format!r}")
    held_out = None if dev is None else parser._treebank(dev, None, format, "the dev corpus")
    corpus = read_corpora(crew, _read, bool(parser.gold_tags), sample_weight=sample_weight)
    weights = parser._loss_weights(corpus, corpus.sample_weight)
    model, learned = _ShardedFitting(parser._plain(), corpus, held_out, weights).run()
    parser._accept(model, learned, held_out)


class _ShardedFitting(ParserFitting):
    corpus: Any

    def __init__(
        self, parser: Any, corpus: ShardedCorpus, dev: Corpus | None, loss_weight: Any
    ) -> None:
        super().__init__(parser, corpus, dev, loss_weight)  # type: ignore[arg-type]

    def check_trees(self) -> None:
        """Do nothing: shards have checked theirs."""

    def problem(self) -> Any:
        """Learn taggers and pruner; return the sum of the shards' problems."""
        p, corpus = self.parser, self.corpus
        self.taggers = [] if p.gold_tags else self._learn_taggers()
        self.dev_tags: Tags = column_tags()
        if self.taggers and self.dev is not None:
            self.dev_tags = predicted_tags(self.taggers, self.dev, p.n_threads)
        counts = corpus.counts("deprel")
        # As one treebank orders them: the most frequent first, then by name.
        labels = sorted(counts, key=lambda name: (-counts[name], name.encode()))
        tagged = corpus.held.then(_tagged, sent(p))
        banks = tagged.then(_treebank, labels, bool(p.lemmas))
        sets: _Sets = banks.sum(_label_sets)
        self.treebank: Any = _Relations(labels, sets)
        banks = banks.then(_with_sets, sets.stored())
        with Meter("learning which heads are likely", shown=bool(p.verbose)):
            weights = by_shard(self.loss_weight, corpus.sentences)
            self._pruning = ShardedProblem(banks.then(_pruner, self.bits, weights), corpus.tokens)
            self.pruner = self._pruner()
        pass
        problems = banks.then(_parser, self.pruner, sent(p), self.bits, weights)
        problem = ShardedProblem(problems, corpus.tokens)
        banks.release()
        return problem

    def _pruner_problem(self) -> Problem:
        return self._pruning

    def _learn_taggers(self) -> list[Any]:
        p, made = self.parser, []
        for column in TAG_COLUMNS:
            tagger = new_tagger(column, p.n_threads, p.random_state)
            tagger._learn(
                TokenFitting(tagger._plain(), SplitCorpus(CrewParts(self.corpus.held))), None
            )
            made.append(tagger.model_)
        return made


class _Relations:
    """What a model takes from a treebank."""

    def __init__(self, labels: list[str], sets: _Sets) -> None:
        self.labels, self._sets = labels, sets

    def label_sets(self) -> tuple[bytes, bytes]:
        """Return the sets of relations that an arc may have."""
        return self._sets.stored()


class _Sets:
    """Sets of relations by key, as masks of bits; to be joined."""

    def __init__(self, keys: bytes, masks: bytes) -> None:
        self.keys = np.frombuffer(keys, np.uint64)
        self.masks = np.frombuffer(masks, np.uint64).reshape(len(self.keys), -1)

    def __add__(self, other: _Sets) -> _Sets:
        keys = np.union1d(self.keys, other.keys)
        masks = np.zeros((len(keys), self.masks.shape[1]), np.uint64)
        for part in (self, other):
            masks[np.searchsorted(keys, part.keys)] |= part.masks
        return _Sets(keys.tobytes(), masks.tobytes())

    def stored(self) -> tuple[bytes, bytes]:
        """Return keys and masks as the core has them."""
        return self.keys.tobytes(), self.masks.tobytes()


# -- what is computed where the shards are --------------------------------------------------------


def _read(shard: Shard, number: int, gold_tags: bool) -> Corpus:
    if isinstance(shard, FileShard):
        corpus = corpus_of(shard.name, shard.text(), "conllu")
    else:
        corpus = read_treebank(shard.examples())
    if gold_tags:
        check_tags(corpus)
    gold_trees(corpus)
    return corpus


def _tagged(corpus: Corpus, number: int, parser: Any) -> tuple[Corpus, Tags]:
    """Return the corpus with the tags that are learned on: by taggers of its other sentences."""
    if parser.gold_tags:
        return corpus, column_tags()
    alone = corpus.subset(range(len(corpus)))  # folds of its own
    tags = [
        jackknifed_tags(
            alone,
            parser.folds,
            partial(
                make_tagger,
                column=column,
                n_jobs=parser.n_threads,
                random_state=parser.random_state,
                n_models=1,
            ),
            parser.n_threads,
        )
        for column in TAG_COLUMNS
    ]
    return corpus, tags


def _treebank(
    tagged: tuple[Corpus, Tags], number: int, labels: list[str], lemmas: bool
) -> _core.ParserTreebank:
    corpus, tags = tagged
    try:
        return _core.ParserTreebank(corpus.core, tags, lemmas, labels)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None


def _label_sets(treebank: _core.ParserTreebank, number: int) -> _Sets:
    return _Sets(*treebank.label_sets())


def _with_sets(
    treebank: _core.ParserTreebank, number: int, sets: tuple[bytes, bytes]
) -> _core.ParserTreebank:
    treebank.set_label_sets(*sets)
    return treebank


def _pruner(treebank: _core.ParserTreebank, number: int, bits: int, weights: list[Any]) -> Problem:
    return pruner_problem(treebank, bits, weights[number])


def _parser(
    treebank: _core.ParserTreebank,
    number: int,
    pruner: Any,
    parser: Any,
    bits: int,
    weights: list[Any],
) -> ParserProblem:
    examples = treebank.pruned(
        np.ascontiguousarray(pruner),
        parser.most_heads,
        parser.least_share,
        parser.projective,
        parser.order,
    )
    return parser_problem(parser, treebank, examples, bits, weights[number])
