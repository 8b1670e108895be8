"""Trees of free labelled spans: their parts, core rows, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...array_types import Integers
from ..hypergraph import Hyperedges
from ..parts import Block
from .spans import LabelledSpan, binary_tree, trees


class SpanTrees:
    """The outputs of :class:`Constituency` without a grammar."""

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block."""
        return {"span": Block((n_labels,))}

    def row(self, spans: list[LabelledSpan]) -> Integers:
        """Return the core's row of integers: (label, split) of the binary tree's nodes."""
        n = max((end for _, end, _ in spans), default=0)
        nodes = binary_tree(spans, n)
        return np.array([(label, split) for _, _, label, split in nodes], np.int64).ravel()

    def places(self, spans: list[LabelledSpan], theta: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of a tree as an index into the block."""
        n, _, n_labels = theta["span"].shape
        nodes = np.array([node[:3] for node in binary_tree(spans, n)])
        if not np.issubdtype(nodes.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers: {spans!r}")
        begin, end, label = nodes.T
        low, high = label.min(), label.max()
        if low < 0 or high >= n_labels or any(span[2] == 0 for span in spans):
            raise ValueError(f"labels of spans must be among 1..{n_labels - 1}: {spans!r}")
        return {"span": (begin, end, label)}

    def decode(self, parts: Mapping[str, Any]) -> list[LabelledSpan] | None:
        """Return the labelled spans among the parts."""
        used = np.argwhere(parts["span"]).tolist()
        return sorted(
            ((i, j, r) for i, j, r in used if r > 0), key=lambda span: (span[0], -span[1])
        )

    def edges(self, theta: Mapping[str, Any]) -> Hyperedges:
        """Return the chart: nodes for the body, the child and the follower of every span."""
        n, m, n_labels = np.shape(theta["span"])
        order = [(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)]
        at = {span: 3 * k for k, span in enumerate(order)}
        program = Hyperedges(3 * len(order))
        for (i, j), body in at.items():
            first = (i * m + j) * n_labels
            if j == i + 1:
                program.add(body)
            for k in range(i + 1, j):
                left = at[i, k] + (2 if k == i + 1 else 1)
                program.add(body, tails=[left, at[k, j] + 2])
            for label in range(1, n_labels):
                program.add(body + 1, tails=[body], parts=[first + label])
            program.add(body + 2, tails=[body], parts=[first])
            program.add(body + 2, tails=[body + 1])
        return program

    def outputs(self, theta: Mapping[str, Any]) -> Iterator[list[LabelledSpan]]:
        """Iterate over every tree."""
        n, _, n_labels = np.shape(theta["span"])
        return trees(n, n_labels)

    def count(self, theta: Mapping[str, Any]) -> int:
        """Return the number of trees with a finite score."""
        finite = np.isfinite(theta["span"])
        with np.errstate(over="ignore", invalid="ignore"):
            approximate = _count(finite, np.float64)
        if approximate < 2**53:  # floating point is exact up to here
            return int(approximate)
        return int(_count(finite, object))


def _count(finite: npt.NDArray[np.bool_], dtype: Any) -> Any:
    n = len(finite)
    labelled = finite[..., 1:].sum(axis=-1).astype(dtype)
    every = finite.sum(axis=-1).astype(dtype)
    child = np.zeros((n + 1, n + 1), dtype=dtype)
    follow = np.zeros((n + 1, n + 1), dtype=dtype)
    for i in reversed(range(n)):
        for j in range(i + 1, n + 1):
            word = j == i + 1
            body = 1 if word else child[i, i + 1 : j] @ follow[i + 1 : j, j]
            child[i, j] = body * (every if word else labelled)[i, j]
            follow[i, j] = body * every[i, j]
    return follow[0, n]
