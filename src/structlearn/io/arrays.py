"""NumPy's arrays as arrays of model files, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .container import Tensor

__all__ = ["array_of", "tensor_of"]

#: Type of NumPy's, little-endian -> its name in a file.
_NAMES = {
    **{f"<{kind}{size}": f"{kind.upper()}{8 * size}" for kind in "iuf" for size in (2, 4, 8)},
    "|i1": "I8",
    "|u1": "U8",
    "|b1": "BOOL",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}


def tensor_of(array: npt.NDArray[Any]) -> Tensor:
    """Return an array as a file holds it.

    Raises
    ------
    TypeError
        Where a file has no such type.
    """
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in _NAMES:
        raise TypeError(f"a file has no arrays of {array.dtype}")
    flat = np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(-1)
    return Tensor(_NAMES[dtype], flat.view(np.uint8), array.shape)


def array_of(tensor: Tensor) -> npt.NDArray[Any]:
    """Return a copy of what a file holds: an array that may be written to."""
    dtype = np.dtype(_TYPES[tensor.dtype])
    flat = np.frombuffer(tensor.data, dtype=np.uint8)
    if dtype.kind == "b" and flat.max(initial=0) > 1:
        raise ValueError("a boolean array has values other than 0 and 1")
    array = flat.view(dtype).astype(dtype.newbyteorder("="))  # a copy
    return array if tensor.shape is None else array.reshape(tensor.shape)
