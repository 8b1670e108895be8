"""Rules of a context-free grammar and their probabilities, counted from trees.

Trees are made binary to the right and *Markovised*: a category remembers the ``vertical`` − 1
categories above it, and what is left of a row of children remembers the last ``horizontal`` of
those before it. Words are read as their tags.

References: M. Johnson (1998), PCFG models of linguistic tree representations; D. Klein &
C. D. Manning (2003), Accurate unlexicalized parsing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .trees import Tree

_ABOVE, _REST, _BESIDE = "^", "@", "|"


class RuleCounts:
    """How often rules are in the trees of a part; counts of parts add up in their order.

    Parameters
    ----------
    trees : sequence of Tree
    vertical, horizontal : int
    sample_weight : iterable of float, optional
        A tree of weight 2 counts twice.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        vertical: int = 2,
        horizontal: int = 2,
        sample_weight: Iterable[float] | None = None,
    ) -> None:
        self._vertical, self._horizontal = vertical, horizontal
        self.binary: Counter[tuple[str, str, str]] = Counter()
        self.unary: Counter[tuple[str, str]] = Counter()
        self.roots: Counter[str] = Counter()
        self.tags: set[str] = set()
        self.names: dict[str, str] = {}
        weights = [1.0] * len(trees) if sample_weight is None else sample_weight
        for tree, weight in zip(trees, weights, strict=True):
            if weight > 0:
                self._count_tree(tree, weight)

    def __add__(self, other: RuleCounts) -> RuleCounts:
        for counts in ("binary", "unary", "roots", "tags", "names"):
            getattr(self, counts).update(getattr(other, counts))
        return self

    def _symbol(self, node: Tree, above: tuple[str, ...]) -> str:
        if node.word is not None:
            self.tags.add(node.label)
            return node.label
        seen = above[: self._vertical - 1]
        found = _ABOVE.join((f"({node.label}", *seen))  # no tag begins with a bracket
        self.names[found] = node.label
        return found

    def _count_tree(self, tree: Tree, weight: Any) -> None:
        self.roots[self._symbol(tree, ())] += weight
        stack: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
        while stack:
            node, above = stack.pop()
            if node.word is None:
                below = self._count_node(node, above, weight)
                stack += [(child, below) for child in reversed(node.children)]

    def _count_node(self, node: Tree, above: tuple[str, ...], weight: Any) -> tuple[str, ...]:
        parent = self._symbol(node, above)
        below = (node.label, *above)[: self._vertical]
        children = [self._symbol(child, below) for child in node.children]
        if len(children) == 1 and children[0] != parent:
            self.unary[parent, children[0]] += weight
        before: list[str] = []
        head = parent
        for k in range(len(children) - 1):
            before.append(node.children[k].label)
            kept = before[-self._horizontal :] if self._horizontal else []
            rest = _BESIDE.join((_REST + parent, *kept))
            last = k == len(children) - 2
            follower = children[-1] if last else rest
            if not last:
                self.names[rest] = ""
            self.binary[head, children[k], follower] += weight
            head = rest
        return below

    def rules(self) -> dict[str, Any]:
        """Return rules with their relative frequencies.

        Returns
        -------
        dict
            symbols: tags first, then categories and rests of rows of children; n_tags; categories:
            of each symbol its name in a tree, empty for rests; binary, unary: the rules as lists of
            symbol numbers; scores: log probabilities of the binary rules, the unary rules, and of
            the roots by symbol.
        """
        binary, unary, roots = self.binary, self.unary, self.roots
        totals: Counter[str] = Counter()
        for (parent, *_), times in (*binary.items(), *unary.items()):
            totals[parent] += times
        symbols = [*sorted(self.tags), *sorted(self.names)]
        index = {name: k for k, name in enumerate(symbols)}
        scores = [math.log(times / totals[rule[0]]) for rule, times in binary.items()]
        scores += [math.log(times / totals[rule[0]]) for rule, times in unary.items()]
        n = sum(roots.values())
        scores += [math.log(roots[s] / n) if s in roots else -math.inf for s in symbols]
        return {
            "symbols": symbols,
            "n_tags": len(self.tags),
            "categories": [self.names.get(s, "") for s in symbols],
            "binary": [[index[s] for s in rule] for rule in binary],
            "unary": [[index[s] for s in rule] for rule in unary],
            "scores": scores,
        }
