"""Rounding of weights in files: what was rounded once is rounded to itself."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn import _core
from structlearn.io.container import Tensor
from structlearn.io.packed_weights import pack_table
from structlearn.io.weight_tables import compact_scores, compact_tensors

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


def arrays_of(tensors):
    types = {"F": "f", "I": "i", "U": "u"}
    return {
        name[2:]: np.frombuffer(t.data, f"<{types[t.dtype[0]]}{int(t.dtype[1:]) // 8}")
        for name, t in tensors.items()
    }


def rounded_by_numpy(w, precision):
    """Return the values that a hashed table holds, zeros too, and the codes of int8."""
    if precision != "int8":
        return w.astype("<f4" if precision == "float32" else "<f2"), None
    largest = max(float(np.abs(w).max()), float(np.finfo(np.float32).tiny) * 127**2)
    number = np.rint(127.0 * np.sqrt(np.abs(w) / largest))
    steps = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float64)
    codes = np.copysign(np.minimum(np.abs(steps) / 127.0, 1.0) ** 2 * largest, steps)
    return np.copysign(number, w).astype(np.int8).view(np.uint8), codes.astype("<f4")


def unpacked(tensors, precision):
    """Return the table, by NumPy alone."""
    parts = arrays_of(tensors)
    present, values = np.unpackbits(parts["present"], bitorder="little"), parts["values"]
    if precision == "int8":
        values = parts["codes"][values]
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
        values, codes = rounded_by_numpy(w, precision)
        parts = arrays_of(first)
        assert parts["present"].tobytes() == np.packbits(values != 0, bitorder="little").tobytes()
        assert parts["values"].tobytes() == values[values != 0].tobytes()
        assert ("codes" in parts) == (precision == "int8")
        assert codes is None or parts["codes"].tobytes() == codes.tobytes()
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
        parts = arrays_of(first)
        scale = parts["scale"][0]
        assert np.log2(scale).is_integer() or precision == "int8"
        held = w[w != 0].astype(np.float64) / scale
        held = held.astype("<f2") if precision == "float16" else np.rint(held).astype(np.int8)
        assert parts["rounded"].tobytes() == held[held != 0].tobytes()
        assert (parts["counts"] > 0).all()
        assert (parts["rounded"] != 0).all()
        assert parts["counts"].sum() == len(parts["rounded"]) == len(parts["columns"])
        assert len(parts["keys"]) == len(kept["t"])
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


def window_scores(tensors, labels):
    """The scores of label pairs of a model file with these tensors."""
    empty = {f"state.{part}": Tensor(k, b"") for part, k in
             (("slots", "U64"), ("weight", "F32"), ("outcome", "U32"))}  # fmt: skip
    ends = {name: Tensor("F64", array("d", bytes(8 * labels))) for name in ("start", "end")}
    arrays, _ = _core.tagger_arrays({**empty, **ends, **tensors}, labels, 1, 0, False, "float32")
    return np.frombuffer(arrays["transition1"])


@pytest.mark.parametrize("share", [0.0, 0.03, 0.4, 0.6, 1.0])
@pytest.mark.parametrize("labels", [2, 256])
def test_scores_of_label_windows_are_stored_without_those_that_are_0(labels, share):
    rng = np.random.default_rng(0)
    size = labels**2
    scores = np.where(rng.random(size) < share, rng.normal(size=size), 0.0)
    if share:
        scores[rng.integers(size)] = -np.inf
    tensors = compact_scores("transition1", array("d", scores))
    assert (set(tensors) == {"transition1"}) == (labels == 2 or share > 0.5)
    np.testing.assert_array_equal(window_scores(tensors, labels), scores)


@pytest.mark.parametrize("fault", ["beyond", "more", "kind"])
def test_scores_of_label_windows_that_do_not_fit_are_refused(fault):
    places, scores = array("I", [3, 70_000 if fault == "beyond" else 4]), array("d", [1.0, 2.0])
    if fault == "more":
        places.append(5)
    tensors = {
        "transition1.places": Tensor("I32" if fault == "kind" else "U32", places),
        "transition1.scores": Tensor("F64", scores),
    }
    with pytest.raises(ValueError, match=r"'transition1(\.places' is I32|' do not fit)"):
        window_scores(tensors, 256)
