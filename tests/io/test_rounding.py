"""Rounding of weights in files: what was rounded once is rounded to itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.io.packed_weights import pack_table
from structlearn.io.weight_tables import compact_tensors

REPEATABLE = settings(derandomize=True, deadline=None, database=None, max_examples=150)
PRECISIONS = ("float32", "float16", "int8")
#: Weights of any size: whole tables of tiny ones, and single large ones among them.
WEIGHTS = st.one_of(
    *(
        arrays(np.float32, 16, elements=st.floats(-most, most, width=32))
        for most in (2.0**-149, 2.0**-140, 2.0**-120, 2.0**-20, 1.0, 2.0**17, 2.0**100)
    )
)
#: Multiples of the smallest float: the codes between them are rounded twice.
MULTIPLES = (0, 1, 4, 5, 6, 7, 9, 11, 21, 40, 50, 99, 200, 300, 384, 1)
TINY = np.array([2.0**-149 * k for k in MULTIPLES], np.float32)
EVEN = (np.arange(16) * np.float32(0.3)).astype(np.float32)


def bytes_of(tensors):
    return {name: (t.dtype, bytes(memoryview(t.data).cast("B"))) for name, t in tensors.items()}


def unpacked(tensors, precision):
    """Return the table, by NumPy alone."""
    present = np.unpackbits(np.asarray(tensors["t.present"].data), bitorder="little")
    values = np.asarray(tensors["t.values"].data)
    if precision == "int8":
        values = np.asarray(tensors["t.codes"].data)[values]
    table = np.zeros(len(present), np.float32)
    table[present == 1] = values
    return table


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_hashed_tables(precision):
    @REPEATABLE
    @given(WEIGHTS)
    @example(TINY)
    @example(EVEN)
    @example(EVEN * np.float32(65520 / 4.5))
    @example(EVEN * np.float32(65519.9 / 4.5))
    def check(w):
        if precision == "float16" and np.isinf(np.abs(w).max().astype(np.float16)):
            with pytest.raises(ValueError, match=r"too large for float16.*precision='float32'"):
                pack_table("t", w, precision)
            return
        first = pack_table("t", w, precision)
        table = unpacked(first, precision)
        if precision == "float32":
            np.testing.assert_array_equal(table, w)
        assert (np.sign(table) * np.sign(w) >= 0).all()
        assert bytes_of(pack_table("t", table, precision)) == bytes_of(first)

    check()


class Table:
    """What a model has of one table: two weights for each feature."""

    def __init__(self, keys, columns, weights):
        held = weights != 0
        of = np.repeat(np.arange(len(keys)), 2)[held]
        counts = np.bincount(of, minlength=len(keys))
        some = counts > 0
        self.keys = keys[some]
        self.rows = np.cumsum([0, *counts[some]], dtype=np.uint32)
        self.columns, self.weights = columns[held], weights[held]

    def unpack(self, _):
        wide = self.weights.astype(np.float64)
        return tuple(a.tobytes() for a in (self.keys, self.rows, self.columns, wide))


@pytest.mark.parametrize("precision", PRECISIONS[1:])
def test_tables_of_features(precision):
    keys = np.arange(3, 11, dtype=np.uint64)
    columns = np.tile(np.array([0, 2], dtype=np.uint32), len(keys))

    @REPEATABLE
    @given(WEIGHTS)
    @example(TINY)
    @example(EVEN)
    @example(EVEN * np.float32(65520 / 4.5))
    @example(EVEN * np.float32(65519.9 / 4.5))
    def check(w):
        first, kept = compact_tensors(Table(keys, columns, w), precision, ["t"], False)
        parts = {name[2:]: np.asarray(t.data) for name, t in first.items()}
        assert (parts["counts"] > 0).all()
        assert (parts["rounded"] != 0).all()
        assert parts["counts"].sum() == len(parts["rounded"]) == len(parts["columns"])
        assert len(parts["keys"]) == kept["t"].sum()
        weights = (parts["rounded"].astype(np.float64) * parts["scale"]).astype(np.float32)
        table = np.zeros((len(keys), 3), np.float32)
        of = np.repeat(parts["keys"] - 3, parts["counts"]).astype(np.int64)
        table[of, parts["columns"]] = weights
        size = np.abs(w).max()
        room = np.abs(w) * 2.0**-11 + max(size, 1.0) * 2.0**-25 if precision == "float16" else (
            size / 254 * (1 + 1e-4) + 2.0**-149)  # fmt: skip
        assert (np.abs(table[:, [0, 2]].ravel() - w) <= room).all()
        again = Table(keys, columns, table[:, [0, 2]].ravel())
        second, _ = compact_tensors(again, precision, ["t"], False)
        assert bytes_of(second) == bytes_of(first)

    check()
