"""Rules of a context-free grammar and their probabilities, counted from trees.

Trees are made binary to the right and *Markovised*: a category remembers the ``vertical`` − 1
categories above it, and what is left of a row of children remembers the last ``horizontal`` of
those before it. Words are read as their tags.

References: M. Johnson (1998), PCFG models of linguistic tree representations; D. Klein &
C. D. Manning (2003), Accurate unlexicalized parsing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from .trees import Tree

__all__ = ["counted_rules"]

_ABOVE, _REST, _BESIDE = "^", "@", "|"


def counted_rules(
    trees: Sequence[Tree],
    vertical: int = 2,
    horizontal: int = 2,
    sample_weight: Iterable[float] | None = None,
) -> dict[str, Any]:
    """Estimate rules by relative frequency; a tree of weight 2 counts twice.

    Returns
    -------
    dict
        symbols: tags first, then categories and rests of rows of children; n_tags; categories: of
        each symbol its name in a tree, empty for rests; binary, unary: the rules as lists of symbol
        numbers; scores: log probabilities of the binary rules, the unary rules, and of the roots by
        symbol.
    """
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

    def count(node: Tree, above: tuple[str, ...], weight: float) -> tuple[str, ...]:
        parent = symbol(node, above)
        below = (node.label, *above)[:vertical]
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
        return below

    weights = [1.0] * len(trees) if sample_weight is None else sample_weight
    for tree, weight in zip(trees, weights, strict=True):
        if weight > 0:
            roots[symbol(tree, ())] += weight
            stack: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
            while stack:
                node, above = stack.pop()
                if node.word is None:
                    below = count(node, above, weight)
                    stack += [(child, below) for child in reversed(node.children)]
    totals: defaultdict[str, float] = defaultdict(float)
    for (parent, *_), times in (*binary.items(), *unary.items()):
        totals[parent] += times
    symbols = [*sorted(tags), *sorted(names)]
    index = {name: k for k, name in enumerate(symbols)}
    scores = [math.log(times / totals[rule[0]]) for rule, times in binary.items()]
    scores += [math.log(times / totals[rule[0]]) for rule, times in unary.items()]
    n = sum(roots.values())
    scores += [math.log(roots[s] / n) if s in roots else -math.inf for s in symbols]
    return {
        "symbols": symbols,
        "n_tags": len(tags),
        "categories": [names.get(s, "") for s in symbols],
        "binary": [[index[s] for s in rule] for rule in binary],
        "unary": [[index[s] for s in rule] for rule in unary],
        "scores": scores,
    }
