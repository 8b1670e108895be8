"""The flat weight vector and the meaning of its entries.

A block with R outcomes and d features has weights W[f, r], stored feature by feature, so that the
score of a site reads one row per feature. Rows are dense, or hold only the outcomes seen with a
feature in training (``all_possible_states=False``): in text most features occur with one or two
labels, and the weights then fit in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector
from ..features.hierarchy import ClassHierarchy
from ..features.rows import Examples, FeatureRows


@dataclass
class WeightBlock:
    """The weights of one block.

    Attributes
    ----------
    outcomes : tuple of int
        Shape of one site's outcomes.
    n_features : int
        Number of features; 1 for a shared block, whose weights are its scores.
    shared : bool
        Whether it is without features.
    offset, size : int
        Its place in the flat vector.
    row_ptr, column : arrays or None
        Sparse rows: feature f has weights for the outcomes ``column[row_ptr[f]:row_ptr[f+1]]``.
    real : uint8 array or None
        Sparse rows that are nearly full are stored full, for vectorised addition; 0 marks the
        padding, which stays zero.
    mask : array or None
        0, or −∞ where a constraint forbids the outcome: in the shape ``outcomes``, or, if a
        position has several sites, in their shape and the outcomes'.
    hierarchy : ClassHierarchy or None
        Classes that share weights.
    """

    outcomes: tuple[int, ...]
    n_features: int
    shared: bool
    offset: int = 0
    row_ptr: npt.NDArray[np.uint32] | None = None
    column: npt.NDArray[np.uint32] | None = None
    real: npt.NDArray[np.uint8] | None = None
    mask: Vector | None = None
    hierarchy: ClassHierarchy | None = None

    @property
    def n_columns(self) -> int:
        """Number of weights in a dense row."""
        return self.hierarchy.n_columns if self.hierarchy else prod(self.outcomes)

    @property
    def n_weights(self) -> int:
        """Number of weights not fixed at zero."""
        return self.size if self.real is None else int(self.real.sum())

    @property
    def size(self) -> int:
        """Number of stored weights."""
        if self.column is not None:
            return len(self.column)
        return self.n_features * self.n_columns

    def _positions(self) -> Integers:
        """Return the index of each stored weight in the dense (features, columns) matrix."""
        assert self.row_ptr is not None
        assert self.column is not None
        rows = np.repeat(np.arange(self.n_features, dtype=np.int64), np.diff(self.row_ptr))
        return rows * self.n_columns + self.column

    def to_dense(self, weights: Vector) -> Vector:
        """Return the weights, shape outcomes + (features,); without the last axis if shared."""
        flat = weights
        if self.column is not None:
            flat = np.zeros(self.n_features * self.n_columns)
            flat[self._positions()] = weights
        table: Vector = flat.reshape(self.n_features, self.n_columns).T
        if self.hierarchy:
            table = self.hierarchy.expand(table)
        table = np.ascontiguousarray(table).reshape(*self.outcomes, self.n_features)
        return table[..., 0].copy() if self.shared else table

    def from_dense(self, table: Any) -> Vector:
        """Return the stored weights of a dense array; the inverse of :meth:`to_dense`."""
        shape = self.outcomes if self.shared else (*self.outcomes, self.n_features)
        array = np.asarray(table, dtype=np.float64)
        if array.shape != shape or self.hierarchy:
            raise ValueError(f"expected weights of shape {shape}, got {array.shape}")
        flat = np.ascontiguousarray(array.reshape(self.n_columns, self.n_features).T).ravel()
        return flat if self.column is None else flat[self._positions()]


class WeightLayout:
    """All blocks of a model's weights.

    Parameters
    ----------
    blocks : dict of str to WeightBlock or None
        In the order of the structure; None for an absent block.
    """

    def __init__(self, blocks: dict[str, WeightBlock | None]) -> None:
        self.blocks = blocks
        self.n_weights = 0
        for block in blocks.values():
            if block is not None:
                block.offset = self.n_weights
                self.n_weights += block.size

    def present(self) -> dict[str, WeightBlock]:
        """Return the blocks that exist."""
        return {name: b for name, b in self.blocks.items() if b is not None}

    def coef(self, w: Vector) -> dict[str, Vector]:
        """Return the weights as dense arrays by block."""
        return {
            name: b.to_dense(w[b.offset : b.offset + b.size]) for name, b in self.present().items()
        }

    def rows(self, name: str, w: Vector) -> tuple[Any, Any, Vector]:
        """Return row pointers, columns and weights of a block with sparse rows."""
        block = self.blocks[name]
        assert block is not None
        return block.row_ptr, block.column, w[block.offset : block.offset + block.size]

    def table(self, name: str, w: Vector) -> Vector:
        """Return the weights of a block without features, −∞ for forbidden outcomes."""
        block = self.blocks[name]
        assert block is not None
        values = w[block.offset : block.offset + block.size]
        return values.copy() if block.mask is None else values + block.mask.ravel()

    def pack(self, coef: dict[str, Any]) -> Vector:
        """Return the flat vector from dense arrays by block."""
        blocks = self.present()
        if set(coef) != set(blocks):
            raise ValueError(f"expected the blocks {sorted(blocks)}, got {sorted(coef)}")
        return np.concatenate([b.from_dense(coef[name]) for name, b in blocks.items()])

    def specification(self, examples: Examples) -> list[dict[str, Any]]:
        """Return the arguments of the core to score these examples, block by block."""
        specs: list[dict[str, Any]] = []
        for name, block in self.blocks.items():
            if block is None:
                specs.append({"kind": "absent"})
                continue
            spec: dict[str, Any] = {
                "kind": "shared",
                "features": block.n_features,
                "offset": block.offset,
                "outcomes": prod(block.outcomes),
                "columns": block.n_columns,
                "row_ptr": block.row_ptr,
                "column": block.column,
                "real": block.real,
                "mask": None if block.mask is None else np.ascontiguousarray(block.mask.ravel()),
            }
            if block.hierarchy:
                spec["member_ptr"] = block.hierarchy.member_ptr
                spec["member"] = block.hierarchy.member
            if not block.shared:
                rows = examples.blocks[name]
                spec["kind"] = "dense" if rows.is_dense else "sparse"
                spec["site_ptr"] = rows.site_ptr
                spec["values"] = rows.values
                spec["indptr"] = rows.indptr
                spec["indices"] = rows.indices
            specs.append(spec)
        return specs

    def grown(self, newer: WeightLayout) -> WeightLayout:
        """Return a layout with the weights of both; ``newer`` has at least as many features."""
        merged: dict[str, WeightBlock | None] = {}
        for name, block in newer.blocks.items():
            old = self.blocks.get(name)
            if block is None or old is None or block.column is None or old.column is None:
                merged[name] = None if block is None else replace(block)
                continue
            keys = np.union1d(block._positions(), old._positions())
            row_ptr = np.searchsorted(
                keys, np.arange(block.n_features + 1, dtype=np.int64) * block.n_columns
            )
            real = np.zeros(len(keys), dtype=np.uint8)
            for layout in (block, old):
                is_real = slice(None) if layout.real is None else layout.real.astype(bool)
                real[np.searchsorted(keys, layout._positions()[is_real])] = 1
            merged[name] = replace(
                block,
                row_ptr=row_ptr.astype(np.uint32),
                column=(keys % block.n_columns).astype(np.uint32),
                real=real,
            )
        return WeightLayout(merged)

    def move(self, w: Vector, target: WeightLayout) -> Vector:
        """Return the weights at their places in a layout that contains this one."""
        moved = np.zeros(target.n_weights)
        for name, block in target.present().items():
            old = self.blocks.get(name)
            if old is None:
                continue
            values = w[old.offset : old.offset + old.size]
            if block.column is None:
                moved[block.offset : block.offset + old.size] = values
            else:
                at = np.searchsorted(block._positions(), old._positions())
                moved[block.offset + at] = values
        return moved


def observed_outcomes(
    rows: FeatureRows | None,
    n_outcomes: int,
    sites: Integers,
    outcomes: Integers,
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.uint8] | None]:
    """Return sparse rows of the outcomes seen with each feature: pointers, columns, real marks.

    Parameters
    ----------
    rows : FeatureRows or None
        None for a shared block.
    n_outcomes : int
        Number of outcomes per site.
    sites, outcomes : int64 arrays
        The gold parts: row number and outcome.
    """
    if rows is None:
        column = np.unique(outcomes).astype(np.uint32)
        return np.array([0, len(column)], dtype=np.uint32), column, None
    assert rows.indptr is not None
    assert rows.indices is not None
    return _core.observed_pairs(
        rows.indptr, rows.indices, sites, outcomes, rows.n_features, n_outcomes
    )


@dataclass
class SeenOutcomes:
    """The outcomes seen with each feature in a part of a corpus; ``+`` joins two parts.

    Attributes
    ----------
    row_ptr, column, real : arrays
        As in :class:`WeightBlock`.
    n_outcomes : int
    """

    row_ptr: npt.NDArray[np.uint32]
    column: npt.NDArray[np.uint32]
    n_outcomes: int
    real: npt.NDArray[np.uint8] | None = None

    def __add__(self, other: SeenOutcomes) -> SeenOutcomes:
        seen = np.union1d(self._places(), other._places())
        begin = np.arange(len(self.row_ptr), dtype=np.int64) * self.n_outcomes
        row_ptr = np.searchsorted(seen, begin).astype(np.uint32)
        return SeenOutcomes(row_ptr, (seen % self.n_outcomes).astype(np.uint32), self.n_outcomes)

    def _places(self) -> Integers:
        rows = np.repeat(np.arange(len(self.row_ptr) - 1, dtype=np.int64), np.diff(self.row_ptr))
        places: Integers = rows * self.n_outcomes + self.column
        return places if self.real is None else places[self.real.astype(bool)]

    def filled(self) -> tuple[Any, Any, Any]:
        """Return row pointers, columns and real marks; nearly full rows are stored full."""
        if self.real is not None:
            return self.row_ptr, self.column, self.real
        return filled_rows(self.row_ptr, self.column, self.n_outcomes)


def filled_rows(row_ptr: Any, column: Any, n_outcomes: int) -> tuple[Any, Any, Any]:
    """Return rows of which nearly full ones are stored full, and marks of the real entries.

    Full rows are added as vectors, which is faster from about a quarter of the outcomes on.
    """
    filled = _core.filled_rows(row_ptr, column, n_outcomes)
    if filled is None:
        return row_ptr, column, None
    begin, within, real = map(np.asarray, filled)
    return begin, within, real
