"""Learning a parser of constituents: tags by jack-knifing, labels, passes over the trees."""

from __future__ import annotations

import random
import sys
import time
from array import array
from collections import Counter
from typing import Any

from ... import _core
from ...text.trees import Tree
from ..tagging.tagger import Tagger
from .model import ConstituencyModel
from .scores import score_trees

__all__ = ["fit_parser"]

#: Chains of labels seen fewer times are learned as one of their labels.
_LEAST_LABEL = 2
#: Words seen fewer times are their shape and ending.
_LEAST_WORD = 2


def fit_parser(
    parser: Any, trees: list[Tree], dev: list[Tree] | None
) -> tuple[ConstituencyModel, list[dict[str, Any]], bool]:
    """Return the model, a record of the passes, and whether it was interrupted."""
    sentences = [(tree.words, tree.tags) for tree in trees]
    tagger = None
    tags = [tags for _, tags in sentences]
    if not parser.gold_tags:
        _say(parser, f"tagging {len(trees)} sentences in {parser.folds} parts")
        tagger = _train_tagger(parser, sentences)
        if parser.learner != "pcfg":
            tags = jackknife(parser, sentences)
    training: dict[str, Any] = {"learner": parser.learner, "sentences": len(trees)}
    if parser.learner == "pcfg":
        from .pcfg import TreebankGrammar

        grammar = TreebankGrammar.count(trees, parser.vertical, parser.horizontal)
        training.update(vertical=parser.vertical, horizontal=parser.horizontal)
        known = sorted({tag for row in tags for tag in row})
        model = ConstituencyModel([()], known, {}, tagger, "", training, grammar)
        return model, [], False
    run = _Fitting(parser, trees, tags, tagger, training)
    return run.run(dev)


def _train_tagger(parser: Any, sentences: list[tuple[list[str], list[str]]]) -> Tagger:
    tagger = Tagger("pos", names=False, random_state=parser.random_state, n_jobs=parser.n_threads)
    return tagger.fit([list(zip(*sentence, strict=True)) for sentence in sentences])


def jackknife(parser: Any, sentences: list[tuple[list[str], list[str]]]) -> list[list[str]]:
    """Return tags as the tagger predicts them for sentences it has not seen."""
    folds = min(parser.folds, len(sentences))
    if folds < 2:
        return [tags for _, tags in sentences]
    found: list[list[str]] = [[] for _ in sentences]
    for fold in range(folds):
        held = range(fold, len(sentences), folds)
        rest = [s for i, s in enumerate(sentences) if i % folds != fold]
        tagger = _train_tagger(parser, rest)
        predicted = tagger.predict([[(word,) for word in sentences[i][0]] for i in held])
        for i, tags in zip(held, predicted, strict=True):
            found[i] = tags
    return found


class _Fitting:
    """One training run of the discriminative learners."""

    def __init__(
        self,
        parser: Any,
        trees: list[Tree],
        tags: list[list[str]],
        tagger: Tagger | None,
        training: dict[str, Any],
    ) -> None:
        self.parser = parser
        self.tagger = tagger
        self.training = training
        self.tags = sorted({tag for row in tags for tag in row})
        chains = [tree.collapsed() for tree in trees]
        counts = Counter(chain for spans in chains for _, _, chain in spans)
        kept = [chain for chain, times in counts.items() if times >= _LEAST_LABEL]
        self.labels: list[tuple[str, ...]] = [(), *sorted(kept or counts)]
        index = {chain: k for k, chain in enumerate(self.labels)}
        words = Counter(word for tree in trees for word in tree.words)
        frequent = (word for word, times in words.items() if times >= _LEAST_WORD)
        self.known = array("Q", sorted(_core.word_key(word) for word in frequent))
        self.examples = []
        for tree, row, spans in zip(trees, tags, chains, strict=True):
            given = tree.words
            if len(given) > parser.max_length:
                continue
            gold = []
            for begin, end, chain in spans:
                label = self._label(index, counts, chain)
                if len(given) > 1 or chain != ("",):
                    gold.append((begin, end, label))
            self.examples.append((given, row, gold))
        if not self.examples:
            raise ValueError(f"no sentence has at most {parser.max_length} words")

    def _label(
        self, index: dict[tuple[str, ...], int], counts: Counter[Any], chain: tuple[str, ...]
    ) -> int:
        """Return the number of a chain of labels; of a rare one that of its commonest part."""
        if chain in index:
            return index[chain]
        parts = [
            chain[a:b]
            for a in range(len(chain))
            for b in range(a + 1, len(chain) + 1)
            if chain[a:b] in index
        ]
        if parts:
            return index[max(parts, key=lambda part: (len(part), counts[part]))]
        return index[max(index, key=lambda known: counts[known])]

    def run(self, dev: list[Tree] | None) -> tuple[ConstituencyModel, list[dict[str, Any]], bool]:
        parser = self.parser
        begin = time.perf_counter()
        history: list[dict[str, Any]] = []
        weights: Any = None
        interrupted = False
        for number in range(parser.n_models):
            learner = _core.TreeLearner(
                len(self.labels),
                self.tags,
                self.known,
                self.examples,
                parser.min_count,
                0.0 if parser.learner == "perceptron" else parser.cost,
                0.0 if parser.learner == "perceptron" else parser.rate,
                parser.learner == "crf",
            )
            if number == 0:
                _say(
                    parser,
                    f"{len(self.examples)} sentences, {len(self.labels) - 1} labels, "
                    f"{learner.n_features:,} features",
                )
            found, interrupted = self._passes(learner, number, dev, history)
            weights = found if weights is None else _sum(weights, found)
            if interrupted:
                break
        keys, rows, table = weights
        if parser.n_models > 1:
            used = number + 1
            rows, table = _divided(rows, used, "f"), _divided(table, used, "d")
        arrays = {"known": self.known, **_pruned(keys, rows, len(self.labels)), "table": table}
        self.training.update(
            passes=len(history), seconds=round(time.perf_counter() - begin, 1), tags=len(self.tags)
        )
        model = ConstituencyModel(self.labels, self.tags, arrays, self.tagger, "", self.training)
        return model, history, interrupted

    def _passes(
        self, learner: Any, number: int, dev: list[Tree] | None, history: list[dict[str, Any]]
    ) -> tuple[Any, bool]:
        """Return (keys, weights, table) of one learner, and whether it was interrupted."""
        parser = self.parser
        order = list(range(len(self.examples)))
        shuffle = random.Random(f"{parser.random_state} {number}")
        best: Any = None
        best_f1, since = -1.0, 0
        for i in range(1, parser.passes + 1):
            begin = time.perf_counter()
            shuffle.shuffle(order)
            complete, wrong = learner.epoch(array("I", order))
            record: dict[str, Any] = {"pass": i, "wrong": wrong}
            record["seconds"] = round(time.perf_counter() - begin, 2)
            if dev is not None and complete:
                f1 = self._dev_f1(learner, dev)
                record["dev_f1"] = f1
                since += 1
                if f1 > best_f1:
                    best, best_f1, since = (learner.keys(), *learner.average()), f1, 0
            history.append(record)
            shown = f", dev F1 {100 * record['dev_f1']:.2f}" if "dev_f1" in record else ""
            _say(parser, f"pass {i}: {wrong} wrong trees, {record['seconds']:.1f} s{shown}")
            if not complete:
                return best or (learner.keys(), *learner.average()), True
            # The log loss goes on falling when every tree is right.
            done = wrong == 0 and parser.learner != "crf"
            if done or (dev is not None and parser.patience and since >= parser.patience):
                break
        return best or (learner.keys(), *learner.average()), False

    def _dev_f1(self, learner: Any, dev: list[Tree]) -> float:
        rows, table = learner.average()
        arrays = {"known": self.known, "keys": learner.keys(), "weights": rows, "table": table}
        model = ConstituencyModel(self.labels, self.tags, arrays, self.tagger)
        counts, _ = score_trees(model, dev, self.parser.gold_tags, self.parser.n_threads)
        return counts.f1


def _sum(a: Any, b: Any) -> Any:
    """Add the weights of two learners, which have the same features in the same order."""
    import numpy as np

    rows = np.frombuffer(a[1], np.float32) + np.frombuffer(b[1], np.float32)
    table = np.frombuffer(a[2], np.float64) + np.frombuffer(b[2], np.float64)
    return a[0], rows.tobytes(), table.tobytes()


def _divided(values: bytes, by: int, kind: str) -> bytes:
    import numpy as np

    return bytes((np.frombuffer(values, np.dtype(kind)) / np.dtype(kind).type(by)).tobytes())


def _pruned(keys: bytes, rows: bytes, n_labels: int) -> dict[str, Any]:
    """Leave out features whose weights are all 0."""
    import numpy as np

    table = np.frombuffer(rows, np.float32).reshape(-1, n_labels)
    used = (table != 0).any(axis=1)
    return {
        "keys": np.frombuffer(keys, np.uint64)[used].tobytes(),
        "weights": np.ascontiguousarray(table[used]).tobytes(),
    }


def _say(parser: Any, line: str) -> None:
    if parser.verbose:
        print(line, file=sys.stderr, flush=True)
