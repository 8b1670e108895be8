"""Parse trees of a grammar: their parts, core rows, and counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...array_types import Integers
from ..hypergraph import Hyperedges
from ..parts import Block
from .grammar import Grammar
from .spans import LabelledSpan

#: The most orders of unary chains that decoding tries.
_MOST_ORDERS = 10_000


class _Node(NamedTuple):
    """A span with its symbols, outer first, the binary rule below them, and its split."""

    begin: int
    end: int
    symbols: list[int]
    rule: int
    split: int


class GrammarTrees:
    """The outputs of :class:`Constituency` with a grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._chain_index = {chain: k for k, chain in enumerate(grammar.chains)}

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core; labels are the grammar's symbols."""
        g = self.grammar
        return {
            "word": Block((g.n_symbols,)),
            "span": Block((g.n_symbols,), optional=True),
            "binary": Block((len(g.binary),), shared=True, optional=True),
            "unary": Block((len(g.unary),), shared=True, optional=True),
            "root": Block((g.n_symbols,), shared=True, optional=True),
        }

    def nodes(self, spans: list[LabelledSpan], n: int) -> list[_Node]:
        """Return the nodes of a tree in preorder; raise ``ValueError`` if no rule derives it."""
        symbols: dict[tuple[int, int], list[int]] = {}
        ends: dict[int, list[int]] = {}
        for begin, end, label in spans:
            if not isinstance(label, (int, np.integer)) or not 0 <= label < self.grammar.n_symbols:
                raise ValueError(f"{label!r} is not a symbol of the grammar")
            if (begin, end) not in symbols:
                ends.setdefault(begin, []).append(end)
            symbols.setdefault((begin, end), []).append(int(label))
        nodes: list[_Node] = []
        stack = [(0, n)]
        while stack:
            begin, end = stack.pop()
            if (begin, end) not in symbols:
                raise ValueError(f"no symbol covers {begin}..{end}; a tree of a grammar is binary")
            below = symbols[begin, end][-1]
            if end - begin == 1:
                nodes.append(_Node(begin, end, symbols[begin, end], below, 0))
                continue
            split = max((e for e in ends[begin] if e < end), default=0)
            pair = (symbols.get((begin, split)), symbols.get((split, end)))
            if pair[0] is None or pair[1] is None:
                raise ValueError(f"the node {begin}..{end} does not have two children")
            rule = self.grammar.binary_index.get((below, pair[0][0], pair[1][0]))
            if rule is None:
                raise ValueError(f"there is no rule {below} -> {pair[0][0]} {pair[1][0]}")
            nodes.append(_Node(begin, end, symbols[begin, end], rule, split))
            stack += [(split, end), (begin, split)]
        if sum(len(node.symbols) for node in nodes) != len(spans):
            raise ValueError("there are more spans than in a binary tree")
        return nodes

    def _chain(self, symbols: list[int]) -> tuple[int, ...]:
        """Return the unary rules from the last symbol up to the first."""
        rules = []
        for parent, child in zip(symbols[-2::-1], symbols[:0:-1], strict=True):
            rule = self.grammar.unary_index.get((parent, child))
            if rule is None:
                raise ValueError(f"there is no rule {parent} -> {child}")
            rules.append(rule)
        chain = tuple(rules)
        if chain and chain not in self._chain_index:
            raise ValueError(
                f"the unary chain {symbols} repeats a symbol or is longer than max_chain"
            )
        return chain

    def row(self, spans: list[LabelledSpan]) -> Integers:
        """Return the core's row of integers: (symbol or rule, chain, split) of each node."""
        n = max((end for _, end, _ in spans), default=0)
        row: list[int] = []
        for node in self.nodes(spans, n):
            chain = self._chain(node.symbols)
            row += [node.rule, self._chain_index[chain] + 1 if chain else 0, node.split]
        return np.array(row, dtype=np.int64)

    def places(self, spans: list[LabelledSpan], theta: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of a tree as an index into each block."""
        n = len(theta["word"])
        nodes = self.nodes(spans, n)
        chains = [rule for node in nodes for rule in self._chain(node.symbols)]
        inner = [node.rule for node in nodes if node.split]
        words = [node for node in nodes if not node.split]
        whole = [(node.begin, node.end, k) for node in nodes for k in node.symbols]
        return {
            "word": ([node.begin for node in words], [node.rule for node in words]),
            "span": tuple(np.array(whole, dtype=np.int64).T),
            "binary": np.array(inner, dtype=np.int64),
            "unary": np.array(chains, dtype=np.int64),
            "root": np.array([nodes[0].symbols[0]]),
        }

    def decode(self, parts: Mapping[str, Any]) -> list[LabelledSpan] | None:
        """Return the tree, from the span block: rules alone do not determine where they apply.

        If the symbols of a span form several chains, the orders are tried one after another.
        """
        if "span" not in parts:
            raise ValueError("decoding the tree of a grammar needs the span block")
        extents: dict[tuple[int, int], list[int]] = {}
        for i, j, r in np.argwhere(parts["span"]).tolist():
            extents.setdefault((i, j), []).append(r)
        choices = [
            [[(i, j, r) for r in order] for order in self._orders(symbols)]
            for (i, j), symbols in sorted(
                extents.items(), key=lambda item: (item[0][0], -item[0][1])
            )
        ]
        for chains in itertools.islice(itertools.product(*choices), _MOST_ORDERS):
            spans = [span for chain in chains for span in chain]
            try:
                places = self.places(spans, parts)
            except ValueError:
                continue
            for name, target in parts.items():
                counts = np.zeros_like(target)
                np.add.at(counts, places[name], 1.0)
                if not np.array_equal(counts, target):
                    break
            else:
                return spans
        return None

    def _orders(self, symbols: list[int]) -> list[list[int]]:
        """Return the chains of these symbols, outer first."""
        if len(symbols) == 1:
            return [symbols]
        orders = []
        for chain in self.grammar.chains:
            rules = self.grammar.unary[list(chain)]
            ordered = [*rules[::-1, 0].tolist(), int(rules[0, 1])]
            if sorted(ordered) == symbols:
                orders.append(ordered)
        return orders

    def edges(self, theta: Mapping[str, Any]) -> Hyperedges:
        """Return the chart: nodes for every symbol over every span, below and above the chains."""
        g = self.grammar
        n, size = len(theta["word"]), g.n_symbols
        first: dict[str, int] = {}
        total = 0
        for name in self.blocks(size):
            if name in theta:
                first[name] = total
                total += np.size(theta[name])

        def parts(i: int, j: int, symbols: list[int], *others: tuple[str, int]) -> list[int]:
            used = [first[name] + k for name, k in others if name in first]
            if "span" in first:
                used += [first["span"] + (i * (n + 1) + j) * size + a for a in symbols]
            return used

        order = [(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)]
        at = {span: 2 * size * k for k, span in enumerate(order)}
        program = Hyperedges(2 * size * len(order) + 1)
        for (i, j), base in at.items():
            for a in range(size) if j == i + 1 else ():
                program.add(base + a, parts=parts(i, j, [a], ("word", i * size + a)))
            for k in range(i + 1, j):
                for rule, (a, b, c) in enumerate(g.binary.tolist()):
                    tails = [at[i, k] + size + b, at[k, j] + size + c]
                    program.add(base + a, tails, parts(i, j, [a], ("binary", rule)))
            for a in range(size):
                program.add(base + size + a, [base + a])
            for chain in g.chains:
                above = [int(g.unary[rule, 0]) for rule in chain]
                used = parts(i, j, above, *(("unary", rule) for rule in chain))
                program.add(base + size + above[-1], [base + int(g.unary[chain[0], 1])], used)
        for a in range(size):
            top = at[0, n] + size + a
            program.add(program.n_nodes - 1, [top], [first["root"] + a] if "root" in first else [])
        return program

    def outputs(self, theta: Mapping[str, Any]) -> Iterator[list[LabelledSpan]]:
        """Iterate over every tree."""
        g = self.grammar
        n = len(theta["word"])
        by_top: dict[int, list[tuple[int, ...]]] = {}
        for chain in g.chains:
            by_top.setdefault(int(g.unary[chain[-1], 0]), []).append(chain)

        def top(i: int, j: int, symbol: int) -> Iterator[list[LabelledSpan]]:
            yield from base(i, j, symbol)
            for chain in by_top.get(symbol, []):
                rules = g.unary[list(chain)]
                above = [(i, j, int(a)) for a in rules[::-1, 0]]
                for tree in base(i, j, int(rules[0, 1])):
                    yield above + tree

        def base(i: int, j: int, symbol: int) -> Iterator[list[LabelledSpan]]:
            if j == i + 1:
                yield [(i, j, symbol)]
                return
            for parent, left, right in g.binary.tolist():
                if parent != symbol:
                    continue
                for k in range(i + 1, j):
                    for a in top(i, k, left):
                        for b in top(k, j, right):
                            yield [(i, j, symbol), *a, *b]

        for symbol in range(g.n_symbols):
            yield from top(0, n, symbol)

    def count(self, theta: Mapping[str, Any]) -> int:
        """Return the number of trees with a finite score."""
        g = self.grammar
        n = len(theta["word"])
        finite = {name: np.isfinite(a) for name, a in theta.items()}
        span = finite.get("span", np.ones((n, n + 1, g.n_symbols), dtype=bool))
        binary = finite.get("binary", np.ones(len(g.binary), dtype=bool))
        unary = finite.get("unary", np.ones(len(g.unary), dtype=bool))
        rules = [
            (a, b, c) for (a, b, c), legal in zip(g.binary.tolist(), binary, strict=True) if legal
        ]
        chains = [
            ([int(a) for a in g.unary[list(chain), 0]], int(g.unary[chain[0], 1]))
            for chain in g.chains
            if unary[list(chain)].all()
        ]
        tops: dict[tuple[int, int], dict[int, int]] = {}
        for width in range(1, n + 1):
            for i in range(n - width + 1):
                j = i + width
                ways: dict[int, int] = {}
                if width == 1:
                    ways = {int(a): 1 for a in np.flatnonzero(finite["word"][i] & span[i, j])}
                for k in range(i + 1, j):
                    left, right = tops[i, k], tops[k, j]
                    for a, b, c in rules:
                        if b in left and c in right and span[i, j, a]:
                            ways[a] = ways.get(a, 0) + left[b] * right[c]
                above = dict(ways)
                for symbols, bottom in chains:
                    if bottom in ways and all(span[i, j, a] for a in symbols):
                        above[symbols[-1]] = above.get(symbols[-1], 0) + ways[bottom]
                tops[i, j] = above
        root = finite.get("root", np.ones(g.n_symbols, dtype=bool))
        return sum(count for a, count in tops[0, n].items() if root[a])
