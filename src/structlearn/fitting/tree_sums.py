"""Sums in an order that does not depend on who adds: a fixed binary tree over the shards.

A node of the tree is a range of shards [low, high). It is the sum of two nodes, the left one with
the largest power of two of shards that leaves some for the right one. A worker whose shards are a
run adds up whole nodes and sends one sum for each, at most two for every level of the tree; the
rest is added where they meet. Floating-point sums have the same bits whatever the runs are.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Node = tuple[int, int]


def halves(node: Node) -> tuple[Node, Node]:
    """Return the two nodes that a node of several shards is the sum of."""
    low, high = node
    middle = low + (1 << ((high - low - 1).bit_length() - 1))
    return (low, middle), (middle, high)


def cover(n: int, low: int, high: int) -> list[Node]:
    """Return the largest nodes of the tree over n shards that make up [low, high), in order."""

    def within(node: Node) -> list[Node]:
        if node[0] >= high or node[1] <= low:
            return []
        if low <= node[0] and node[1] <= high:
            return [node]
        return [part for half in halves(node) for part in within(half)]

    return within((0, n)) if n and low < high else []


def add(first: Any, second: Any) -> Any:
    """Return the sum of two results: numbers, arrays, and tuples and dictionaries of them.

    Lists are joined. An array of the first that can be written to is where the sum goes.
    """
    if first is None or second is None:  # a part that is empty adds nothing
        return second if first is None else first
    if type(first) is tuple:
        return tuple(add(a, b) for a, b in zip(first, second, strict=True))
    if type(first) is dict:
        return {key: add(value, second[key]) for key, value in first.items()}
    if _is_array(first) and first.flags.writeable and first.ndim:
        first += second
        return first
    return first + second


def tree_sum(node: Node, value: Callable[[Node], Any]) -> Any:
    """Return the sum of a node.

    Parameters
    ----------
    value : callable
        Gives what is known of a node, None if nothing is; of single shards it knows everything.
    """
    known = value(node)
    if known is not None or node[1] - node[0] == 1:
        return known
    left, right = halves(node)
    return add(tree_sum(left, value), tree_sum(right, value))


def n_bytes(result: Any) -> int:
    """Return the bytes of the arrays of a result."""
    if _is_array(result):
        return int(result.nbytes)
    if isinstance(result, dict):
        return sum(map(n_bytes, result.values()))
    return sum(map(n_bytes, result)) if isinstance(result, (tuple, list)) else 0


def _is_array(value: Any) -> bool:
    """Tell whether a value is an array: without NumPy there is none."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)
