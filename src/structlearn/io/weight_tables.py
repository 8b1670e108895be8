"""Tables of feature weights: for lookup in models, and compressed for files.

The compressed tables hold keys, counts, labels and rounded nonzero weights; the hash table is
rebuilt on reading. Rounding again changes nothing: the largest weight is the largest step, so the
steps stay the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from .. import _core
from .container import Tensor

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: From this number of label windows on, scores are stored without zeros if most are 0: of hundreds
#: of labels few follow one another.
_MANY = 1 << 16


def packed_table(name: str, *rows: Any) -> tuple[dict[str, Any], bytes]:
    """Return the arrays of a table by name, and the indices of its features.

    Parameters
    ----------
    name : str
        The table's name.
    rows
        Keys, row pointers, columns and weights of the features, the number of outcomes, and the
        magnitude up to which weights are dropped.
    """
    *parts, numbers = _core.pack_weights(*rows)
    return dict(zip(_names(name), parts, strict=True)), numbers


def _names(table: str) -> tuple[str, ...]:
    return tuple(f"{table}.{part}" for part in ("slots", "weight", "outcome"))


def _is_hashed(table: str, hashed: bool) -> bool:
    return hashed and table in ("state", "first")


def compact_tensors(
    core: Any, precision: str, tables: Sequence[str], hashed: bool
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors of a model's tables, with weights rounded to float16 or to 255 steps.

    Returns
    -------
    tensors : dict of str to Tensor
    kept : dict of str to memoryview of int
        By table, the indices of the features kept: those with a weight.
    """
    tensors: dict[str, Tensor] = {}
    numbers_by_table: dict[str, Any] = {}
    halves = precision == "float16"
    for table in tables:
        keys, counts, columns, wide, rounded, scale, numbers = _core.compact_weights(
            _is_hashed(table, hashed), halves, *core.unpack(table)
        )
        numbers_by_table[table] = memoryview(numbers).cast("I")
        tensors[f"{table}.rounded"] = Tensor("F16" if halves else "I8", rounded)
        tensors[f"{table}.keys"] = Tensor("U64", keys)
        tensors[f"{table}.counts"] = Tensor("U16", counts)
        tensors[f"{table}.columns"] = Tensor("U32" if wide else "U16", columns)
        tensors[f"{table}.scale"] = Tensor("F64", array("d", [scale]))
    return tensors, numbers_by_table


def compact_scores(name: str, scores: Any) -> dict[str, Tensor]:
    """Return the tensors of the scores of label windows, which are not rounded."""
    dense = memoryview(scores).cast("B").cast("d")
    if len(dense) >= _MANY:
        places = array("I", (place for place, score in enumerate(dense) if score))
        if 2 * len(places) < len(dense):
            values = array("d", map(dense.__getitem__, places))
            return {
                f"{name}.places": Tensor("U32", places),
                f"{name}.scores": Tensor("F64", values),
            }
    return {name: Tensor("F64", scores)}
