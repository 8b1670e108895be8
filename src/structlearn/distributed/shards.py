"""Shards: runs of a corpus of some tens of megabytes, from files, lists or a Ray Dataset.

How a corpus is cut depends on the corpus alone, not on who will work on it: online learners mix by
shards, and sums are added in their order.
"""

from __future__ import annotations

import glob
import os
import pickle
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..exceptions import FileError
from ..text.files import open_bytes
from ..text.formats import FORMATS
from ..text.sources import TextPart

#: The size of a shard, and the least number of shards of a corpus that has room for them.
SHARD_BYTES = 32 << 20
_LEAST_SHARDS, _SMALLEST = 8, 1 << 16
#: How much larger a text is than its compressed file, about.
_INFLATED = 4
#: Bytes, about, of the largest file that is looked at for having no text at all.
_PERHAPS_BLANK = 1 << 12
#: Bytes that are looked through at once for a place to cut.
_LOOK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """A part of a file, [begin, end) of its text; ``end`` None: up to its end."""

    path: str
    begin: int = 0
    end: int | None = None

    def read(self) -> bytes:
        """Return the text."""
        with open_bytes(self.path) as file:
            _skip(file, self.begin)
            return file.read() if self.end is None else file.read(self.end - self.begin)

    def lines_before(self) -> int:
        """Return the number of lines of the file before it."""
        with open_bytes(self.path) as file:
            left, lines = self.begin, 0
            while left and (block := file.read(min(left, _LOOK))):
                left -= len(block)
                lines += block.count(b"\n")
        return lines


def _skip(file: Any, n: int) -> None:
    """Go forward; a compressed file has to be read for that."""
    if n:
        file.seek(n)


@dataclass(frozen=True)
class FileShard(TextPart):
    """Texts of one file or of several small ones.

    Attributes
    ----------
    pieces : tuple of Piece
    size : int
        Bytes on disk, about.
    format : str
        By which they were cut.
    """

    pieces: tuple[Piece, ...]
    size: int
    format: str | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Where it comes from, for messages."""
        first, last = self.pieces[0], self.pieces[-1]
        if len(self.pieces) > 1:
            return f"{first.path} to {last.path}"
        if first.begin or first.end is not None:
            end = "" if first.end is None else first.end
            return f"{first.path}[{first.begin}:{end}]"
        return first.path

    def text(self) -> bytes:
        """Return the texts with blank lines between them."""
        if len(self.pieces) == 1:
            return self.pieces[0].read()
        return b"".join(map(_closed, self.pieces))

    def in_file(self, error: FileError) -> FileError:
        """Return an error about a line of the text as one about a line of the file."""
        if error.path != self.name or error.line is None:
            return error
        left = error.line
        for piece in self.pieces:
            lines = _closed(piece).count(b"\n")
            if left <= lines or piece is self.pieces[-1]:
                return FileError(piece.path, error.reason, left + piece.lines_before())
            left -= lines
        return error


def _closed(piece: Piece) -> bytes:
    text = piece.read().removeprefix(b"\xef\xbb\xbf")  # a mark before the file, not within a text
    return text.rstrip(b"\n") + b"\n\n"


@dataclass(frozen=True)
class ListShard:
    """Examples that came from Python.

    Attributes
    ----------
    name : str
    content : object
        The examples.
    size : int
        Bytes, or another measure that all shards share.
    """

    name: str
    content: Any
    size: int

    def examples(self) -> Any:
        """Return the examples."""
        return self.content

    def in_file(self, error: FileError) -> FileError:
        """Return the error: there is no file."""
        return error


Shard = FileShard | ListShard


def find_files(patterns: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files that paths and patterns stand for, each pattern's in order of their names.

    A folder stands for the files in it.
    """
    given = [patterns] if isinstance(patterns, (str, os.PathLike)) else list(patterns)
    files: list[str] = []
    for pattern in given:
        one = os.fspath(pattern)
        if os.path.isdir(one):
            found = sorted(entry.path for entry in os.scandir(one) if entry.is_file())
        elif os.path.exists(one):
            found = [one]
        else:
            found = sorted(filter(os.path.isfile, glob.glob(one)))
        if not found:
            raise FileError(one, "no such file, and no file matches it as a pattern")
        files += found
    return files


def file_shards(
    files: Sequence[str],
    format: str,
    size: int | None = None,
    *,
    each: Callable[..., list[Any]] | None = None,
) -> list[FileShard]:
    """Return the shards of files.

    Parameters
    ----------
    files : sequence of str
    format : str
        Says where a text may be cut.
    size : int, optional
        Bytes of a shard, about; by default 32 MB, less where there would be few shards.
    each : callable, optional
        Calls a function for each item of a list, elsewhere; compressed files have to be read to be
        cut.
    """
    sizes = [os.path.getsize(path) * (_INFLATED if _is_gzip(path) else 1) for path in files]
    if size is None:
        size = min(SHARD_BYTES, max(_SMALLEST, sum(sizes) // _LEAST_SHARDS + 1))
    ends = FORMATS[format].ends
    long = [path for path, n in zip(files, sizes, strict=True) if n > size and ends is not None]
    cut = (each or _each)(cuts, [(path, size, format) for path in long])
    found = dict(zip(long, cut, strict=True))
    shards: list[FileShard] = []
    group: list[Piece] = []
    grouped = 0
    for path, n in zip(files, sizes, strict=True):
        if n < _PERHAPS_BLANK and _is_blank(path):
            continue  # one file with all the texts would not show it either
        at = found.get(path, [])
        if group and (at or grouped + n > size):
            shards.append(FileShard(tuple(group), grouped, format))
            group, grouped = [], 0
        if not at:
            group.append(Piece(path))
            grouped += n
            continue
        begins, stops = [0, *at], [*at, None]
        shards += [
            FileShard((Piece(path, a, b),), n // len(begins), format)
            for a, b in zip(begins, stops, strict=True)
        ]
    if group:
        shards.append(FileShard(tuple(group), grouped, format))
    if not shards:
        raise FileError(files[0], "there is nothing in the files")
    return shards


def _is_blank(path: str) -> bool:
    with open_bytes(path) as file:
        return not file.read().strip()


def _each(function: Callable[..., Any], items: list[Any]) -> list[Any]:
    return [function(*item) for item in items]


def cuts(path: str, size: int, format: str) -> list[int]:
    """Return where the text of a file is cut into parts of about ``size`` bytes.

    A plain file is read at those places only.
    """
    ends = FORMATS[format].ends
    if ends is None:
        return []
    found: list[int] = []
    length = None if _is_gzip(path) else os.path.getsize(path)
    wanted = size
    if length is not None:  # parts of the same size
        wanted = size = -(-length // -(-length // size))
    with open_bytes(path) as file:
        while length is None or wanted < length:
            file.seek(wanted)
            if length is None and file.tell() < wanted:
                break  # beyond the end
            at = _next_end(file, wanted, ends)
            if at is None:
                break
            found.append(at)
            wanted = max(at, wanted) + size if length is None else max(at, wanted + size)
    return found


def _next_end(file: Any, at: int, ends: re.Pattern[bytes]) -> int | None:
    """Return where the first sentence after a place ends; None: at the end of the file."""
    text = b""
    while block := file.read(_LOOK):
        text += block
        match = ends.search(text)
        # What comes after the match has to be there: a sentence ends, and another begins.
        if match is not None and (match.end() < len(text) or file.peek(1)):
            return at + match.end()
    return None


def _is_gzip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def list_shards(
    examples: Sequence[Any], n: int | None = None, *, name: str = "examples"
) -> list[ListShard]:
    """Return the shards of a list.

    Parameters
    ----------
    n : int, optional
        Their number; by default 8, and more where the list is large.
    """
    total = len(examples)
    ends = list_ends(total, 0 if n else pickled_size(examples, total), n)
    return [ListShard(f"{name} {a} to {b - 1}", examples[a:b], b - a) for a, b in pairwise(ends)]


def some_of(rows: Any, which: slice) -> Any:
    """Return some of the rows of a list, an array, a sparse matrix or a data frame."""
    return rows.iloc[which] if hasattr(rows, "iloc") else rows[which]


def pickled_size(rows: Any, total: int) -> int:
    """Return about how many bytes that many rows take, by looking at a hundred of them."""
    step = max(1, total // 100)
    return len(pickle.dumps(some_of(rows, slice(None, None, step)))) * step


def list_ends(total: int, bytes_: int, n: int | None) -> list[int]:
    """Return where each shard of a list begins, and the last ends.

    Parameters
    ----------
    total, bytes_ : int
        Of the list.
    n : int, optional
        Number of shards; by default 8, and more where the list is large.
    """
    if not total:
        raise ValueError("there are no examples")
    if n is None:
        n = max(_LEAST_SHARDS, -(-bytes_ // SHARD_BYTES))
    n = max(1, min(n, total))
    return [total * k // n for k in range(n + 1)]
