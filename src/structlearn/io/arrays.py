"""NumPy arrays to and from the arrays of model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .container import Tensor

#: NumPy type, little-endian -> its name in a file.
_NAMES = {
    **{f"<{kind}{size}": f"{kind.upper()}{8 * size}" for kind in "iuf" for size in (2, 4, 8)},
    "|i1": "I8",
    "|u1": "U8",
    "|b1": "BOOL",
}
_TYPES = {name: dtype for dtype, name in _NAMES.items()}


def tensor_of(array: npt.NDArray[Any]) -> Tensor:
    """Return an array in the form of a file.

    Raises
    ------
    TypeError
        The file format has no such type.
    """
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in _NAMES:
        raise TypeError(f"a file cannot hold arrays of {array.dtype}")
    flat = np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(-1)
    return Tensor(_NAMES[dtype], flat.view(np.uint8), array.shape)


def array_of(tensor: Tensor) -> npt.NDArray[Any]:
    """Return a writable copy of a stored array."""
    dtype = np.dtype(_TYPES[tensor.dtype])
    flat = np.frombuffer(tensor.data, dtype=np.uint8)
    if dtype.kind == "b" and flat.max(initial=0) > 1:
        raise ValueError("a boolean array has values other than 0 and 1")
    array = flat.view(dtype).astype(dtype.newbyteorder("="))  # a copy
    return array if tensor.shape is None else array.reshape(tensor.shape)


def checked_array(value: Any, what: str, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Return the value if it is an array of this type and shape, −1 for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != dtype:
        raise ValueError(f"{what} is not an array of {np.dtype(dtype)}")
    alike = len(shape) == value.ndim
    if not alike or any(n not in (-1, m) for n, m in zip(shape, value.shape, strict=True)):
        raise ValueError(f"{what} has the shape {value.shape}, not {shape}")
    return value


def checked_numbers(value: Any, what: str, shape: tuple[int, ...], least: float = -np.inf) -> Any:
    """Return the value if it is an array of finite floats, none below ``least``."""
    array = checked_array(value, what, np.float64, shape)
    if not np.isfinite(array).all() or array.min(initial=0.0) < least:
        raise ValueError(f"{what} has invalid values")
    return array
