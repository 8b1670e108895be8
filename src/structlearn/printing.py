"""Output for people: control characters made visible, and streams that may be closed or broken.

Labels, words, cells and names of files come from outside. On a terminal, control characters in them
could move the cursor or set colours and titles; in a page they are not allowed. Everything the
library prints or draws goes through :func:`visible`; results for programs (labelled files, JSON)
are written unchanged unless standard output is a terminal.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "Notes",
    "Results",
    "UnreadError",
    "drop_unwritten",
    "escape",
    "joined_lines",
    "note",
    "on_terminal",
    "prepare_streams",
    "put",
    "put_json",
    "visible",
]

_UNSHOWN = 0xFFFD
#: ASCII controls have pictures in Unicode; those of Latin-1, of text direction and of lines, and
#: surrogates have none. Each becomes one character, so that tables stay aligned.
_PICTURES = {
    **dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000)], _UNSHOWN),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029], _UNSHOWN),
    **{c: 0x2400 + c for c in range(0x20)},
    0x7F: 0x2421,
}
_PICTURES_IN_LINES = {c: p for c, p in _PICTURES.items() if c not in (0x09, 0x0A)}


def visible(text: str, *, lines: bool = False) -> str:
    """Return a text with pictures in place of its control characters.

    Parameters
    ----------
    lines : bool
        Keep line ends and tabs: the text consists of our own lines.

    Examples
    --------
    >>> visible("a\\x1b[31mb\\n")
    'a␛[31mb␊'
    """
    return text.translate(_PICTURES_IN_LINES if lines else _PICTURES)


def joined_lines(lines: Iterable[str]) -> str:
    """Join lines into a text; line ends inside a line come from outside and are made visible."""
    return "\n".join(map(visible, lines))


def escape(text: str) -> str:
    """Return a text for HTML and SVG: markup escaped, control characters visible."""
    from html import escape

    return escape(visible(text, lines=True))


# -- results, on standard output ------------------------------------------------------------------


class UnreadError(Exception):
    """The reader of the results has closed the pipe."""


class Results:
    """Standard output as a stream of data; on a terminal its control characters are visible."""

    def write(self, data: bytes) -> int:
        """Write a text; it may be buffered."""
        try:
            if on_terminal("stdout"):
                return sys.stdout.write(visible(data.decode(errors="replace"), lines=True))
            return sys.stdout.buffer.write(data)
        except BrokenPipeError:
            raise UnreadError from None

    def flush(self) -> None:
        """Write the buffer."""
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise UnreadError from None


def put(text: str, end: str = "\n") -> None:
    """Print a text of lines."""
    _print(visible(text, lines=True), end)


def put_json(value: Any) -> None:
    """Print a value as JSON, in ASCII."""
    import json

    _print(json.dumps(value).replace("\x7f", "\\u007f"))


def _print(text: str, end: str = "\n") -> None:
    try:
        sys.stdout.write(f"{text}{end}")
        sys.stdout.flush()
    except BrokenPipeError:
        raise UnreadError from None


# -- notes, on standard error ---------------------------------------------------------------------


def note(line: str) -> None:
    """Print a line about the work; failing to write it does not end the work."""
    Notes().write(visible(line) + "\n")


class Notes:
    """Standard error as a stream that may be closed, broken or full."""

    @property
    def encoding(self) -> str:
        """The encoding of the stream."""
        return getattr(sys.stderr, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write and flush."""
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write(text)
            sys.stderr.flush()
        return len(text)

    def flush(self) -> None:
        """Do nothing: every write flushes."""

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return on_terminal("stderr")


# -- streams of a process -------------------------------------------------------------------------


def on_terminal(name: str) -> bool:
    """Return whether "stdout" or "stderr" is a terminal; a closed stream is not."""
    try:
        return bool(getattr(sys, name).isatty())
    except (AttributeError, ValueError):
        return False


def prepare_streams() -> None:
    """Make the standard streams of a process usable, or make them fail with a clear error.

    Streams that were closed before the process began are opened, so that no file gets their
    numbers. Notes are dropped then; reading or writing data is an error, as for other programs.
    """
    modes = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, mode in modes.items():  # in the order of their file descriptors
        if getattr(sys, name) is None:
            handle, kind = os.open(os.devnull, mode), "r" if name == "stdin" else "w"
            setattr(sys, name, open(handle, kind, encoding="utf-8", closefd=False))  # noqa: SIM115
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def drop_unwritten() -> None:
    """Drop unwritten output: flushing it at exit would raise the error again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
