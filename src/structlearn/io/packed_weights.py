"""Tables of hashed weights in files: what is not zero, in 32, 16 or 8 bits.

One bit for each weight says whether it is stored. In 8 bits a weight is the number of one of 256
codes, ± (k/127)² of the largest weight: small weights, of which there are many, are told apart
better than by steps of one size. Rounding again changes nothing: the largest weight is the largest
code, and so the codes stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from .container import Tensor, check_dtype

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FLOAT16_ENDS", "PRECISIONS", "check_precision", "pack_table", "stored_table"]

#: Precision of weights -> the type of their items in files, and the bytes of an item.
PRECISIONS = {"float32": ("F32", 4), "float16": ("F16", 2), "int8": ("U8", 1)}
#: What is as large as this is rounded to infinity in 16 bits.
FLOAT16_ENDS = 65520.0


def check_precision(precision: Any) -> None:
    """Refuse what is not the name of a precision."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be float32, float16 or int8, got {precision!r}")


def pack_table(name: str, weights: Any, precision: str) -> dict[str, Tensor]:
    """Return the tensors of a table of float32 weights, those that are not zero."""
    import numpy as np

    w = np.frombuffer(weights, dtype="<f4")
    values = w
    tensors: dict[str, Tensor] = {}
    if precision == "float16":
        largest = float(np.abs(w).max(initial=0.0))
        if largest >= FLOAT16_ENDS:
            raise ValueError(
                f"a weight of size {largest:g} is too large for float16: save with "
                "precision='float32' or 'int8'"
            )
        values = w.astype("<f2")
    elif precision == "int8":
        # So large that all codes are normal floats, whose roots tell them apart.
        least = float(np.finfo(np.float32).tiny) * 127**2
        largest = max(float(np.abs(w).max(initial=0.0)), least)
        number = np.rint(127.0 * np.sqrt(np.abs(w) / largest))
        values = np.copysign(number, w).astype(np.int8).view(np.uint8)
        steps = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float64)
        codes = np.copysign(np.minimum(np.abs(steps) / 127.0, 1.0) ** 2 * largest, steps)
        tensors[f"{name}.codes"] = Tensor("F32", codes.astype("<f4"))
    present = values != 0
    tensors[f"{name}.present"] = Tensor("U8", np.packbits(present, bitorder="little"))
    tensors[f"{name}.values"] = Tensor(PRECISIONS[precision][0], values[present])
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
