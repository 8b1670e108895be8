"""CQDB, the table of strings inside CRFsuite's model files.

A chunk "CQDB" has a header (chunk size, flags, a byte-order mark, length and offset of the backward
array), 256 references to hash tables that find a string's number, the records — number, length,
string and a zero byte — and the backward array: the offset of each number's record. All of it is
needed here but the hash tables; offsets count from the beginning of the chunk.

References
----------
N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields.
"""

from __future__ import annotations

import numpy as np

from .buffer import Buffer, Integers, spans

__all__ = ["read_strings"]

_HEADER = 24
_RECORDS = _HEADER + 256 * 8
_BYTE_ORDER = 0x62445371


def read_strings(buffer: Buffer, at: int, count: int, what: str) -> list[str]:
    """Return the strings of a chunk in the order of their numbers; repeats are not looked for.

    Parameters
    ----------
    at : int
        Where the chunk begins.
    count : int
        How many strings there must be.
    what : str
        What they are, for messages: "label", "attribute".
    """
    buffer.magic(at, b"CQDB", f"the table of {what}s")
    buffer.need(at, _RECORDS, f"the table of {what}s")
    size, _flags, byte_order, n_backward, backward = buffer.words(at + 4, 5, "").tolist()
    if byte_order != _BYTE_ORDER:
        buffer.refuse(at + 12, f"the table of {what}s was written in another byte order")
    if size < _RECORDS:
        buffer.refuse(at + 4, f"the table of {what}s takes {size} bytes, at least {_RECORDS} ought")
    buffer.need(at, size, f"the table of {what}s")
    if count == 0:
        return []
    if count > n_backward or backward < _RECORDS:
        buffer.refuse(at + 16, f"the table of {what}s has no list of its {count} strings")
    offsets = buffer.words(at + backward, count, f"the list of {count} {what}s", at + size)
    starts, lengths = _records(buffer, at, size, offsets, what)
    return _decode(buffer, starts, lengths, what)


def _records(
    buffer: Buffer, at: int, size: int, offsets: Integers, what: str
) -> tuple[Integers, Integers]:
    """Return where each string begins and how long it is with its zero byte."""

    def first(wrong: np.ndarray[tuple[int], np.dtype[np.bool_]], problem: str) -> None:
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            buffer.refuse(at + int(offsets[i]), f"{what} {i} {problem}")

    first((offsets < _RECORDS) | (offsets + 8 > size), "lies outside of the files table")
    numbers = buffer.words_at(at + offsets)
    lengths = buffer.words_at(at + offsets + 4)
    first(numbers != np.arange(len(numbers)), "has a record with another number")
    first((lengths < 1) | (offsets + 8 + lengths > size), "is longer than its table")
    # Records that share bytes could make a small file a large list.
    if int((lengths + 8).sum()) > size - _RECORDS:
        buffer.refuse(at, f"the records of the {what}s overlap")
    starts = at + offsets + 8
    first(buffer.bytes[starts + lengths - 1] != 0, "does not end with a zero byte")
    return starts, lengths


def _decode(buffer: Buffer, starts: Integers, lengths: Integers, what: str) -> list[str]:
    """Return the strings, all decoded at once: one call, and not one a string."""
    ends = np.cumsum(lengths)
    raw = buffer.bytes[spans(starts, lengths)]
    zeros = np.flatnonzero(raw == 0)
    if len(zeros) != len(ends):
        i = int(np.flatnonzero(zeros[: len(ends)] != ends - 1)[0])
        buffer.refuse(int(starts[i]), f"{what} {i} has a zero byte inside")
    try:
        text = raw.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        i = int(np.searchsorted(ends, error.start, side="right"))
        buffer.refuse(int(starts[i]), f"{what} {i} is not UTF-8 text")
    return text[:-1].split("\0")
