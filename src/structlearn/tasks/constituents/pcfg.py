"""A probabilistic context-free grammar of a treebank: the generative baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from ...exceptions import InfeasibleError
from ...structures.trees.constituency import Constituency
from ...structures.trees.grammar import Grammar
from ...text.trees import Tree, tree_from_spans

__all__ = ["TreebankGrammar"]


class TreebankGrammar:
    """Symbols, rules and their log probabilities, and the chart parser over them.

    :func:`~structlearn.text.tree_rules.counted_rules` makes what it is given.

    Parameters
    ----------
    symbols : list of str
        Tags first, then categories and rests of rows of children.
    n_tags : int
        How many of them are tags.
    categories : list of str
        Of each symbol: what it is called in a tree; empty for rests.
    binary, unary : lists of symbol numbers
        The rules.
    scores : sequence of float
        Log probabilities of the binary rules, the unary rules, and of the roots by symbol.
    """

    def __init__(
        self,
        symbols: list[str],
        n_tags: int,
        categories: list[str],
        binary: list[Any],
        unary: list[Any],
        scores: Any,
    ) -> None:
        symbols, categories = list(map(str, symbols)), list(map(str, categories))
        if len(categories) != len(symbols) or not 0 < n_tags <= len(symbols):
            raise ValueError("the symbols of the grammar do not fit together")
        self.symbols = symbols
        self.n_tags = n_tags
        self.categories = categories
        self.grammar = Grammar(len(symbols), binary, unary)
        n, m = len(self.grammar.binary), len(self.grammar.unary)
        flat = np.array(scores, dtype=np.float64)
        if flat.shape != (n + m + len(symbols),) or np.isnan(flat).any() or (flat > 0).any():
            raise ValueError("the probabilities of the grammar do not fit its rules")
        self.scores = flat
        self._structure = Constituency(self.grammar)
        self._blocks: dict[str, Any] = {
            "binary": flat[:n],
            "unary": flat[n : n + m],
            "root": flat[n + m :],
        }
        self._tags = {tag: k for k, tag in enumerate(symbols[:n_tags])}

    # -- parsing --------------------------------------------------------------------------------

    def parse(self, words: list[str], tags: list[str]) -> Tree:
        """Return the most probable tree; a flat one where the grammar derives none."""
        try:
            spans = self._structure.argmax(**self._scores_of(tags))
        except InfeasibleError:
            spans = self._flat(len(words))
        return self._tree(words, tags, spans)

    def kbest(self, words: list[str], tags: list[str], k: int) -> list[tuple[float, Tree]]:
        """Return (log probability, tree) of the k most probable trees."""
        found = self._derivations(tags, k)
        if not found:
            return [(-math.inf, self._tree(words, tags, self._flat(len(words))))]
        return [(float(score), self._tree(words, tags, spans)) for score, spans in found]

    def difference(self, tags: list[str]) -> dict[str, float]:
        """Return what each rule adds to the difference of the scores of the two best trees."""
        scores, found = self._scores_of(tags), defaultdict[str, float](float)
        mine, theirs = (
            self._structure.encode(spans, **scores) for _, spans in self._derivations(tags, 2)
        )
        names = {
            "binary": [self._rule(rule) for rule in self.grammar.binary.tolist()],
            "unary": [self._rule(rule) for rule in self.grammar.unary.tolist()],
            "root": [f"{self._name(k)} on top" for k in range(len(self.symbols))],
        }
        for block, named in names.items():
            times = np.asarray(mine[block] - theirs[block], dtype=np.float64)
            for number in np.flatnonzero(times).tolist():
                before = "" if times[number] > 0 else "runner-up: "
                found[before + named[number]] += float(times[number] * scores[block][number])
        return found

    def _name(self, symbol: int) -> str:
        return self.symbols[symbol].replace("(", "")

    def _rule(self, rule: list[int]) -> str:
        """Return a rule as it is written: NP → DET NOUN."""
        parent, *children = map(self._name, rule)
        return f"{parent} → {' '.join(children)}"

    def _derivations(self, tags: list[str], k: int) -> list[tuple[float, Any]]:
        try:
            found: list[tuple[float, Any]] = self._structure.kbest(k, **self._scores_of(tags))
        except InfeasibleError:
            return []
        return found

    def marginals(self, words: list[str], tags: list[str]) -> dict[tuple[int, int, str], float]:
        """Return P(a node of this category covers this span) by (begin, end, category)."""
        n, m = len(words), len(self.symbols)
        try:
            scores = {**self._scores_of(tags), "span": np.zeros((n, n + 1, m))}
            p = self._structure.marginals(**scores)["span"]
        except InfeasibleError:
            return {}
        found: dict[tuple[int, int, str], float] = {}
        for i, j, k in np.argwhere(p > 1e-12).tolist():
            if self.categories[k]:
                place = (i, j, self.categories[k])
                found[place] = found.get(place, 0.0) + float(p[i, j, k])
        return found

    def sample(self, words: list[str], tags: list[str], n: int, seed: int) -> list[Tree]:
        """Draw n trees; flat ones where the grammar derives none."""
        try:
            drawn = self._structure.sample(n, random_state=seed, **self._scores_of(tags))
        except InfeasibleError:
            drawn = [self._flat(len(words))] * n
        return [self._tree(words, tags, spans) for spans in drawn]

    def entropy(self, words: list[str], tags: list[str]) -> float:
        """Return the entropy of the trees in nats; 0 where the grammar has none."""
        try:
            return float(self._structure.entropy(**self._scores_of(tags)))
        except InfeasibleError:
            return 0.0

    def log_partition(self, words: list[str], tags: list[str]) -> float:
        """Return the log probability of the tags: that of all trees together."""
        try:
            return float(self._structure.log_partition(**self._scores_of(tags)))
        except InfeasibleError:
            return -math.inf

    def _scores_of(self, tags: list[str]) -> dict[str, Any]:
        """Return the score blocks of a sentence.

        An unknown tag is the known one with which the sentence has its best tree, so that a tree
        has one derivation.
        """
        numbers = [self._tags.get(tag) for tag in tags]
        if None in numbers:
            spans = self._structure.argmax(**self._blocks_of(numbers))
            best = {i: k for i, _, k in spans if k < self.n_tags}
            numbers = [best[i] if k is None else k for i, k in enumerate(numbers)]
        return self._blocks_of(numbers)

    def _blocks_of(self, tags: list[int | None]) -> dict[str, Any]:
        """Return the score blocks of a sentence; None may be any tag."""
        scores = np.full((len(tags), len(self.symbols)), -np.inf)
        for i, tag in enumerate(tags):
            scores[i, slice(self.n_tags) if tag is None else tag] = 0.0
        return {"word": scores, **self._blocks}

    def _flat(self, n: int) -> list[Any]:
        return [(0, n, int(np.argmax(self._blocks["root"])))]

    def _tree(self, words: list[str], tags: list[str], spans: list[Any]) -> Tree:
        """Return the tree without rests of children and with the tags that were given."""
        names = ((i, j, self.categories[k]) for i, j, k in spans)
        return tree_from_spans(words, tags, [(i, j, (name,)) for i, j, name in names if name])

    # -- files ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return what a model file says of it, but for the probabilities."""
        return {
            "symbols": self.symbols,
            "n_tags": self.n_tags,
            "categories": self.categories,
            "binary": self.grammar.binary.tolist(),
            "unary": self.grammar.unary.tolist(),
        }
