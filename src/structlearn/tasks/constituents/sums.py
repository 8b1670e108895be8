"""Probabilities of labelled spans and the best few trees of a sentence.

A tree has one derivation in the chart, so inside–outside sums over derivations are sums over trees:
P(tree | sentence) = exp(score − log Σ exp(scores of all trees)).
"""

from __future__ import annotations

import math

from ...text.trees import Tree
from .model import ConstituencyModel

__all__ = ["SpanSums"]


class SpanSums:
    """Sums over the trees of one sentence, by a model or its counted grammar."""

    def __init__(self, model: ConstituencyModel, words: list[str], tags: list[str]) -> None:
        self.model, self.words, self.tags = model, words, tags
        self.temperature = model.temperature or 1.0

    def kbest(self, n: int) -> list[tuple[float, Tree]]:
        """Return (score, tree) of the n best trees, best first."""
        model = self.model
        if model.grammar is not None:
            return model.grammar.kbest(self.words, self.tags, n)
        found = model.core.kbest(self.words, self.tags, n)
        return [(score, model.tree(self.words, self.tags, spans)) for score, spans in found]

    @property
    def log_partition(self) -> float:
        """The log of the sum of exp(score / temperature) over all trees.

        −∞ where a grammar derives none.
        """
        if self.model.grammar is not None:
            return self.model.grammar.log_partition(self.words, self.tags)
        core = self.model.tempered(self.temperature)
        return float(core.marginals(self.words, self.tags, 2.0)[0])

    def marginals(self, least: float) -> dict[tuple[int, int, str], float]:
        """Return P(a node with this label covers this span), those of at least ``least``."""
        found: dict[tuple[int, int, str], float] = {}
        if self.model.grammar is not None:
            found = self.model.grammar.marginals(self.words, self.tags)
        else:
            core = self.model.tempered(self.temperature)
            for i, j, x, p in core.marginals(self.words, self.tags, 0.0)[1]:
                # A unary chain has each of its labels.
                for label in dict.fromkeys(self.model.labels[x]):
                    found[i, j, label] = found.get((i, j, label), 0.0) + p
        return {
            span: min(1.0, p)
            for span, p in sorted(found.items(), key=lambda s: (s[0][0], -s[0][1], s[0][2]))
            if p >= least and p > 0 and span[2]
        }

    def sample(self, n: int, random_state: int) -> list[Tree]:
        """Draw n trees from P(tree | sentence)."""
        model = self.model
        if model.grammar is not None:
            return model.grammar.sample(self.words, self.tags, n, random_state)
        core = model.tempered(self.temperature)
        drawn = core.sample(self.words, self.tags, n, random_state)
        return [model.tree(self.words, self.tags, spans) for spans in drawn]

    def entropy(self) -> float:
        """Return the entropy of P(tree | sentence) in nats."""
        if self.model.grammar is not None:
            return self.model.grammar.entropy(self.words, self.tags)
        return float(self.model.tempered(self.temperature).entropy(self.words, self.tags))

    def probability(self, score: float | None = None) -> float:
        """Return P(tree | sentence) of the tree with this score; by default of the best one."""
        if score is None:
            score = self.kbest(1)[0][0]
        if score == -math.inf:  # the grammar derives nothing: the flat tree is a makeshift
            return 0.0
        return min(1.0, math.exp(score / self.temperature - self.log_partition))

    def parts(self, tree: Tree) -> list[tuple[int, int, str]]:
        """Return the labelled spans of a tree, without the node that is written around it."""
        return [s for s in tree.spans() if s[2] and s[2] != self.model.root]

    def certainties(self, tree: Tree) -> list[float]:
        """Return the probabilities of the parts of a tree."""
        found = self.marginals(0.0)
        return [found.get(span, 0.0) for span in self.parts(tree)]

    def describe(self, tree: Tree, score: float | None = None) -> None:
        """Set the probability of the best tree, or of the one with this score."""
        tree.probability = self.probability(score)
