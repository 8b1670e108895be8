"""Probabilities of arcs and the best few trees, under a parser of order 1.

Sums over all trees are those of the matrix-tree theorem, or of inside–outside for projective trees.
Arcs that the pruner leaves out have probability 0. With siblings and grandparents (order 2) there
are no exact sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...exceptions import CapabilityError
from ...structures.trees.arborescence import Arborescence
from ...text.corpus import Corpus
from ...text.dependency_tree import DependencyTree
from .model import ParserModel
from .tags import Tags

__all__ = ["ArcSums"]


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
    """

    def __init__(
        self, model: ParserModel, corpus: Corpus, tags: Tags, sentence: int, upos: list[str]
    ) -> None:
        if model.order != 1:
            raise CapabilityError(
                "a parser of order 2 scores pairs of arcs: over non-projective trees there are no "
                "exact sums of them, and over projective ones they are not built. What works: "
                "predict, and with order=1 marginals and the k best trees"
            )
        found = model.core.arcs(corpus._core, tags, model.lemmas, sentence)
        self.words, self.tags = corpus.cells(sentence, "form"), upos
        self.names = model.labels
        self.head, self.word = (np.frombuffer(x, np.uint16).astype(np.intp) for x in found[:2])
        self.label, self._p = (
            np.frombuffer(found[k], np.float64).reshape(len(self.head), -1) for k in (2, 4)
        )
        self._log_partition: float = found[3]
        self.structure = Arborescence(model.projective)
        self.temperature = model.temperature or 1.0

    @property
    def p(self) -> npt.NDArray[np.float64]:
        """Probabilities of the arcs with each relation."""
        if self.temperature == 1.0:
            return self._p
        found = self.structure.marginals(arc=self.dense(), temperature=self.temperature)["arc"]
        p: npt.NDArray[np.float64] = found[self.head, self.word]
        return p

    @property
    def log_partition(self) -> float:
        """T log Σ exp(score / T) over all trees, at the temperature T."""
        if self.temperature == 1.0:
            return self._log_partition
        return float(self.structure.log_partition(arc=self.dense(), temperature=self.temperature))

    def parts(self, tree: Sequence[tuple[int, str]]) -> list[tuple[int, int, str]]:
        """Return the arcs of a tree."""
        return [(m, *arc) for m, arc in enumerate(tree)]

    def certainties(self, tree: Sequence[tuple[int, str]]) -> list[float]:
        """Return the probabilities of the arcs of a tree."""
        words = self.marginals(0.0)
        return [word.get((arc[0], arc[1]), 0.0) for word, arc in zip(words, tree, strict=True)]

    def dense(self) -> npt.NDArray[np.float64]:
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
        found = []
        for value, (heads, labels) in self.structure.kbest(n, arc=self.dense()):
            found.append((value, self._tree(heads, labels)))
        return found

    def sample(self, n: int, random_state: int) -> list[DependencyTree]:
        """Draw n trees from P(tree | sentence)."""
        drawn = self.structure.sample(n, random_state=random_state, arc=self.dense())
        return [self._tree(heads, labels) for heads, labels in drawn]

    def entropy(self) -> float:
        """Return the entropy of P(tree | sentence) in nats."""
        found: float = self.structure.entropy(arc=self.dense())
        return found

    def _tree(self, heads: Any, labels: Any) -> DependencyTree:
        arcs = [(int(h), self.names[r]) for h, r in zip(heads, labels, strict=True)]
        return DependencyTree(arcs, self.words, self.tags)

    def probability(self, tree: Sequence[tuple[int, str]] | None = None) -> float:
        """Return P(tree | sentence); by default of the best tree."""
        dense = self.dense()
        if tree is None:
            return self._share(self.structure.solve(arc=dense).value)
        if len(tree) != len(self.words):
            raise ValueError(f"the sentence has {len(self.words)} words, the tree {len(tree)}")
        index = {name: r for r, name in enumerate(self.names)}
        if any(name not in index for _, name in tree):
            return 0.0  # a relation that the model does not have
        heads = np.array([head for head, _ in tree], dtype=np.intp)
        labels = np.array([index[name] for _, name in tree], dtype=np.intp)
        return self._share(self.structure.score((heads, labels), arc=dense))

    def _share(self, score: float) -> float:
        return min(1.0, math.exp((score - self.log_partition) / self.temperature))

    def describe(self, tree: DependencyTree, score: float | None = None) -> None:
        """Set the probabilities of a tree, whose score may be known, and of its arcs."""
        tree.probability = self.probability(tree) if score is None else self._share(score)
        tree.probabilities = self.certainties(tree)
