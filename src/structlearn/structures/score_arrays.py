"""Scores as arrays of real numbers: the one place where what a caller gives is converted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import Array

#: What arrays of these kinds hold is no score, although NumPy would convert it.
_REFUSED = {
    "c": "complex numbers, and scores are real",
    "U": "strings",
    "S": "bytes",
    "M": "dates",
    "m": "times",
    "V": "records",
}


def as_scores(name: str, value: Any) -> Array:
    """Return the scores of a block as float64 in C order, without a copy where they are that.

    Parameters
    ----------
    name : str
        The block, for messages.
    value : array-like
        Booleans, whole numbers, floating point numbers of any width, or objects that are such.

    Raises
    ------
    ValueError
        Where these are no real numbers. NumPy itself would drop imaginary parts and read strings.
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
        return np.asarray(array, dtype=np.float64, order="C")  # a number stays one
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None


def rank_of(value: Any) -> int:
    """Return the number of axes of an array-like, −1 for rows of different lengths.

    That is for telling batches from examples; :func:`as_scores` then says what is wrong.
    """
    try:
        return np.ndim(value)
    except ValueError:
        return -1
