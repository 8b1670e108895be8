"""Tables of the weights of features: as models look them up, and smaller, for files.

The smaller ones hold keys, counts, labels and rounded weights; the table of slots is made again
when they are read.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from .container import Tensor, check_dtype

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


def compact_tensors(core: Any, precision: str, tables: Sequence[str]) -> dict[str, Tensor]:
    """Return the tensors of a model's tables, weights rounded to float16 or to 255 steps."""
    import numpy as np

    tensors: dict[str, Tensor] = {}
    for table in tables:
        keys, row_ptr, column, weights = core.unpack(table)
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
    arrays: dict[str, Any] = {}
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
            hashed and table in ("state", "first"),
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
    return arrays
