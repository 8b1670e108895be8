"""Tables of hashed weights in files: what is not zero, in 32, 16 or 8 bits.

One bit for each weight says whether it is stored. In 8 bits a weight is the number of one of 256
codes, ± (k/127)² of the largest weight: small weights, of which there are many, are told apart
better than by steps of one size. Rounding again changes nothing: the largest weight is the largest
code, and so the codes stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core
from .container import Tensor, check_dtype

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Precision of weights -> the type of their items in files, and the bytes of an item.
PRECISIONS = {"float32": ("F32", 4), "float16": ("F16", 2), "int8": ("U8", 1)}


def check_precision(precision: Any) -> None:
    """Refuse what is not the name of a precision."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be float32, float16 or int8, got {precision!r}")


def pack_table(name: str, weights: Any, precision: str) -> dict[str, Tensor]:
    """Return the tensors of a table of float32 weights, those that are not zero."""
    dtype, width = PRECISIONS[precision]
    present, values, codes = _core.pack_table(weights, width)
    tensors = {f"{name}.present": Tensor("U8", present), f"{name}.values": Tensor(dtype, values)}
    if codes:
        tensors[f"{name}.codes"] = Tensor("F32", codes)
    return tensors


def stored_table(name: str, tensors: Mapping[str, Tensor], precision: str) -> tuple[Any, ...]:
    """Return a table as the core unpacks it: (present, values, bytes of a value, codes)."""
    dtype, width = PRECISIONS[precision]
    expected = {f"{name}.present": "U8", f"{name}.values": dtype}
    if precision == "int8":
        expected[f"{name}.codes"] = "F32"
    for key, kind in expected.items():
        check_dtype(key, tensors[key], kind)
    codes = tensors[f"{name}.codes"].data if precision == "int8" else b""
    return tensors[f"{name}.present"].data, tensors[f"{name}.values"].data, width, codes
