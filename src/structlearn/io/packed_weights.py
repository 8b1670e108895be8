"""Tables of hashed weights in files: the nonzero ones, in 32, 16 or 8 bits.

One bit per weight tells whether it is stored. In 8 bits a weight is the index of one of 256 codes,
± (k/127)² of the largest weight: this resolves the many small weights better than uniform steps do.
Rounding again changes nothing: the largest weight is the largest code, so the codes stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core
from .container import Tensor, check_dtype

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Precision of weights -> their type in files, and the bytes of a weight.
PRECISIONS = {"float32": ("F32", 4), "float16": ("F16", 2), "int8": ("U8", 1)}


def check_precision(precision: Any) -> None:
    """Refuse anything but the name of a precision."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be float32, float16 or int8, got {precision!r}")


def pack_table(name: str, weights: Any, precision: str) -> dict[str, Tensor]:
    """Return the tensors of a table of float32 weights, only the nonzero ones."""
    dtype, width = PRECISIONS[precision]
    present, values, codes = _core.pack_table(weights, width)
    tensors = {f"{name}.present": Tensor("U8", present), f"{name}.values": Tensor(dtype, values)}
    if codes:
        tensors[f"{name}.codes"] = Tensor("F32", codes)
    return tensors


def stored_table(name: str, tensors: Mapping[str, Tensor], precision: str) -> tuple[Any, ...]:
    """Return a table for the core to unpack: (present, values, bytes of a value, codes)."""
    dtype, width = PRECISIONS[precision]
    expected = {f"{name}.present": "U8", f"{name}.values": dtype}
    if precision == "int8":
        expected[f"{name}.codes"] = "F32"
    for key, kind in expected.items():
        check_dtype(key, tensors[key], kind)
    codes = tensors[f"{name}.codes"].data if precision == "int8" else b""
    return tensors[f"{name}.present"].data, tensors[f"{name}.values"].data, width, codes
