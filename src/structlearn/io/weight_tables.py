"""Tables of the weights of features: as models look them up, and smaller, for files.

The smaller ones hold keys, counts, labels and rounded weights; the table of slots is made again
when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from .container import Tensor

__all__ = ["compact_tensors", "expand_tensors", "packed_table"]


def packed_table(name: str, *rows: Any) -> tuple[dict[str, Any], bytes]:
    """Return the arrays of a table by name, and the numbers of the features that it has.

    Parameters
    ----------
    name : str
        Of the table.
    rows
        Keys, row pointers, columns and weights of the features, the number of outcomes, and the
        size of weights up to which they are left out.
    """
    *parts, kept = _core.pack_weights(*rows)
    names = (f"{name}.{part}" for part in ("slots", "weight", "outcome"))
    return dict(zip(names, parts, strict=True)), kept


def compact_tensors(core: Any, precision: str, pairs: bool) -> dict[str, Tensor]:
    """Return the tensors of a model's weights, rounded to float16 or to 255 steps."""
    tensors: dict[str, Tensor] = {}
    for table in ("state", "pair") if pairs else ("state",):
        keys, row_ptr, column, weights = core.unpack(table == "pair")
        w = np.frombuffer(weights, dtype=np.float64)
        counts = np.diff(np.frombuffer(row_ptr, dtype=np.uint32))
        if precision == "float16":
            largest = float(np.finfo(np.float16).max)
            rounded = np.clip(w, -largest, largest).astype("<f2")
            tensors[f"{table}.rounded"] = Tensor("F16", rounded)
            scale = 1.0
        else:
            scale = float(np.abs(w).max() / 127) if len(w) else 1.0
            rounded = np.rint(w / (scale or 1.0)).astype(np.int8)
            tensors[f"{table}.rounded"] = Tensor("I8", rounded)
        tensors[f"{table}.keys"] = Tensor("U64", keys)
        tensors[f"{table}.counts"] = Tensor("U16", np.minimum(counts, 65535).astype("<u2"))
        column = np.frombuffer(column, dtype=np.uint32)
        narrow = "U16" if len(column) == 0 or column.max() < 65536 else "U32"
        wide = column.astype("<u2") if narrow == "U16" else column
        tensors[f"{table}.columns"] = Tensor(narrow, wide)
        tensors[f"{table}.scale"] = Tensor("F64", np.array([scale]))
        if (counts > 65535).any():
            raise ValueError("a feature with more than 65,535 weights: use precision='float32'")
    return tensors


def expand_tensors(
    tensors: dict[str, Tensor], tables: Sequence[str], kind: str, n_labels: int, hashed: bool
) -> dict[str, Any]:
    """Return the arrays of a model as :class:`TaggerModel` wants them."""
    kinds, wide = {"F16": "<f2", "I8": "i1"}, {"U16": "<u2", "U32": "<u4"}
    arrays: dict[str, Any] = {}
    for table in tables:
        rounded, columns = tensors[f"{table}.rounded"], tensors[f"{table}.columns"]
        expected = {"rounded": kind, "keys": "U64", "counts": "U16", "scale": "F64"}
        if any(tensors[f"{table}.{part}"].dtype != dtype for part, dtype in expected.items()):
            raise ValueError(f"an array of {table!r} has items of the wrong kind")
        w = np.frombuffer(rounded.data, dtype=kinds[rounded.dtype]).astype(np.float64)
        scale = float(np.frombuffer(tensors[f"{table}.scale"].data, dtype="<f8")[0])
        counts = np.frombuffer(tensors[f"{table}.counts"].data, dtype="<u2")
        row_ptr = np.zeros(len(counts) + 1, dtype=np.uint32)
        np.cumsum(counts, out=row_ptr[1:])
        column = np.frombuffer(columns.data, dtype=wide[columns.dtype]).astype(np.uint32)
        keys = np.frombuffer(tensors[f"{table}.keys"].data, dtype="<u8")
        outcomes = n_labels if table == "state" else n_labels**2
        total = int(counts.sum(dtype=np.uint64))  # row_ptr has only 32 bits to add them up in
        if len(column) != len(w) or total != len(w) or len(keys) != len(counts):
            raise ValueError(f"the arrays of {table!r} do not fit together")
        if len(column) and column.max() >= outcomes:
            raise ValueError("a weight of a label that does not exist")
        if hashed and table == "state" and len(keys) & (len(keys) - 1):
            raise ValueError("the hashed features are not a power of two")
        if not np.isfinite(w).all() or not np.isfinite(scale):
            raise ValueError("a weight that is not a number")
        if not hashed and (len(np.unique(keys)) != len(keys) or not keys.all()):
            raise ValueError("a key twice")
        known: Any = b"" if hashed and table == "state" else keys
        arrays.update(packed_table(table, known, row_ptr, column, w * scale, outcomes, 0.0)[0])
    return arrays
