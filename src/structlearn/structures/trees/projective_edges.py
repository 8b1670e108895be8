"""Eisner's chart as hyperedges: a reference for the native loops, and rows of a program."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..hypergraph import Hyperedges

_RIGHT, _LEFT, _ARC_RIGHT, _ARC_LEFT, _BETWEEN = 3, 4, 1, 2, 0  # in the order of construction


def projective_edges(shapes: Mapping[str, tuple[int, ...]], *, single_root: bool) -> Hyperedges:
    """Return the projective trees as derivations, one each.

    Nodes are the spans i ≤ j of each kind, shorter ones first; see J. Eisner (1996), and R.
    McDonald & F. Pereira (2006) for siblings. O(n³) edges.
    """
    size = shapes["arc"][0]
    labels = prod(shapes["arc"][2:])
    first_pair = prod(shapes["arc"])
    siblings = "sibling" in shapes
    n = size - 1
    order: dict[tuple[int, int, int], int] = {}
    for width in range(size):
        for i in range(size - width):
            for kind in range(5):
                order[kind, i, i + width] = len(order)
    edges = Hyperedges(len(order) + 1)

    def arcs(h: int, m: int) -> range:
        start = (h * size + m) * labels
        return range(start, start + labels)

    def pair(h: int, s: int, m: int) -> list[int]:
        return [first_pair + (h * size + s) * size + m] if siblings else []

    def add_arc(kind: int, i: int, j: int) -> None:
        h, m = (i, j) if kind == _ARC_RIGHT else (j, i)
        ways: list[tuple[list[int], list[int]]] = []
        if not siblings:
            ways.append(([order[_BETWEEN, i, j]], []))
        elif kind == _ARC_RIGHT:
            ways.append(([order[_LEFT, i + 1, j]], pair(h, h, m)))
        else:
            ways.append(([order[_RIGHT, i, j - 1]], pair(h, h, m)))
        for k in range(i + 1, j) if siblings else ():
            before = (kind, i, k) if kind == _ARC_RIGHT else (kind, k, j)
            beside = (_BETWEEN, k, j) if kind == _ARC_RIGHT else (_BETWEEN, i, k)
            ways.append(([order[before], order[beside]], pair(h, k, m)))
        for tails, parts in ways:
            for part in arcs(h, m):
                edges.add(order[kind, i, j], tails, [part, *parts])

    for i in range(size):
        edges.add(order[_RIGHT, i, i])
        edges.add(order[_LEFT, i, i])
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            for k in range(i, j):
                edges.add(order[_BETWEEN, i, j], [order[_RIGHT, i, k], order[_LEFT, k + 1, j]])
            add_arc(_ARC_RIGHT, i, j)
            for k in range(i + 1, j + 1):
                edges.add(order[_RIGHT, i, j], [order[_ARC_RIGHT, i, k], order[_RIGHT, k, j]])
            if i == 0:
                continue
            add_arc(_ARC_LEFT, i, j)
            for k in range(i, j):
                edges.add(order[_LEFT, i, j], [order[_LEFT, i, k], order[_ARC_LEFT, k, j]])
    if not single_root:
        edges.add(len(order), [order[_RIGHT, 0, n]])
        return edges
    for m in range(1, size):
        for part in arcs(0, m):
            edges.add(len(order), [order[_LEFT, 1, m], order[_RIGHT, m, n]], [part, *pair(0, 0, m)])
    return edges
