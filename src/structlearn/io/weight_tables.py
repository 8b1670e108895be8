"""Tables of the weights of features: as models look them up, and smaller, for files.

The smaller ones hold keys, counts, labels and rounded weights, of those that are not 0 then; the
table of slots is made again when they are read. Rounding again changes nothing: the largest weight
is the largest step, and so the steps stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from .container import Tensor, check_dtype
from .packed_weights import FLOAT16_ENDS

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

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
    return dict(zip(_names(name), parts, strict=True)), kept


def _names(table: str) -> tuple[str, ...]:
    return tuple(f"{table}.{part}" for part in ("slots", "weight", "outcome"))


def _is_hashed(table: str, hashed: bool) -> bool:
    return hashed and table in ("state", "first")


def compact_tensors(
    core: Any, precision: str, tables: Sequence[str], hashed: bool
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a model's tables, weights rounded to float16 or to 255 steps.

    Returns
    -------
    tensors : dict of str to Tensor
    kept : dict of str to array of bool
        Of each table the features that they hold: those with a weight.
    """
    import numpy as np

    tensors: dict[str, Tensor] = {}
    kept: dict[str, Any] = {}
    for table in tables:
        keys, row_ptr, column, weights = core.unpack(table)
        w = np.frombuffer(weights, dtype=np.float64)
        counts: Any = np.diff(np.frombuffer(row_ptr, dtype=np.uint32))
        if precision == "float16":
            dtype, scale, largest = "F16", 1.0, float(np.abs(w).max(initial=0.0))
            while largest / scale >= FLOAT16_ENDS:
                scale *= 2.0
            rounded = (w / scale).astype("<f2")
        else:
            scale = float(np.abs(w).max() / 127) if len(w) else 1.0
            dtype, rounded = "I8", np.rint(w / scale).astype(np.int8)
        stays = rounded != 0
        feature = np.repeat(np.arange(len(counts)), counts)
        counts = np.bincount(feature[stays], minlength=len(counts))
        kept[table] = np.full(len(counts), True) if _is_hashed(table, hashed) else counts > 0
        keys = np.frombuffer(keys, dtype=np.uint64)[kept[table]]
        counts = counts[kept[table]]
        tensors[f"{table}.rounded"] = Tensor(dtype, rounded[stays])
        tensors[f"{table}.keys"] = Tensor("U64", keys)
        tensors[f"{table}.counts"] = Tensor("U16", np.minimum(counts, 65535).astype("<u2"))
        column = np.frombuffer(column, dtype=np.uint32)[stays]
        narrow = "U16" if len(column) == 0 or column.max() < 65536 else "U32"
        wide = column.astype("<u2") if narrow == "U16" else column
        tensors[f"{table}.columns"] = Tensor(narrow, wide)
        tensors[f"{table}.scale"] = Tensor("F64", np.array([scale]))
        if (counts > 65535).any():
            raise ValueError("a feature with more than 65,535 weights: use precision='float32'")
    return tensors, kept


def expand_tensors(
    tensors: dict[str, Tensor], tables: Sequence[str], kind: str, n_labels: int, hashed: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays of a model as :class:`TaggerModel` wants them.

    Returns
    -------
    arrays : dict of str to buffer
    kept : dict of str to buffer
        Of each table the numbers, uint32, of the features that have weights, in no order.
    """
    arrays: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for table in tables:
        expected = {"rounded": kind, "keys": "U64", "counts": "U16", "scale": "F64"}
        found = {part: tensors[f"{table}.{part}"] for part in (*expected, "columns")}
        wide = found["columns"].dtype == "U32"
        if not wide:
            expected["columns"] = "U16"
        for part, dtype in expected.items():
            check_dtype(f"{table}.{part}", found[part], dtype)
        scale = memoryview(found["scale"].data).cast("B").cast("d")[0]
        parts = _core.expand_weights(
            _is_hashed(table, hashed),
            found["keys"].data,
            found["counts"].data,
            found["columns"].data,
            wide,
            found["rounded"].data,
            kind == "F16",
            scale,
            n_labels**2 if table == "pair" else n_labels,
        )
        arrays.update(zip(_names(table), parts[:3], strict=True))
        kept[table] = parts[3]
    return arrays, kept
