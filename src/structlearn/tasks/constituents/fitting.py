"""Learning a parser of constituents: tags by jack-knifing, labels, a problem."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...meter import Meter
from ...problem import Problem
from ...text.corpus import Corpus
from ...text.trees import Tree
from ..jackknife import jackknifed_tags
from ..learning import Learned, learn_task
from ..presets import preset_of
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger
from .model import ConstituencyModel
from .scores import score_trees

__all__ = ["TreeProblem", "fit_parser"]

#: Chains of labels seen fewer times are learned as one of their labels.
_LEAST_LABEL = 2
#: Words seen fewer times are their shape and ending.
_LEAST_WORD = 2
#: Smaller expected counts are left out of steps, if no proven optimum is asked for: it saves time.
_NEGLIGIBLE = 1e-4
#: Learners whose gap is proven, which takes weights of 64 bits.
_CONVEX = ("svm", "crf")


def fit_parser(
    parser: Any,
    trees: list[Tree],
    dev: list[Tree] | None,
    sample_weight: npt.NDArray[np.float64] | None = None,
) -> tuple[ConstituencyModel, Learned]:
    """Return the model and the record of the training."""
    tags = [tree.tags for tree in trees]
    tagger = None
    if not parser.gold_tags:
        rows = [list(zip(tree.words, tree.tags, strict=True)) for tree in trees]
        corpus = Corpus.from_sentences(rows)
        tagger = _make_tagger(parser, corpus)
        if parser.learner != "pcfg":
            parser._say(f"tagging {len(trees)} sentences in {parser.folds} folds")
            tags = _unseen_tags(parser, corpus)
    training: dict[str, Any] = {"learner": parser.learner, "sentences": len(trees)}
    if parser.learner == "pcfg":
        from ...text.tree_rules import counted_rules
        from .pcfg import TreebankGrammar

        weights = None if sample_weight is None else sample_weight.tolist()
        counted = counted_rules(trees, parser.vertical, parser.horizontal, weights)
        training.update(vertical=parser.vertical, horizontal=parser.horizontal)
        known = sorted({tag for row in tags for tag in row})
        model = ConstituencyModel([()], known, {}, tagger, "", training, TreebankGrammar(**counted))
        history: list[dict[str, Any]] = []
        if dev is not None:  # there is nothing to choose by it
            short = [tree for tree in dev if len(tree.words) <= model.longest]
            f1 = score_trees(model, short, parser.gold_tags, parser.n_threads)[0].f1
            history.append({"run": 1, "pass": 1, "dev_f1": f1})
            parser._say(f"grammar counted; dev f1 {f1:.4f}")
        return model, Learned(np.zeros(0), 1, history)
    problem = TreeProblem(
        trees,
        tags,
        min_count=parser.min_count,
        max_length=parser.max_length,
        sample_weight=sample_weight,
        dtype=np.float64 if parser.learner in _CONVEX else np.float32,
    )
    parser._say(
        f"{problem.n_examples} sentences, {len(problem.labels) - 1} labels, "
        f"{problem.n_features:,} features",
    )

    def score(weights: Any) -> float:
        model = problem.model(weights, tagger)
        return score_trees(model, dev or [], parser.gold_tags, parser.n_threads)[0].f1

    preset = preset_of("constituency", parser.learner)
    if parser.C in (None, np.inf):
        preset["least"] = _NEGLIGIBLE
    learned = learn_task(
        parser, problem, preset=preset, score=None if dev is None else score, measure="f1"
    )
    model = problem.model(learned.weights, tagger, pruned=True)
    model.training = {**training, "tags": len(problem.tags)}
    return model, learned


def _make_tagger(parser: Any, corpus: Corpus, n_models: int | None = None) -> Tagger:
    return Tagger(
        "pos",
        names=False,
        n_models=n_models,
        random_state=parser.random_state,
        n_jobs=parser.n_threads,
    ).fit(corpus)


def _unseen_tags(parser: Any, corpus: Corpus) -> list[list[str]]:
    """Return tags as taggers predict them for sentences that they have not seen."""

    def learn(part: Corpus) -> TaggerModel:
        model: TaggerModel = _make_tagger(parser, part, n_models=1).model_
        return model

    with Meter("tagging", min(parser.folds, len(corpus)), shown=bool(parser.verbose)) as meter:
        counted = meter.counting(learn, f"in {parser.folds} folds")
        numbers, names = jackknifed_tags(corpus, parser.folds, counted, parser.n_threads)
    flat = iter(numbers)
    return [[names[k] for k in islice(flat, len(sentence))] for sentence in corpus]


class TreeProblem(Problem):
    """Trees with their sentences as a learner sees them.

    Parameters
    ----------
    trees : list of Tree
    tags : list of list of str
        The tags that the features read.
    min_count : int
        Leave out features that gold trees have fewer times.
    max_length : int
        Leave out longer sentences.
    sample_weight : array of shape (n_trees,), optional
    dtype : {"float32", "float64"}
        Of the weights of online learners.

    Attributes
    ----------
    labels : list of tuple of str
        Chains of labels; the first is the empty one.
    tags : list of str
        The different tags.
    """

    name = "the trees of a parser"

    def __init__(
        self,
        trees: list[Tree],
        tags: list[list[str]],
        *,
        min_count: int = 1,
        max_length: int = 100,
        sample_weight: npt.NDArray[np.float64] | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        self.tags = sorted({tag for row in tags for tag in row})
        chains = [tree.collapsed() for tree in trees]
        counts = Counter(chain for spans in chains for _, _, chain in spans)
        kept = [chain for chain, times in counts.items() if times >= _LEAST_LABEL]
        self.labels: list[tuple[str, ...]] = [(), *sorted(kept or counts)]
        index = {chain: k for k, chain in enumerate(self.labels)}
        words = Counter(word for tree in trees for word in tree.words)
        frequent = (word for word, times in words.items() if times >= _LEAST_WORD)
        self.known = array("Q", sorted(_core.word_key(word) for word in frequent))
        short = [i for i, tree in enumerate(trees) if len(tree.words) <= max_length]
        if not short:
            raise ValueError(f"no sentence has at most {max_length} words")
        self.examples = [
            (
                trees[i].words,
                tags[i],
                [
                    (begin, end, _label(index, counts, chain))
                    for begin, end, chain in chains[i]
                    if len(trees[i].words) > 1 or chain != ("",)
                ],
            )
            for i in short
        ]
        self._store = _core.TreeExamples(
            len(self.labels), self.tags, self.known, self.examples, min_count
        )
        self.n_features = int(self._store.n_features)
        weight = None if sample_weight is None else np.ascontiguousarray(sample_weight[short])
        super().__init__(self._store.problem(weight), sample_weight=weight, dtype=dtype)

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        keys = np.frombuffer(self._store.keys(), np.uint64)
        return {
            **super().specification(),
            "labels": self.labels,
            "tags": self.tags,
            "keys": keys,
            "examples": self.examples,
        }

    def model(
        self, weights: npt.NDArray[Any], tagger: Tagger | None, *, pruned: bool = False
    ) -> ConstituencyModel:
        """Return the model with these weights; ``pruned``: without features that have none."""
        keys = np.frombuffer(self._store.keys(), np.uint64)
        flat = weights.astype(np.float32, copy=False)
        if pruned:
            n = self.n_features * len(self.labels)
            rows = flat[:n].reshape(self.n_features, len(self.labels))
            used = (rows != 0).any(axis=1)
            keys, flat = keys[used], np.concatenate([rows[used].ravel(), flat[n:]])
        arrays = {"known": self.known, "keys": keys.tobytes(), "weights": flat.data}
        return ConstituencyModel(self.labels, self.tags, arrays, tagger)


def _label(index: dict[tuple[str, ...], int], counts: Counter[Any], chain: tuple[str, ...]) -> int:
    """Return the number of a chain of labels; of a rare chain that of its most frequent part."""
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
