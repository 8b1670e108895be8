"""Learning a parser of constituents: tags by jack-knifing, labels, a problem."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...array_types import Vector
from ...estimators.outputs import whole_copies
from ...fitting.example_weights import check_sample_weight, refuse_no_weight
from ...fitting.jackknife import jackknifed
from ...fitting.parts import Parts
from ...fitting.presets import preset_of
from ...fitting.split_corpus import SplitCorpus, by_part, in_parts
from ...fitting.task_learning import Learned, learn_task
from ...meter import Meter
from ...problem import Problem
from ...text.bracket_treebank import placed_trees
from ...text.corpus import Corpus
from ...text.tree_rules import RuleCounts
from ...text.trees import Tree
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger
from ..tree_losses import LabelTotals, loss_weights
from .inventory import Examples, Inventory, Keys, TaggedTrees, TreeCounts
from .model import ConstituencyModel
from .pcfg import TreebankGrammar
from .scores import score_trees

#: Smaller expected counts are left out of steps, if no proven optimum is asked for: it saves time.
_NEGLIGIBLE = 1e-4
#: Learners whose gap is proven, which takes weights of 64 bits.
_CONVEX = ("svm", "crf")


class WeightedTrees(NamedTuple):
    """Trees of a part and their weights; None: all 1."""

    trees: list[Tree]
    weights: Vector | None = None


class SplitTrees:
    """A treebank in parts.

    Parameters
    ----------
    parts : Parts
        Trees and weights of each part.

    Attributes
    ----------
    sizes : list of int
        The number of trees of each part.
    n_words : int
        Of all.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        sizes = [one or (0, 0) for one in parts.each(_sizes)]
        self.sizes = [n for n, _ in sizes]
        self.n_words = sum(n for _, n in sizes)

    @staticmethod
    def read(X: Any, format: str | None, **kept: bool) -> SplitTrees:
        """Return the trees of a file or list, or those of its parts."""
        return SplitTrees(in_parts(X, _read, format, kept))

    def __len__(self) -> int:
        return sum(self.sizes)

    def weighted(self, sample_weight: Any) -> SplitTrees:
        """Return the trees with weights ≥ 0; those of weight 0 are left out."""
        weights = check_sample_weight(sample_weight, len(self))
        if weights is None:
            return self
        refuse_no_weight(weights)
        return SplitTrees(self.parts.then(_weighted, own=by_part(weights, self.sizes)))

    def label_totals(self) -> Mapping[str, float]:
        """Return how much the spans with each label weigh."""
        found: LabelTotals = self.parts.sum(_label_totals)
        return found.totals


class TreeFitting:
    """One run of learning.

    Parameters
    ----------
    parser : ConstituencyParser
        Whose parameters count.
    trees : SplitTrees
    dev : list of Tree, optional
    """

    tagger: Tagger | None = None

    def __init__(self, parser: Any, trees: SplitTrees, dev: list[Tree] | None = None) -> None:
        self.parser, self.trees, self.dev = parser, trees, dev
        self.class_weight = parser._label_weights(trees.label_totals)

    def run(self) -> tuple[ConstituencyModel, Learned]:
        """Learn; return the model and the record of the training."""
        parser = self.parser
        if not parser.gold_tags:
            self.tagger = self.new_tagger().fit(self.trees.parts.then(_tag_corpus))
        training: dict[str, Any] = {"learner": parser.learner, "sentences": len(self.trees)}
        if parser.learner == "pcfg":
            return self.counted(training)
        problem = self.problem()
        inventory, tagger = self.inventory, self.tagger
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

    def new_tagger(self, n_models: int | None = None) -> Tagger:
        """Return a tagger that has not learned yet."""
        parser = self.parser
        seed, threads = parser.random_state, parser.n_threads
        return Tagger(
            "pos",
            "perceptron",
            names=False,
            n_models=n_models,
            random_state=seed,
            n_jobs=threads,
        )

    def tagged(self) -> Parts:
        """Return the trees with the tags that are learned on: not from taggers that saw them."""
        if self.tagger is None:
            return self.trees.parts.then(_with_own_tags, self.class_weight)
        folds, n = self.parser.folds, len(self.trees)
        self.parser._say(f"tagging {n} sentences in {folds} folds")

        def learn(rest: SplitCorpus) -> TaggerModel:
            model: TaggerModel = self.new_tagger(n_models=1).fit(rest.parts).model_
            return model

        shown = bool(self.parser.verbose)
        with Meter("tagging", min(folds, n), shown=shown) as meter:
            counted = meter.counting(learn, f"in {folds} folds")
            parts = self.trees.parts.then(_with_corpus)
            predict = partial(_predicted_tags, threads=parts.threads or self.parser.n_threads)
            tags = jackknifed(parts, itemgetter(1), folds, counted, predict)
        return tags.then(_with_tags, self.class_weight)

    def problem(self) -> Problem:
        """Return the problem to be solved; ``inventory`` says what its weights are of."""
        parser, tagged = self.parser, self.tagged()
        self.inventory = inventory = Inventory(tagged.sum(TreeCounts))
        examples = tagged.then(_examples, inventory, parser.max_words)
        keys: Keys | None = examples.sum(_features, inventory)
        if keys is None:
            raise ValueError(f"no sentence has at most {parser.max_words} words")
        inventory.keys = keys.frequent(parser.min_count)
        precision = np.float64 if parser.learner in _CONVEX else np.float32
        return examples.problem(TreeProblem, inventory, precision, n_tokens=self.trees.n_words)

    def counted(self, training: dict[str, Any]) -> tuple[ConstituencyModel, Learned]:
        """Count rules; nothing is learned."""
        parser = self.parser
        shape = parser.vertical, parser.horizontal
        counts: RuleCounts = self.trees.parts.sum(_rules, *shape, self.class_weight)
        refuse_no_weight(sum(counts.roots.values()))
        training.update(vertical=parser.vertical, horizontal=parser.horizontal)
        grammar = TreebankGrammar(**counts.rules())
        model = ConstituencyModel([()], sorted(counts.tags), {}, self.tagger, "", training, grammar)
        history: list[dict[str, Any]] = []
        if self.dev is not None:  # there is nothing to choose by it
            short = [tree for tree in self.dev if len(tree.words) <= model.longest]
            f1 = score_trees(model, short, parser.gold_tags, parser.n_threads)[0].f1
            history.append({"run": 1, "pass": 1, "dev_f1": f1})
            parser._say(f"grammar counted; dev f1 {f1:.4f}")
        return model, Learned(np.zeros(0), 1, history)


class TreeProblem(Problem):
    """Trees with their sentences as a learner sees them.

    Parameters
    ----------
    examples : Examples
    inventory : Inventory
        What the weights are of.
    dtype : {"float32", "float64"}
        Of the weights of online learners.
    """

    name = "the trees of a parser"

    def __init__(
        self, examples: Examples, inventory: Inventory, dtype: npt.DTypeLike = np.float64
    ) -> None:
        self.inventory, self.labels = inventory, inventory.labels
        self._examples, self._store = examples.trees, inventory.stored(examples)
        weight = None if examples.losses is None else np.ascontiguousarray(examples.losses)
        super().__init__(self._store.problem(weight), sample_weight=weight, dtype=dtype)

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return {
            **super().specification(),
            "labels": self.labels,
            "tags": self.inventory.tags,
            "keys": np.frombuffer(self.inventory.keys, np.uint64),
            "examples": self._examples,
        }


# -- what is done where the parts are -------------------------------------------------------------


def _read(source: Any, format: str | None, kept: dict[str, bool]) -> WeightedTrees:
    return WeightedTrees([tree for tree, _ in placed_trees(source, format, **kept)])


def _sizes(part: WeightedTrees) -> tuple[int, int]:
    return len(part.trees), sum(len(tree.words) for tree in part.trees)


def _weighted(part: WeightedTrees, weights: Vector) -> WeightedTrees | None:
    trees = [tree for tree, weight in zip(part.trees, weights, strict=True) if weight]
    return WeightedTrees(trees, weights[weights > 0]) if trees else None


def _labels(tree: Tree) -> list[str]:
    return [label for _, _, label in tree.spans()]


def _label_totals(part: WeightedTrees) -> LabelTotals:
    return LabelTotals(map(_labels, part.trees), part.weights)


def _losses(part: WeightedTrees, class_weight: Mapping[str, float] | None) -> Vector | None:
    return loss_weights(map(_labels, part.trees), part.weights, class_weight)


def _tag_corpus(part: WeightedTrees) -> Corpus:
    rows = [list(zip(tree.words, tree.tags, strict=True)) for tree in part.trees]
    corpus = Corpus.from_sentences(rows)
    return corpus if part.weights is None else corpus.weighted(part.weights.tolist())


def _with_corpus(part: WeightedTrees) -> tuple[WeightedTrees, Corpus]:
    return part, _tag_corpus(part)


def _predicted_tags(model: TaggerModel, corpus: Corpus, threads: int) -> list[str]:
    return [tag for row in model.label_corpus(corpus, threads) for tag in row]


def _with_tags(
    tagged: tuple[tuple[WeightedTrees, Corpus], list[str]],
    class_weight: Mapping[str, float] | None,
) -> TaggedTrees:
    (part, _), flat = tagged
    return _tagged(part, flat, class_weight)


def _with_own_tags(part: WeightedTrees, class_weight: Mapping[str, float] | None) -> TaggedTrees:
    return _tagged(part, [tag for tree in part.trees for tag in tree.tags], class_weight)


def _tagged(
    part: WeightedTrees, tags_of_all: list[str], class_weight: Mapping[str, float] | None
) -> TaggedTrees:
    flat = iter(tags_of_all)
    tags = [list(islice(flat, len(tree.words))) for tree in part.trees]
    copies = [1] * len(tags)
    if part.weights is not None:
        copies = whole_copies(part.weights).tolist()
    return TaggedTrees(part.trees, tags, copies, _losses(part, class_weight))


def _examples(tagged: TaggedTrees, inventory: Inventory, max_words: int) -> Examples | None:
    return inventory.examples(tagged, max_words)


def _features(examples: Examples, inventory: Inventory) -> Keys:
    return inventory.count(examples)


def _rules(
    part: WeightedTrees, vertical: int, horizontal: int, class_weight: Mapping[str, float] | None
) -> RuleCounts:
    return RuleCounts(part.trees, vertical, horizontal, _losses(part, class_weight))
