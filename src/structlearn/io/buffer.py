"""Little-endian numbers out of a file's bytes; nothing is read that is not there.

Counts in a file are not believed: each is compared with the bytes that would have to hold it before
anything of that size is made.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import numpy.typing as npt

__all__ = ["Buffer", "spans"]

Integers = npt.NDArray[np.int64]


class Buffer:
    """The bytes of one file.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    kind : str
        What the file ought to be, for messages.
    data : bytes
        All of it.
    """

    def __init__(self, name: str, kind: str, data: bytes) -> None:
        self.name = name
        self.kind = kind
        self.data = data
        self.bytes = np.frombuffer(data, dtype=np.uint8)

    def refuse(self, at: int, problem: str) -> NoReturn:
        """Raise the one error there is: the file, what is wrong, and where."""
        raise ValueError(f"{self.name} is not a valid {self.kind}: at byte {at}, {problem}")

    def need(self, at: int, size: int, what: str, end: int | None = None) -> None:
        """Refuse a piece that does not end before ``end``, by default the end of the file."""
        last = len(self.data) if end is None else end
        if at + size > last:
            where = "the file" if end is None else "its part of the file"
            self.refuse(at, f"{what} takes {size} bytes, but {where} ends at byte {last}")

    def magic(self, at: int, expected: bytes, what: str) -> None:
        """Refuse a piece that begins otherwise."""
        self.need(at, len(expected), what)
        found = self.data[at : at + len(expected)]
        if found != expected:
            self.refuse(at, f"{what} begins with {found!r}, not {expected!r}")

    def words(self, at: int, count: int, what: str, end: int | None = None) -> Integers:
        """Return ``count`` 32-bit numbers that stand one after another."""
        self.need(at, 4 * count, what, end)
        return np.frombuffer(self.data, dtype="<u4", count=count, offset=at).astype(np.int64)

    def words_at(self, places: Integers) -> Integers:
        """Return the 32-bit numbers at places that were checked before, aligned or not."""
        if len(places) == 0:
            return np.empty(0, dtype=np.int64)
        # A view with a number at every byte.
        everywhere = np.ndarray((len(self.data) - 3,), dtype="<u4", buffer=self.data, strides=(1,))
        words: Integers = everywhere[places].astype(np.int64)
        return words


def spans(starts: Integers, lengths: Integers) -> Integers:
    """Return the places of all spans one after another: starts[0], starts[0] + 1, …"""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)
