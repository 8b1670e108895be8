"""Probabilities of arcs and the best few trees of a sentence.

Sums over all trees are those of the matrix-tree theorem, or of inside–outside for projective trees;
with siblings and grandparents (order 2) there are sums over projective trees alone. Arcs that the
pruner leaves out have probability 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import CapabilityError
from ...structures.trees.arborescence import Arborescence
from ...structures.trees.heads import check_tree, read_heads
from ...text.corpus import Corpus
from ...text.dependency_tree import DependencyTree
from .model import ParserModel
from .tags import Tags

__all__ = ["ArcSums"]

Reals = npt.NDArray[np.float64]


class _ArcTrees:
    """Trees that are scored by their arcs.

    Parameters
    ----------
    arc : array of shape (n + 1, n + 1, relations)
        −∞ where the pruner leaves no arc.
    """

    def __init__(self, arc: Reals, projective: bool) -> None:
        self.arc, self.structure = arc, Arborescence(projective)

    def sums(self, temperature: float) -> tuple[float, Reals]:
        """Return (T log Σ exp(score / T), probabilities of the arcs)."""
        value, p = self.structure.infer(arc=self.arc, temperature=temperature)
        return value, p["arc"]

    def entropy(self, temperature: float) -> float:
        """Return the entropy in nats."""
        found: float = self.structure.entropy(arc=self.arc, temperature=temperature)
        return found

    def kbest(self, n: int) -> Iterable[tuple[float, tuple[Any, Any]]]:
        """Return (score, (heads, relations)) of the n best trees."""
        found: list[tuple[float, Any]] = self.structure.kbest(n, arc=self.arc)
        return found

    def sample(self, n: int, temperature: float, seed: int) -> Iterable[tuple[Any, Any]]:
        """Draw n trees."""
        drawn: list[Any] = self.structure.sample(
            n, temperature=temperature, random_state=seed, arc=self.arc
        )
        return drawn

    def score(self, heads: Any, labels: Any) -> float:
        """Return the score of a tree."""
        return float(self.structure.score((heads, labels), arc=self.arc))


class _PairTrees:
    """Projective trees that are scored by arcs, siblings and grandparents.

    Parameters
    ----------
    n : int
        Words.
    head, word : arrays of shape (arcs,)
    label : array of shape (arcs, relations)
        Scores.
    pairs : array
        Scores of siblings and grandparents, as the core orders them.
    """

    def __init__(self, n: int, head: Any, word: Any, label: Reals, pairs: Reals) -> None:
        self.n, self.places = n, (head, word)
        self.shape = (n + 1, n + 1, label.shape[1])
        scores = np.concatenate((label.ravel(), pairs))
        self.core = _core.PairTrees(
            n, head.astype(np.uint16), word.astype(np.uint16), label.shape[1], scores
        )

    def sums(self, temperature: float) -> tuple[float, Reals]:
        """Return (T log Σ exp(score / T), probabilities of the arcs)."""
        value, _, parts = self.core.sums(temperature)
        p = np.zeros(self.shape)
        arcs = np.frombuffer(parts, np.float64)[: len(self.places[0]) * self.shape[2]]
        p[self.places] = arcs.reshape(-1, self.shape[2])
        return value, p

    def entropy(self, temperature: float) -> float:
        """Return the entropy in nats."""
        return float(self.core.sums(temperature)[1])

    def kbest(self, n: int) -> Iterable[tuple[float, tuple[Any, Any]]]:
        """Return (score, (heads, relations)) of the n best trees."""
        return ((value, (y[: self.n], y[self.n :])) for value, y in self.core.kbest(n))

    def sample(self, n: int, temperature: float, seed: int) -> Iterable[tuple[Any, Any]]:
        """Draw n trees."""
        return ((y[: self.n], y[self.n :]) for y in self.core.sample(n, temperature, seed))

    def score(self, heads: Any, labels: Any) -> float:
        """Return the score of a tree; −∞ where it is not among the trees."""
        checked = read_heads(heads, self.n)
        check_tree(checked)
        try:
            check_tree(checked, projective=True, single_root=True)
        except ValueError:
            return -math.inf
        return self.core.score([*checked.tolist(), *labels])


class ArcSums:
    """The scores of a sentence's arcs, and sums over its trees.

    Parameters
    ----------
    sentence : int
        Of the corpus.
    tags : list
        As the native parser takes them.
    upos : list of str
        The tags of the sentence.
    projective : bool
        Sum over projective trees alone, also where the parser knows others.
    """

    def __init__(
        self,
        model: ParserModel,
        corpus: Corpus,
        tags: Tags,
        sentence: int,
        upos: list[str],
        projective: bool = False,
    ) -> None:
        if not (model.has_temperature or projective):
            raise CapabilityError(
                "a parser of order 2 scores pairs of arcs: over non-projective trees there are no "
                "exact sums of them. What works: predict; with order=1 or projective=True "
                "marginals, draws and the k best trees too"
            )
        found = model.core.arcs(corpus.core, tags, model.lemmas, sentence, projective)
        self.words, self.tags = corpus.cells(sentence, "form"), upos
        self.names = model.labels
        self.head, self.word = (np.frombuffer(x, np.uint16).astype(np.intp) for x in found[:2])
        self.label, self._p = (
            np.frombuffer(found[k], np.float64).reshape(len(self.head), -1) for k in (2, 4)
        )
        self._log_partition: float = found[3]
        self._pairs = np.frombuffer(found[5], np.float64) if model.order == 2 else None
        self._projective = projective or model.projective
        self.temperature = model.temperature or 1.0

    @property
    def trees(self) -> _ArcTrees | _PairTrees:
        """All trees with their scores."""
        if self._pairs is None:
            return _ArcTrees(self.dense(), self._projective)
        return _PairTrees(len(self.words), self.head, self.word, self.label, self._pairs)

    @property
    def p(self) -> Reals:
        """Probabilities of the arcs with each relation."""
        if self.temperature == 1.0:
            return self._p
        p: Reals = self.trees.sums(self.temperature)[1][self.head, self.word]
        return p

    @property
    def log_partition(self) -> float:
        """T log Σ exp(score / T) over all trees, at the temperature T."""
        if self.temperature == 1.0:
            return self._log_partition
        return self.trees.sums(self.temperature)[0]

    def parts(self, tree: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
        """Return the arcs of a tree."""
        return [(m, *arc) for m, arc in enumerate(tree)]

    def certainties(self, tree: Sequence[tuple[int, str]]) -> list[float]:
        """Return the probabilities of the arcs of a tree."""
        words = self.marginals(0.0)
        return [word.get((arc[0], arc[1]), 0.0) for word, arc in zip(words, tree, strict=True)]

    def dense(self) -> Reals:
        """Return the scores of all arcs with all relations: (n + 1, n + 1, R), −∞ for others."""
        n = len(self.words) + 1
        out = np.full((n, n, len(self.names)), -np.inf)
        out[self.head, self.word] = self.label
        return out

    def marginals(self, least: float) -> list[dict[tuple[int, str], float]]:
        """Return P(head, relation) of each word, those of at least ``least``."""
        found: list[dict[tuple[int, str], float]] = [{} for _ in self.words]
        p = self.p
        for arc, label in np.argwhere(p >= max(least, 1e-300)).tolist():
            place = (int(self.head[arc]), self.names[label])
            found[self.word[arc] - 1][place] = min(1.0, float(p[arc, label]))
        return found

    def kbest(self, n: int) -> list[tuple[float, DependencyTree]]:
        """Return the n best trees with their scores, best first."""
        return [(value, self._tree(*tree)) for value, tree in self.trees.kbest(n)]

    def sample(self, n: int, random_state: int) -> list[DependencyTree]:
        """Draw n trees from P(tree | sentence)."""
        drawn = self.trees.sample(n, self.temperature, random_state)
        return [self._tree(*tree) for tree in drawn]

    def entropy(self) -> float:
        """Return the entropy of P(tree | sentence) in nats."""
        return self.trees.entropy(self.temperature)

    def _tree(self, heads: Any, labels: Any) -> DependencyTree:
        arcs = [(int(h), self.names[r]) for h, r in zip(heads, labels, strict=True)]
        return DependencyTree(arcs, self.words, self.tags)

    def probability(self, tree: Sequence[tuple[int, str]] | None = None) -> float:
        """Return P(tree | sentence); by default of the best tree."""
        if tree is None:
            (best,) = self.trees.kbest(1)
            return self._share(best[0])
        if len(tree) != len(self.words):
            raise ValueError(f"the sentence has {len(self.words)} words, the tree {len(tree)}")
        index = {name: r for r, name in enumerate(self.names)}
        if any(name not in index for _, name in tree):
            return 0.0  # a relation that the model does not have
        heads = np.array([head for head, _ in tree], dtype=np.intp)
        labels = np.array([index[name] for _, name in tree], dtype=np.intp)
        return self._share(self.trees.score(heads, labels))

    def _share(self, score: float) -> float:
        return min(1.0, math.exp((score - self.log_partition) / self.temperature))

    def describe(self, tree: DependencyTree, score: float | None = None) -> None:
        """Set the probabilities of a tree, whose score may be known, and of its arcs."""
        tree.probability = self.probability(tree) if score is None else self._share(score)
        tree.probabilities = self.certainties(tree)
