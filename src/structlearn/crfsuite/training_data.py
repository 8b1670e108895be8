"""Labelled sequences, and the learning problems made of them with CRFsuite's features."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector
from ..features.rows import Examples, FeatureRows
from ..losses.costs import Cost
from ..problem.array_problem import ArrayProblem
from ..problem.gold import GoldOutputs
from ..scoring.layout import WeightBlock, WeightLayout, filled_rows
from ..structures.chains.chain import Chain
from .items import as_integer, as_text, read_items


class _Sequence(NamedTuple):
    """Buffers: the number of attributes of each item, their numbers, values (None: 1), labels."""

    lengths: bytes
    attributes: bytes
    values: bytes | None
    labels: bytes
    group: int


class TrainingData:
    """Sequences with labels; names are numbered in the order of first occurrence."""

    def __init__(self) -> None:
        self._names = _core.NameTable()
        self._labels: dict[str, int] = {}
        self._sequences: list[_Sequence] = []

    @property
    def labels(self) -> list[str]:
        """The labels in their order."""
        return list(self._labels)

    @property
    def attributes(self) -> list[str]:
        """The attributes in their order."""
        return self._names.names()

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self._names)

    def append(self, xseq: Any, yseq: Iterable[Any], group: int) -> None:
        """Add a sequence; nothing is added if it is refused, or has no items."""
        labels = [as_text(label, "a label") for label in yseq]
        group = as_integer(group, "a group")
        lengths, attributes, values = read_items(self._names, xseq)
        n = len(lengths) // 8
        if n != len(labels):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {n}, |y| = {len(labels)}"
            )
        if n:
            indices = self._labels
            numbers = array("q", [indices.setdefault(label, len(indices)) for label in labels])
            self._sequences.append(_Sequence(lengths, attributes, values, numbers.tobytes(), group))

    def groups(self, holdout: int) -> tuple[list[_Sequence], list[_Sequence]]:
        """Return the sequences for training, and the held-out ones."""
        held = [s for s in self._sequences if s.group == holdout]
        if holdout >= 0 and self._sequences and not held:
            groups = ", ".join(map(str, sorted({s.group for s in self._sequences})))
            raise ValueError(f"holdout={holdout}: no sequence is in this group; groups: {groups}")
        return [s for s in self._sequences if s.group != holdout], held

    def problem(
        self, sequences: list[_Sequence], layout: WeightLayout, cost: Cost | None = None
    ) -> ArrayProblem:
        """Return sequences as a problem, with their labels."""
        rows = self._rows(sequences)
        labels, ptr = _gold(sequences)
        outputs = [labels[ptr[i] : ptr[i + 1]] for i in range(len(sequences))]
        examples = Examples(len(sequences), {"label": rows})
        gold = GoldOutputs(outputs, labels, ptr)
        return ArrayProblem(Chain(), examples, layout, gold, cost)

    def _rows(self, sequences: list[_Sequence]) -> FeatureRows:
        lengths = _joined((s.lengths for s in sequences), np.int64)
        ones = all(s.values is None for s in sequences)
        values = None
        if not ones:
            values = np.concatenate(
                [
                    np.ones(len(s.attributes) // 4) if s.values is None else np.frombuffer(s.values)
                    for s in sequences
                ]
            )
        _, ptr = _gold(sequences)
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        indices = _joined((s.attributes for s in sequences), np.int32)
        return FeatureRows(ptr, self.n_attributes, values, indptr, indices)

    def features(
        self,
        sequences: list[_Sequence],
        *,
        least: float,
        all_states: bool,
        all_transitions: bool,
    ) -> FeatureCounts:
        """Count attributes with labels, and pairs of labels; return those that become features.

        Parameters
        ----------
        least : float
            A feature's values in the data must add up to at least this.
        all_states : bool
            Count every attribute of the data with every label.
        all_transitions : bool
            Count every pair of labels.
        """
        n = len(self._labels)
        rows = self._rows(sequences)
        labels, ptr = _gold(sequences)
        assert rows.indices is not None
        assert rows.indptr is not None
        per_item = np.diff(rows.indptr)
        key = rows.indices.astype(np.int64) * n + np.repeat(labels, per_item)
        state, counts = _totals(key, rows.values)
        if all_states:
            seen = np.unique(rows.indices).astype(np.int64)
            every = (seen[:, np.newaxis] * n + np.arange(n)).ravel()
            state, counts = _with_zeros(state, counts, every)
        state = state[counts >= least]
        begins = np.zeros(len(labels) + 1, dtype=bool)
        begins[ptr] = True
        after = np.flatnonzero(~begins[: len(labels)])
        pair, counts = _totals(labels[after - 1] * n + labels[after], None)
        if all_transitions:
            pair, counts = _with_zeros(pair, counts, np.arange(n * n))
        return FeatureCounts(self.n_attributes, n, state, pair[counts >= least])

    def file(self, layout: WeightLayout, w: Vector) -> bytes:
        """Return the model file of the given weights."""
        return _core.crfsuite_bytes(self.labels, self.attributes, *self.arrays(layout, w))

    def arrays(self, layout: WeightLayout, w: Vector) -> tuple[Any, Any, Vector, Vector]:
        """Return weights in the form of files.

        Returns
        -------
        row_ptr, column : uint32 arrays
            Attribute a has weights for the labels ``column[row_ptr[a]:row_ptr[a + 1]]``.
        weight : array
            Those of attributes with labels.
        transition : array of shape (K, K)
            The weight of each label (column) after each other (row).
        """
        label, transition = layout.blocks["label"], layout.blocks["transition"]
        assert label is not None
        assert transition is not None
        n = len(self._labels)
        table = transition.to_dense(w[transition.offset : transition.offset + transition.size])
        weights = np.ascontiguousarray(w[label.offset : label.offset + label.size])
        return label.row_ptr, label.column, weights, np.ascontiguousarray(table.reshape(n, n))

    def n_active_attributes(self, layout: WeightLayout, w: Vector) -> int:
        """Return the number of attributes with a nonzero weight."""
        block = layout.blocks["label"]
        assert block is not None
        assert block.row_ptr is not None
        active = w[block.offset : block.offset + block.size] != 0
        sums = np.concatenate(([0], np.cumsum(active)))
        return int(np.count_nonzero(np.diff(sums[block.row_ptr])))


class FeatureCounts(NamedTuple):
    """The features of a data set.

    Attributes
    ----------
    n_attributes, n_labels : int
    state : array
        Attribute · n_labels + label of each state feature, increasing.
    transition : array
        Label · n_labels + next label of each transition feature, increasing.
    """

    n_attributes: int
    n_labels: int
    state: Integers
    transition: Integers

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.state) + len(self.transition)

    def layout(self) -> WeightLayout:
        """Return the layout of the weights of these features."""
        n = self.n_labels
        begin = np.searchsorted(self.state, np.arange(self.n_attributes + 1, dtype=np.int64) * n)
        row_ptr, column, real = filled_rows(
            begin.astype(np.uint32), (self.state % n).astype(np.uint32), n
        )
        label = WeightBlock(
            (n,), self.n_attributes, False, row_ptr=row_ptr, column=column, real=real
        )
        pairs = np.array([0, len(self.transition)], dtype=np.uint32)
        transition = WeightBlock(
            (n, n), 1, True, row_ptr=pairs, column=self.transition.astype(np.uint32)
        )
        blocks: dict[str, WeightBlock | None] = dict.fromkeys(Chain().blocks(n))
        return WeightLayout({**blocks, "label": label, "transition": transition})


def _joined(buffers: Iterable[bytes], dtype: Any) -> npt.NDArray[Any]:
    return np.frombuffer(b"".join(buffers), dtype)


def _gold(sequences: list[_Sequence]) -> tuple[Integers, Integers]:
    """Return all labels, and the start of each sequence."""
    labels = _joined((s.labels for s in sequences), np.int64)
    ptr = np.concatenate(([0], np.cumsum([len(s.labels) // 8 for s in sequences])))
    return labels, ptr.astype(np.int64)


def _totals(keys: Integers, values: Vector | None) -> tuple[Integers, Vector]:
    """Return the distinct keys, increasing, and the sum of the values of each (None: ones)."""
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(place, values, minlength=len(distinct)).astype(np.float64)


def _with_zeros(keys: Integers, counts: Vector, every: Integers) -> tuple[Integers, Vector]:
    """Return counts with zeros for additional keys; both are increasing."""
    joined = np.union1d(keys, every)
    filled = np.zeros(len(joined))
    filled[np.searchsorted(joined, keys)] = counts
    return joined, filled
