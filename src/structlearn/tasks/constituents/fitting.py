"""Learning a parser of constituents: tags by jack-knifing, labels, a problem."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...estimators.outputs import whole_copies
from ...fitting.jackknife import jackknifed_tags
from ...fitting.presets import preset_of
from ...fitting.task_learning import Learned, learn_task
from ...meter import Meter
from ...problem import Problem
from ...text.corpus import Corpus
from ...text.trees import Tree
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger
from .model import NAMELESS, ConstituencyModel, nameless_label
from .scores import score_trees

__all__ = ["Inventory", "TreeCounts", "TreeFitting", "TreeProblem"]

Vector = npt.NDArray[np.float64]

#: Chains of labels seen fewer times are learned as one of their labels.
_LEAST_LABEL = 2
#: Words seen fewer times are their shape and ending.
_LEAST_WORD = 2
#: Smaller expected counts are left out of steps, if no proven optimum is asked for: it saves time.
_NEGLIGIBLE = 1e-4
#: Learners whose gap is proven, which takes weights of 64 bits.
_CONVEX = ("svm", "crf")


class TreeFitting:
    """One run of learning.

    Parameters
    ----------
    parser : ConstituencyParser
        Whose parameters count.
    trees, dev : list of Tree
    sample_weight : array of shape (n_trees,), optional
        Weights of the trees: how often they count.
    loss_weight : array of shape (n_trees,), optional
        Weights of their losses.
    """

    def __init__(
        self,
        parser: Any,
        trees: list[Tree],
        dev: list[Tree] | None = None,
        sample_weight: Vector | None = None,
        loss_weight: Vector | None = None,
    ) -> None:
        self.parser, self.trees, self.dev = parser, trees, dev
        self.sample_weight, self.loss_weight = sample_weight, loss_weight
        self.n_trees = len(trees)

    def run(self) -> tuple[ConstituencyModel, Learned]:
        """Learn; return the model and the record of the training."""
        parser = self.parser
        tagger, tags = self.tagged()
        training: dict[str, Any] = {"learner": parser.learner, "sentences": self.n_trees}
        if parser.learner == "pcfg":
            return self.counted(tagger, tags, training)
        problem, inventory = self.problem(tags)
        parser._say(
            f"{problem.n_examples} sentences, {len(inventory.labels) - 1} labels, "
            f"{inventory.n_features:,} features",
        )

        def score(weights: Any) -> float:
            model = inventory.model(weights, tagger)
            return score_trees(model, self.dev or [], parser.gold_tags, parser.n_threads)[0].f1

        preset = preset_of("constituency", parser.learner)
        if parser.C in (None, np.inf):
            preset["least"] = _NEGLIGIBLE
        chosen = None if self.dev is None else score
        learned = learn_task(parser, problem, preset=preset, score=chosen, measure="f1")
        model = inventory.model(learned.weights, tagger, pruned=True)
        model.training = {**training, "tags": len(inventory.tags)}
        return model, learned

    def tagged(self) -> tuple[Tagger | None, Any]:
        """Return the tagger that the model has, and the tags that are learned on."""
        parser, trees = self.parser, self.trees
        if parser.gold_tags:
            return None, [tree.tags for tree in trees]
        corpus = tag_corpus(trees, self.sample_weight)
        tagger = make_tagger(parser).fit(corpus)
        if parser.learner == "pcfg":
            return tagger, [tree.tags for tree in trees]
        parser._say(f"tagging {len(trees)} sentences in {parser.folds} folds")
        return tagger, unseen_tags(parser, corpus)

    def counted(
        self, tagger: Tagger | None, tags: list[list[str]], training: dict[str, Any]
    ) -> tuple[ConstituencyModel, Learned]:
        """Count rules; nothing is learned."""
        from ...text.tree_rules import counted_rules
        from .pcfg import TreebankGrammar

        parser = self.parser
        weights = None if self.loss_weight is None else self.loss_weight.tolist()
        counted = counted_rules(self.trees, parser.vertical, parser.horizontal, weights)
        training.update(vertical=parser.vertical, horizontal=parser.horizontal)
        known = sorted({tag for row in tags for tag in row})
        model = ConstituencyModel([()], known, {}, tagger, "", training, TreebankGrammar(**counted))
        history: list[dict[str, Any]] = []
        if self.dev is not None:  # there is nothing to choose by it
            short = [tree for tree in self.dev if len(tree.words) <= model.longest]
            f1 = score_trees(model, short, parser.gold_tags, parser.n_threads)[0].f1
            history.append({"run": 1, "pass": 1, "dev_f1": f1})
            parser._say(f"grammar counted; dev f1 {f1:.4f}")
        return model, Learned(np.zeros(0), 1, history)

    def problem(self, tags: Any) -> tuple[Problem, Inventory]:
        """Return the problem to be solved, and what its weights are of."""
        parser = self.parser
        problem = TreeProblem(
            self.trees,
            tags,
            min_count=parser.min_count,
            max_length=parser.max_words,
            sample_weight=self.sample_weight,
            loss_weight=self.loss_weight,
            dtype=precision(parser),
        )
        return problem, problem.inventory


def precision(parser: Any) -> type[np.floating[Any]]:
    """Return the type of the weights of online learners."""
    return np.float64 if parser.learner in _CONVEX else np.float32


def tag_corpus(trees: list[Tree], sample_weight: Vector | None = None) -> Corpus:
    """Return the words of trees with their tags."""
    rows = [list(zip(tree.words, tree.tags, strict=True)) for tree in trees]
    corpus = Corpus.from_sentences(rows)
    return corpus if sample_weight is None else corpus.weighted(sample_weight.tolist())


def make_tagger(parser: Any, n_models: int | None = None) -> Tagger:
    """Return a tagger that has not learned yet."""
    return Tagger(
        "pos",
        names=False,
        n_models=n_models,
        random_state=parser.random_state,
        n_jobs=parser.n_threads,
    )


def unseen_tags(parser: Any, corpus: Corpus) -> list[list[str]]:
    """Return tags as taggers predict them for sentences that they have not seen."""

    def learn(part: Corpus) -> TaggerModel:
        model: TaggerModel = make_tagger(parser, n_models=1).fit(part).model_
        return model

    with Meter("tagging", min(parser.folds, len(corpus)), shown=bool(parser.verbose)) as meter:
        counted = meter.counting(learn, f"in {parser.folds} folds")
        numbers, names = jackknifed_tags(corpus, parser.folds, counted, parser.n_threads)
    flat = iter(numbers)
    return [[names[k] for k in islice(flat, len(sentence))] for sentence in corpus]


class TreeCounts:
    """How often chains of labels and words are there, and which tags; to be added up over parts.

    Parameters
    ----------
    trees : list of Tree
    tags : list of list of str
        The tags that the features read.
    copies : list of int
        How often each tree counts.
    """

    def __init__(self, trees: list[Tree], tags: list[list[str]], copies: list[int]) -> None:
        self.tags = {tag for row in tags for tag in row}
        self.chains: Counter[tuple[str, ...]] = Counter()
        self.words: Counter[str] = Counter()
        for tree, times in zip(trees, copies, strict=True):
            for begin, end, chain in tree.collapsed():
                if end - begin > 1 or chain != NAMELESS:
                    self.chains[chain] += times
            for word in tree.words:
                self.words[word] += times

    def __add__(self, other: TreeCounts) -> TreeCounts:
        self.tags |= other.tags
        self.chains.update(other.chains)
        self.words.update(other.words)
        return self


class Inventory:
    """What the weights of a parser are of: labels, tags, words and features.

    Attributes
    ----------
    labels : list of tuple of str
        Chains of labels; the first is the empty one.
    tags : list of str
        The different tags.
    known : array
        Keys of the words that are not rare.
    keys : bytes
        Of the features; None while they are not counted.
    """

    def __init__(self, counts: TreeCounts) -> None:
        self.tags, self.chains = sorted(counts.tags), counts.chains
        kept = [chain for chain, times in counts.chains.items() if times >= _LEAST_LABEL]
        self.labels: list[tuple[str, ...]] = [(), *sorted(kept or counts.chains or [NAMELESS])]
        frequent = (word for word, times in counts.words.items() if times >= _LEAST_WORD)
        self.known = array("Q", sorted(_core.word_key(word) for word in frequent))
        self.keys: bytes | None = None

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.keys or b"") // 8

    def examples(
        self, trees: list[Tree], tags: list[list[str]], copies: list[int], numbers: list[int]
    ) -> list[Any]:
        """Return the trees with these numbers as the core takes them."""
        index = {chain: k for k, chain in enumerate(self.labels)}
        nameless = nameless_label(self.labels)

        def spans(tree: Tree) -> list[tuple[int, int, int]]:
            found = []
            for begin, end, chain in tree.collapsed():
                if end - begin > 1 or chain != NAMELESS:
                    label = _label(index, self.chains, chain)
                    if end - begin > 1 or label != nameless:
                        found.append((begin, end, label))
            return found

        return [(trees[i].words, tags[i], spans(trees[i]), copies[i]) for i in numbers]

    def model(
        self, weights: npt.NDArray[Any], tagger: Tagger | None, *, pruned: bool = False
    ) -> ConstituencyModel:
        """Return the model with these weights; ``pruned``: without features that have none."""
        keys = np.frombuffer(self.keys or b"", np.uint64)
        flat = weights.astype(np.float32, copy=False)
        if pruned:
            n = self.n_features * len(self.labels)
            rows = flat[:n].reshape(self.n_features, len(self.labels))
            used = (rows != 0).any(axis=1)
            keys, flat = keys[used], np.concatenate([rows[used].ravel(), flat[n:]])
        arrays = {"known": self.known, "keys": keys.tobytes(), "weights": flat.data}
        return ConstituencyModel(self.labels, self.tags, arrays, tagger)


def copies_of(sample_weight: Vector | None, n_trees: int) -> list[int]:
    """Return how often each tree counts."""
    return [1] * n_trees if sample_weight is None else whole_copies(sample_weight).tolist()


def short_trees(trees: list[Tree], max_length: int) -> list[int]:
    """Return the numbers of trees that are not too long."""
    return [i for i, tree in enumerate(trees) if len(tree.words) <= max_length]


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
        How often trees count.
    loss_weight : array of shape (n_trees,), optional
        Multiplies their losses.
    dtype : {"float32", "float64"}
        Of the weights of online learners.
    inventory : Inventory, optional
        That of all trees, where these are some of them.

    Attributes
    ----------
    inventory : Inventory
        What the weights are of.
    labels : list of tuple of str
        Its labels.
    """

    name = "the trees of a parser"

    def __init__(
        self,
        trees: list[Tree],
        tags: list[list[str]],
        *,
        min_count: int = 1,
        max_length: int = 100,
        sample_weight: Vector | None = None,
        loss_weight: Vector | None = None,
        dtype: npt.DTypeLike = np.float64,
        inventory: Inventory | None = None,
    ) -> None:
        short = short_trees(trees, max_length)
        if not short and inventory is None:
            raise ValueError(f"no sentence has at most {max_length} words")
        copies = copies_of(sample_weight, len(trees))
        self.inventory = inventory or Inventory(TreeCounts(trees, tags, copies))
        self.examples = self.inventory.examples(trees, tags, copies, short)
        self._store = _core.TreeExamples(
            len(self.inventory.labels),
            self.inventory.tags,
            self.inventory.known,
            self.examples,
            min_count,
            self.inventory.keys,
            nameless_label(self.inventory.labels),
        )
        self.inventory.keys = self._store.keys()
        self.labels = self.inventory.labels
        weight = None if loss_weight is None else np.ascontiguousarray(loss_weight[short])
        super().__init__(self._store.problem(weight), sample_weight=weight, dtype=dtype)

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return {
            **super().specification(),
            "labels": self.labels,
            "tags": self.inventory.tags,
            "keys": np.frombuffer(self._store.keys(), np.uint64),
            "examples": self.examples,
        }


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
