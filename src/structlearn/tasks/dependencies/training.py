"""Learning of a dependency parser: tags, the pruner, then passes over the sentences."""

from __future__ import annotations

import sys
import time
from typing import Any

from ... import _core
from ...exceptions import LineError
from ...metrics.attachment import attachment_report
from ...text.corpus import Corpus, add_tokens
from .model import ParserModel
from .tags import (
    TAG_COLUMNS,
    Tags,
    column_tags,
    jackknifed_tags,
    make_tagger,
    predicted_tags,
)

__all__ = ["ParserFitting", "gold_trees"]

#: Passes and step of the pruner's learning; the size of its table.
_PRUNER_PASSES = 2
_PRUNER_RATE = 0.1
_PRUNER_BITS = 20
#: The longest step of each learner, where none is given.
_RATES = {"svm": 0.002, "crf": 0.02, "perceptron": 1.0}


def gold_trees(corpus: Corpus) -> list[list[tuple[int, str]]]:
    """Return the trees of a corpus of CoNLL-U; a bad one is an error that names file and line."""
    try:
        _core.check_trees(corpus._core)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None
    heads, labels = corpus.column("head"), corpus.column("deprel")
    return [
        [(int(h), label) for h, label in zip(*pair, strict=True)]
        for pair in zip(heads, labels, strict=True)
    ]


class ParserFitting:
    """One run of learning.

    Parameters
    ----------
    parser : DependencyParser
        Whose parameters count.
    corpus, dev : Corpus
        Of CoNLL-U.
    """

    def __init__(self, parser: Any, corpus: Corpus, dev: Corpus | None) -> None:
        self.parser = parser
        self.corpus = corpus
        self.dev = dev
        self.history: list[dict[str, Any]] = []
        self.seconds: dict[str, float] = {}
        gold_trees(corpus)  # before the taggers take their time
        self.gold = None if dev is None else gold_trees(dev)

    def say(self, line: str) -> None:
        """Write a line of progress."""
        if self.parser.verbose:
            print(line, file=sys.stderr, flush=True)

    def run(self) -> tuple[ParserModel, list[dict[str, Any]], bool]:
        """Learn; return the model, a record of the passes, and whether Ctrl-C ended it."""
        p = self.parser
        begin = time.process_time()
        train_tags, dev_tags, taggers = self._tags()
        self.seconds["tagging"] = time.process_time() - begin
        begin = time.process_time()
        try:
            trainer = _core.ParserTrainer(
                self.corpus._core,
                train_tags,
                p.lemmas,
                p.order,
                p.projective,
                p.most_heads,
                p.least_share,
                p.hash_bits,
                min(_PRUNER_BITS, p.hash_bits),
                p.learner,
                p.C if p.C is not None else _RATES[p.learner],
                p.training_iterations,
            )
        except LineError as error:
            raise error.in_file(self.corpus.path or "the corpus") from None
        for number in range(_PRUNER_PASSES):
            if not trainer.pruner_epoch(_PRUNER_RATE, p.random_state, number):
                raise KeyboardInterrupt("interrupted while the pruner was learning")
        heads = trainer.prune()
        self.say(f"{len(trainer.labels)} relations; {heads:.2f} heads a word to choose from")
        self.taggers, self.dev_tags, self.trainer = taggers, dev_tags, trainer
        weights, interrupted = self._seeds()
        self.seconds["parsing"] = time.process_time() - begin
        return self._model(weights), self.history, interrupted

    def _tags(self) -> tuple[Tags, Tags, list[Any]]:
        p = self.parser
        if p.gold_tags:
            return column_tags(), column_tags(), []
        threads = p.n_threads
        train = jackknifed_tags(self.corpus, p.folds, threads, p.random_state, self.say)
        taggers = [
            make_tagger(self.corpus, column, threads, p.random_state).model_
            for column in TAG_COLUMNS
        ]
        dev = column_tags() if self.dev is None else predicted_tags(taggers, self.dev, threads)
        return train, dev, taggers

    def _seeds(self) -> tuple[Any, bool]:
        """Learn with each seed; return the mean of their weights."""
        p = self.parser
        total: Any = None
        for number in range(p.n_models):
            weights, interrupted = self._passes(p.random_state + 1000 * number, number)
            if interrupted and total is not None:
                break  # the seeds that were whole count
            if p.n_models == 1:
                return weights, interrupted
            import numpy as np

            part = np.frombuffer(weights, dtype=np.float32)
            total = part.copy() if total is None else total + part
            self.used = number + 1
            if self.dev is not None and number:
                self._look({"seeds": number + 1}, (total / np.float32(number + 1)).tobytes())
            if interrupted:
                break
        return (total / total.dtype.type(self.used)).tobytes(), interrupted

    def _passes(self, seed: int, number: int) -> tuple[bytes, bool]:
        """Learn with one seed; the weights of the best pass, or of the last without a dev set."""
        self.best: tuple[float, bytes] = (-1.0, b"")
        self.trainer.begin()
        try:
            interrupted = not self._all_passes(seed, number)
        except KeyboardInterrupt:  # between two passes
            interrupted = True
        return self.best[1] or self.trainer.mean(), interrupted

    def _all_passes(self, seed: int, number: int) -> bool:
        """Make the passes of one seed; return False where Ctrl-C ended one of them."""
        p, since = self.parser, 0
        for i in range(1, p.max_iter + 1):
            begin = time.process_time()
            report = self.trainer.epoch(seed, i)
            record: dict[str, Any] = {
                "seed": number,
                "pass": i,
                "wrong": report["wrong"] / max(1, report["tokens"]),
                "updates": report["updates"],
                "inexact": report["inexact"],
                "seconds": round(time.process_time() - begin, 2),
            }
            if not report["complete"]:
                return False
            if self.dev is None:
                self.history.append(record)
                self.say(_line(record))
                continue
            weights = self.trainer.mean()
            score = self._look(record, weights)
            since += 1
            if score > self.best[0]:
                self.best, since = (score, weights), 0
            if p.patience and since >= p.patience:
                break
        return True

    def _look(self, record: dict[str, Any], weights: bytes) -> float:
        """Score weights on the dev set."""
        model = self._model(weights)
        assert self.dev is not None
        assert self.gold is not None
        trees, _ = model.parse_corpus(self.dev, self.dev_tags, self.parser.n_threads)
        found = attachment_report(self.gold, trees)
        record.update(dev_uas=found.uas, dev_las=found.las)
        self.history.append(record)
        self.say(_line(record))
        return found.las

    def _model(self, weights: Any) -> ParserModel:
        p = self.parser
        keys, masks = self.trainer.label_sets()
        return ParserModel(
            labels=self.trainer.labels,
            order=p.order,
            projective=p.projective,
            iterations=p.iterations,
            most=p.most_heads,
            least=p.least_share,
            lemmas=p.lemmas,
            arrays={
                "weights": weights,
                "pruner": self.trainer.pruner_weights(),
                "set_keys": keys,
                "set_masks": masks,
            },
            taggers=self.taggers,
            training={
                "learner": p.learner,
                "C": p.C,
                "n_models": p.n_models,
                "random_state": p.random_state,
                "gold_tags": p.gold_tags,
                "sentences": len(self.corpus),
                "tokens": self.corpus.n_tokens,
                "seconds": {k: round(v, 1) for k, v in self.seconds.items()},
                "history": self.history,
            },
        )


def _line(record: dict[str, Any]) -> str:
    """Return a record as a line of progress."""
    shown = []
    for name, value in record.items():
        text = f"{value:.4f}" if isinstance(value, float) and name != "seconds" else str(value)
        shown.append(f"{name} {text}")
    return "  ".join(shown)


def as_conllu(sentences: Any) -> Corpus:
    """Return a corpus of CoNLL-U made from Python.

    A token is a tuple of the ten columns, or (form, tag), or (form, tag, head, relation); a string
    is a form. The tag is UPOS and XPOS.
    """
    core = _core.Corpus("conllu")
    for number, sentence in enumerate(sentences):
        add_tokens(core, [_row(token, i, number) for i, token in enumerate(sentence, 1)], number)
    return Corpus(core, "conllu")


def _row(token: Any, i: int, number: int) -> tuple[str, ...]:
    cells = (token,) if isinstance(token, str) else tuple(token)
    if len(cells) == 10:
        return tuple(map(str, cells))
    if len(cells) not in (1, 2, 4):
        raise ValueError(
            f"sentence {number}, word {i}: {len(cells)} cells; give (form,), (form, tag), "
            "(form, tag, head, relation) or the ten columns of CoNLL-U"
        )
    form, tag, head, label = (*map(str, cells), "_", "_", "_")[:4]
    return (str(i), form, "_", tag, tag, "_", head, label, "_", "_")
