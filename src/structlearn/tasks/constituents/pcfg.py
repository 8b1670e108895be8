"""A probabilistic context-free grammar counted from a treebank: the generative baseline.

Rules are estimated by relative frequency from trees that are made binary to the right and
*Markovised*: a category remembers the ``vertical`` − 1 categories above it, and what is left of a
row of children remembers the last ``horizontal`` of those before it. Words are read as their tags.
Reference: M. Johnson (1998), PCFG models of linguistic tree representations; D. Klein &
C. D. Manning (2003), Accurate unlexicalized parsing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...exceptions import InfeasibleError
from ...structures.trees.constituency import Constituency
from ...structures.trees.grammar import Grammar
from ...text.trees import Tree

__all__ = ["TreebankGrammar"]

_ABOVE, _REST, _BESIDE = "^", "@", "|"


class TreebankGrammar:
    """Symbols, rules and their log probabilities, and the chart parser over them.

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

    # -- counting -------------------------------------------------------------------------------

    @classmethod
    def count(
        cls,
        trees: Sequence[Tree],
        vertical: int = 2,
        horizontal: int = 2,
        sample_weight: npt.NDArray[np.float64] | None = None,
    ) -> TreebankGrammar:
        """Estimate the rules by relative frequency; a tree of weight 2 counts twice."""
        binary: defaultdict[tuple[str, str, str], float] = defaultdict(float)
        unary: defaultdict[tuple[str, str], float] = defaultdict(float)
        roots: defaultdict[str, float] = defaultdict(float)
        tags: set[str] = set()
        names: dict[str, str] = {}

        def symbol(node: Tree, above: tuple[str, ...]) -> str:
            if node.word is not None:
                tags.add(node.label)
                return node.label
            seen = above[: vertical - 1]
            found = _ABOVE.join((f"({node.label}", *seen))  # no tag begins with a bracket
            names[found] = node.label
            return found

        def visit(node: Tree, above: tuple[str, ...], weight: float) -> None:
            if node.word is not None:
                return
            parent = symbol(node, above)
            below = (node.label, *above)
            children = [symbol(child, below) for child in node.children]
            if len(children) == 1 and children[0] != parent:
                unary[parent, children[0]] += weight
            before: list[str] = []
            head = parent
            for k in range(len(children) - 1):
                before.append(node.children[k].label)
                kept = before[-horizontal:] if horizontal else []
                rest = _BESIDE.join((_REST + parent, *kept))
                last = k == len(children) - 2
                follower = children[-1] if last else rest
                if not last:
                    names[rest] = ""
                binary[head, children[k], follower] += weight
                head = rest
            for child in node.children:
                visit(child, below, weight)

        weights = [1.0] * len(trees) if sample_weight is None else sample_weight.tolist()
        for tree, weight in zip(trees, weights, strict=True):
            if weight > 0:
                roots[symbol(tree, ())] += weight
                visit(tree, (), weight)
        totals: defaultdict[str, float] = defaultdict(float)
        for (parent, *_), times in (*binary.items(), *unary.items()):
            totals[parent] += times
        symbols = [*sorted(tags), *sorted(names)]
        index = {name: k for k, name in enumerate(symbols)}
        scores = [math.log(times / totals[rule[0]]) for rule, times in binary.items()]
        scores += [math.log(times / totals[rule[0]]) for rule, times in unary.items()]
        n = sum(roots.values())
        scores += [math.log(roots[s] / n) if s in roots else -math.inf for s in symbols]
        return cls(
            symbols,
            len(tags),
            [names.get(s, "") for s in symbols],
            [[index[s] for s in rule] for rule in binary],
            [[index[s] for s in rule] for rule in unary],
            scores,
        )

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
        asked = k
        while True:
            try:
                found = self._structure.kbest(asked, **self._scores_of(tags))
            except InfeasibleError:
                found = []
            if not found:
                return [(-math.inf, self._tree(words, tags, self._flat(len(words))))]
            # An unknown tag may be any: derivations that differ in that alone are one tree.
            best: dict[Tree, float] = {}
            for score, spans in found:
                best.setdefault(self._tree(words, tags, spans), float(score))
            if len(best) >= k or len(found) < asked:
                return [(score, tree) for tree, score in best.items()][:k]
            asked *= 2

    def marginals(self, words: list[str], tags: list[str]) -> dict[tuple[int, int, str], float]:
        """Return P(a node of this category covers this span) by (begin, end, category)."""
        n, m = len(words), len(self.symbols)
        scores = {**self._scores_of(tags), "span": np.zeros((n, n + 1, m))}
        try:
            p = self._structure.marginals(**scores)["span"]
        except InfeasibleError:
            return {}
        found: dict[tuple[int, int, str], float] = {}
        for i, j, k in np.argwhere(p > 1e-12).tolist():
            if self.categories[k]:
                place = (i, j, self.categories[k])
                found[place] = found.get(place, 0.0) + float(p[i, j, k])
        return found

    def log_partition(self, words: list[str], tags: list[str]) -> float:
        """Return the log probability of the tags: that of all trees together."""
        try:
            return float(self._structure.log_partition(**self._scores_of(tags)))
        except InfeasibleError:
            return -math.inf

    def _scores_of(self, tags: list[str]) -> dict[str, Any]:
        """Return the score blocks of a sentence; an unknown tag may be any."""
        scores = np.full((len(tags), len(self.symbols)), -np.inf)
        for i, tag in enumerate(tags):
            known = self._tags.get(tag)
            scores[i, slice(self.n_tags) if known is None else known] = 0.0
        return {"word": scores, **self._blocks}

    def _flat(self, n: int) -> list[Any]:
        return [(0, n, int(np.argmax(self._blocks["root"])))]

    def _tree(self, words: list[str], tags: list[str], spans: list[Any]) -> Tree:
        """Return the tree without rests of children and with the tags that were given."""
        root = Tree("")
        stack = [(root, len(words))]
        at = 0

        def fill(until: int) -> None:
            nonlocal at
            while at < until:
                while stack[-1][1] <= at:
                    stack.pop()
                stack[-1][0].children.append(Tree(tags[at], (), words[at]))
                at += 1

        for begin, end, k in spans:
            if not self.categories[k]:
                continue
            fill(begin)
            while stack[-1][1] <= begin:
                stack.pop()
            node = Tree(self.categories[k])
            stack[-1][0].children.append(node)
            stack.append((node, end))
        fill(len(words))
        if len(root.children) == 1 and root.children[0].word is None:
            return root.children[0]
        return root

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

    def scores_as_bytes(self) -> bytes:
        """Return the probabilities."""
        return self.scores.tobytes()

    @classmethod
    def from_json(cls, d: dict[str, Any], scores: Any) -> TreebankGrammar:
        """Return the grammar of a model file."""
        return cls(
            list(map(str, d["symbols"])),
            int(d["n_tags"]),
            list(map(str, d["categories"])),
            d["binary"],
            d["unary"],
            scores,
        )
