"""Lists of nested labelled spans (begin, end, label), and their binary trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

#: Begin, end (exclusive) and label.
LabelledSpan = tuple[int, int, Any]

#: Begin, end, label (None or 0: unlabelled) and the end of its left child, 0 for a single word.
BinaryNode = tuple[int, int, Any, int]


def read_spans(y: Any) -> list[LabelledSpan]:
    """Return the spans as tuples, outer before inner and left before right.

    Raises ``ValueError`` if spans cross. Spans of equal extent keep their order: the first is the
    outer one.
    """
    spans: list[LabelledSpan] = []
    for item in y.tolist() if isinstance(y, np.ndarray) else y:
        try:
            begin, end, label = item
            first, last = int(begin), int(end)
        except (TypeError, ValueError):
            raise ValueError(f"a span is (begin, end, label), got {item!r}") from None
        if first != begin or last != end or not 0 <= first < last:
            raise ValueError(f"the span {tuple(item)!r} must begin at 0 or later and not be empty")
        spans.append((first, last, label))
    spans.sort(key=lambda span: (span[0], -span[1]))
    open_ends: list[LabelledSpan] = []
    for span in spans:
        while open_ends and open_ends[-1][1] <= span[0]:
            open_ends.pop()
        if open_ends and span[1] > open_ends[-1][1]:
            raise ValueError(
                f"the spans {open_ends[-1]!r} and {span!r} cross: spans of a tree must be nested"
            )
        open_ends.append(span)
    return spans


def binary_tree(spans: list[LabelledSpan], n: int, unlabelled: Any = 0) -> list[BinaryNode]:
    """Return the one binary tree of nested spans over n words, in preorder.

    A row of children c₁ c₂ … c_m is c₁ beside an unlabelled node over c₂ … c_m, and so on; words
    without a label are unlabelled nodes, and so is the whole if nothing covers it.

    Raises ``ValueError`` if a span ends beyond the words, or two have the same extent.
    """
    labels: dict[tuple[int, int], Any] = {}
    ends: list[list[int]] = [[] for _ in range(n)]  # of the spans that begin here, inner ones last
    for begin, end, label in spans:
        if end > n:
            raise ValueError(f"the span {(begin, end, label)!r} ends beyond the {n} words")
        if (begin, end) in labels:
            raise ValueError(
                f"two spans cover {begin}..{end}: {labels[begin, end]!r} and {label!r}; "
                "join the labels of a unary chain into one"
            )
        labels[begin, end] = label
        ends[begin].append(end)
    nodes: list[BinaryNode] = []
    stack = [(0, n)]
    while stack:
        begin, end = stack.pop()
        label = labels.get((begin, end), unlabelled)
        if end - begin == 1:
            nodes.append((begin, end, label, 0))
            continue
        # The first child: the widest span here that is not the node itself.
        inner = ends[begin]
        while inner and inner[0] >= end:
            inner.pop(0)
        split = inner[0] if inner else begin + 1
        nodes.append((begin, end, label, split))
        stack += [(split, end), (begin, split)]
    return nodes


def trees(n: int, n_labels: int) -> Iterator[list[LabelledSpan]]:
    """Iterate over every set of nested spans over n words with labels 1..n_labels − 1."""

    def follow(i: int, j: int) -> Iterator[list[LabelledSpan]]:
        for inside in body(i, j):
            for label in range(n_labels):
                yield ([(i, j, label)] if label else []) + inside

    def child(i: int, j: int) -> Iterator[list[LabelledSpan]]:
        for tree in follow(i, j):
            if j == i + 1 or (tree and tree[0][:2] == (i, j)):
                yield tree

    def body(i: int, j: int) -> Iterator[list[LabelledSpan]]:
        if j == i + 1:
            yield []
        for k in range(i + 1, j):
            for left in child(i, k):
                for right in follow(k, j):
                    yield left + right

    return follow(0, n)
