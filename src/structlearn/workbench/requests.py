"""Reading what a page asks for: every value checked, every size bounded.

A request that is wrong, or too large, raises :class:`Refused` with a message for the page; nothing
is computed before everything is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Scores beyond this only show rounding.
LARGEST = 1e6
MOST_CHARACTERS = 4_000


class Refused(ValueError):
    """A request that is not answered; the message says why, and names the limit."""


class Request:
    """The values of a request by name."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise Refused("a request is a JSON object")
        self.values = values

    def has(self, name: str) -> bool:
        """Tell whether a value is given."""
        return self.values.get(name) is not None

    def choice(self, name: str, known: Sequence[str]) -> str:
        """Return one of several names; the first where none is given."""
        value = self.values.get(name, known[0])
        if value not in known:
            raise Refused(f"{name} must be one of {', '.join(known)}")
        return str(value)

    def flag(self, name: str) -> bool:
        """Return whether something is switched on."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise Refused(f"{name} must be true or false")
        return value

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Return a number between two bounds."""
        value = _number(self.values.get(name, default), f"{name} must be a number")
        if not least <= value <= most:  # NaN is not
            raise Refused(f"{name} must be between {least:g} and {most:g}, got {value:g}")
        return value

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """Return a whole number between two bounds."""
        value = self.number(name, default, least, most)
        if value != int(value):
            raise Refused(f"{name} must be a whole number")
        return int(value)

    def text(self, name: str, most: int = MOST_CHARACTERS) -> str:
        """Return a text."""
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise Refused(f"{name} must be a text")
        if len(value) > most:
            raise Refused(f"{name} has {len(value):,} characters; the limit is {most:,}")
        return value

    def words(self, name: str, most: int, least: int = 1) -> list[str]:
        """Return a list of short texts."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(w, str) for w in value):
            raise Refused(f"{name} must be a list of texts")
        if not least <= len(value) <= most:
            raise Refused(f"there are {len(value):,} {name}; the limit is {most:,}")
        if any(len(w) > 60 for w in value):
            raise Refused(f"{name} have at most 60 characters each")
        return value

    def scores(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array of scores; "-inf" forbids a part."""
        return _array(name, self.values.get(name), shape)

    def labels(self, name: str, n: int, n_labels: int) -> list[int] | None:
        """Return n whole numbers below n_labels, None where nothing is given."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != n:
            raise Refused(f"{name} must have {n} entries")
        for k in value:
            if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k < n_labels:
                raise Refused(
                    f"the entries of {name} must be whole numbers from 0 to {n_labels - 1}"
                )
        return list(value)


def _number(value: Any, otherwise: str) -> float:
    """Return a number of a request, infinite where it is too large for one; refuse other values."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(otherwise)
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _array(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    if not shape:
        if value == "-inf":
            return np.array(-math.inf)
        score = _number(value, f'{name} must be numbers, or "-inf" where a part is forbidden')
        if not abs(score) <= LARGEST:
            raise Refused(f"{name} must be between {-LARGEST:,.0f} and {LARGEST:,.0f}")
        return np.array(score)
    if not isinstance(value, list) or len(value) != shape[0]:
        raise Refused(f"{name} must have the shape {shape}")
    return np.array([_array(name, row, shape[1:]) for row in value], dtype=np.float64)
