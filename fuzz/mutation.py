"""Mutations of inputs: bytes are cut, repeated, exchanged and spliced, reproducibly by seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

#: Strings with a meaning in some format, and numbers at the limits of their types.
PIECES = (
    b"", b"\n", b"\n\n", b"\r\n", b"\r", b"\t", b" ", b"\0", b"_", b"#", b"-", b"-1", b"0", b"1",
    b"2", b"1-2", b"2-1", b"1.1", b"0-0", b"1000", b"999999999999999999999", b"1e309", b"nan",
    b"inf", b"(", b")", b"()", b"((", b"[", b"]", b"{", b"}", b"[]", b"{}", b'"', b"'", b"\\",
    b"/", b"..", b",", b";", b":", b"|", b"=", b"%x[0,0]", b"%x[-1,1]", b"%", b"U", b"B", b"B-",
    b"I-", b"null", b"true", b'"a":', b"# text = ", b"SpaceAfter=No", b"-NONE-", b"*", b"word",
    b"tokens", b"lower(", b"suffix(", b"match(", b"seen(", b"in(", b"..1000", b"\xef\xbb\xbf",
    b"\xff", b"\xc3", b"\xc3\xa4", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\xe2\x80\xa8",
    b"\xc2\xa0", b"\xc2\x85", b"[" * 3000, b"(" * 600, b"9" * 5000, b"\\ud800", b"\\n", b"\\t",
    b"\x1f\x8b", b"\x1c", b"\x0c", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x80\0\0\0", b"\1\0\0\0",
)  # fmt: skip


def _place(rng: random.Random, data: bytearray) -> tuple[int, int]:
    """Return the two ends of a stretch, usually a short one."""
    begin = rng.randrange(len(data) + 1)
    most = len(data) - begin
    length = rng.randrange(min(most, 8) + 1) if rng.random() < 0.8 else rng.randrange(most + 1)
    return begin, begin + length


def _flip(rng: random.Random, data: bytearray, _: bytes) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(rng: random.Random, data: bytearray, _: bytes) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.randrange(256)


def _put(rng: random.Random, data: bytearray, _: bytes) -> None:
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(PIECES)


def _exchange(rng: random.Random, data: bytearray, _: bytes) -> None:
    begin, end = _place(rng, data)
    data[begin:end] = rng.choice(PIECES)


def _cut(rng: random.Random, data: bytearray, _: bytes) -> None:
    begin, end = _place(rng, data)
    del data[begin:end]


def _repeat(rng: random.Random, data: bytearray, _: bytes) -> None:
    begin, end = _place(rng, data)
    times = rng.choice((1, 1, 1, 2, 7, 200))
    data[end:end] = data[begin:end] * min(times, 1 + 4000 // max(end - begin, 1))


def _move(rng: random.Random, data: bytearray, other: bytes) -> None:
    begin, end = _place(rng, data)
    piece = bytes(data[begin:end])
    at = rng.randrange(len(data) + 1)
    data[at:at] = piece


def _splice(rng: random.Random, data: bytearray, other: bytes) -> None:
    if other:
        begin = rng.randrange(len(other))
        at = rng.randrange(len(data) + 1)
        data[at:] = other[begin:]


def _line(rng: random.Random, data: bytearray, other: bytes) -> None:
    """Remove, double or exchange whole lines, the units of most formats."""
    lines = bytes(data).split(b"\n")
    at = rng.randrange(len(lines))
    what = rng.randrange(3)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(at, rng.choice(lines))
    else:
        lines[at] = rng.choice(other.split(b"\n"))
    data[:] = b"\n".join(lines)


_STEPS: tuple[Callable[[random.Random, bytearray, bytes], None], ...] = (
    _flip, _byte, _put, _put, _exchange, _exchange, _cut, _repeat, _move, _splice, _line, _line,
)  # fmt: skip


def mutated(rng: random.Random, seeds: Sequence[bytes], most: int = 1 << 16) -> bytes:
    """Return one of the seeds after one to eight changes."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        rng.choice(_STEPS)(rng, data, rng.choice(seeds))
    return bytes(data[:most])
