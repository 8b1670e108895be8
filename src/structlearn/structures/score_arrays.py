"""Scores as arrays of real numbers: the only conversion of a caller's scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import Array

#: Array kinds that are not scores, although NumPy would convert them.
_REFUSED = {
    "c": "complex numbers, and scores are real",
    "U": "strings",
    "S": "bytes",
    "M": "dates",
    "m": "times",
    "V": "records",
}


def as_scores(name: str, value: Any) -> Array:
    """Return the scores of a block as float64 in C order, without a copy if they already are.

    Parameters
    ----------
    name : str
        The block, for messages.
    value : array-like
        Booleans, integers, floating-point numbers of any width, or objects of these.

    Raises
    ------
    ValueError
        They are not real numbers. NumPy itself would drop imaginary parts and parse strings.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous:
        return value
    try:
        array = np.asarray(value)
        kind = array.dtype.kind
        if kind == "O":
            odd = next((x for x in array.flat if isinstance(x, (str, bytes, np.generic))), None)
            kind = np.asarray(odd).dtype.kind
        if kind in _REFUSED:
            raise ValueError(f"it holds {_REFUSED[kind]}")
        return np.asarray(array, dtype=np.float64, order="C")  # a number stays a scalar
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None


def rank_of(value: Any) -> int:
    """Return the number of axes of an array-like, −1 for rows of different lengths.

    It only distinguishes batches from examples; :func:`as_scores` then reports what is wrong.
    """
    try:
        return np.ndim(value)
    except ValueError:
        return -1
