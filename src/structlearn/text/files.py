"""Text files as pieces of bytes: plain, compressed, or standard input; and files written whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import _core
from ..exceptions import FileError, LineError

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

#: A line without end is no text; there are JSON and CSV files of one line.
_LONGEST_LINE = 1 << 30


def _reason(error: BaseException) -> str:
    """Say what went wrong in a few words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error) or type(error).__name__


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading; ``-`` is standard input, and gzip is undone.

    A folder of brat's documents is read as one text.
    """
    name = os.fspath(path)
    if name.endswith(".ann") or os.path.isdir(name):
        from .brat_folders import is_brat, packed

        if is_brat(name):
            from io import BytesIO

            yield BytesIO(packed(name))
            return
    opened: Any = None
    try:
        source: Any = sys.stdin.buffer
        if name != "-":
            source = opened = open(name, "rb")  # noqa: SIM115
        # What a gzip file begins with, whatever its name; a pipe cannot go back, so only a look.
        if hasattr(source, "peek") and source.peek(2)[:2] == b"\x1f\x8b":
            import gzip

            inflated: Any = gzip.GzipFile(fileobj=source, mode="rb")
            with inflated:
                yield inflated
        else:
            yield source
    except (OSError, EOFError) as error:
        raise FileError(name, _reason(error)) from error
    except Exception as error:
        if type(error).__module__ == "zlib":
            raise FileError(name, f"the compressed data is damaged: {error}") from error
        raise
    finally:
        if opened is not None:
            opened.close()


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the whole content of a file."""
    with open_bytes(path) as file:
        return file.read()


def parsed_json(text: str) -> Any:
    """Return what a text says that came from outside; LineError where it is not JSON."""
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise LineError(error.lineno, error.msg) from None
    except ValueError:
        raise LineError(0, "a number has thousands of digits") from None
    except RecursionError:
        raise LineError(0, "lists or objects are nested too deeply") from None


def _is_blank(text: bytes) -> bool:
    return not text.strip(b"\xef\xbb\xbf\r\n")


def pieces(path: str | os.PathLike[str], size: int) -> Iterator[tuple[bytes, int]]:
    """Yield the file in pieces of about ``size`` bytes that end where a sentence ends.

    Each comes with the number of lines before it. A sentence longer than a piece is not torn, and
    blank lines are no piece of their own: formats and headings are found in the first piece.
    """
    held: list[bytes] = []  # whole lines of a sentence that has not ended yet
    blank = True  # what is held
    tail, length, line = [b""], 0, 0  # the beginning of a line
    with open_bytes(path) as file:
        while block := file.read(size):
            if b"\n" not in block:
                tail.append(block)
                length += len(block)
                if length > _LONGEST_LINE:
                    raise FileError(
                        os.fspath(path),
                        f"a line has more than {_LONGEST_LINE} bytes: is this text?",
                    )
                continue
            text = b"".join([*tail, block])
            cut = _core.last_sentence_end(text)
            if cut and not (blank and _is_blank(text[:cut])):
                piece = b"".join([*held, text[:cut]])
                yield piece, line
                line += _core.count_lines(piece)
                held, text, blank = [], text[cut:], True
            end = text.rfind(b"\n") + 1
            held.append(text[:end])
            blank = blank and _is_blank(text[:end])
            tail, length = [text[end:]], len(text) - end
    rest = b"".join([*held, *tail])
    if rest:
        yield rest, line


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    try:
        with open(name, "wb") as file:
            yield file
    except OSError as error:
        raise FileError(name, f"cannot be written: {_reason(error)}") from error


@contextmanager
def written_text(
    output: str | os.PathLike[str] | IO[bytes], folder: bool = False
) -> Iterator[IO[bytes]]:
    """Write a text file as :func:`replaced` does; compressed where its name ends in ``.gz``.

    A file that is open already is written as it is.

    Parameters
    ----------
    folder : bool
        What is written is a folder of brat's documents, packed; it gets its files at the end.
    """
    if folder:
        from io import BytesIO

        from .brat_folders import unpack

        if not isinstance(output, (str, os.PathLike)):
            raise ValueError("brat's documents are files in a folder: name it, --output FOLDER")
        held = BytesIO()
        yield held
        unpack(held.getvalue(), os.fspath(output))
        return
    if not isinstance(output, (str, os.PathLike)):
        yield output
        return
    with replaced(output) as file:
        if not os.fspath(output).endswith(".gz"):
            yield file
            return
        import gzip

        deflated: Any = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
        with deflated:
            yield deflated


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file under another name and give it its own name only when it is whole.

    Whatever happens in between, a file that was there before stays as it was.
    """
    name = os.fspath(path)
    if os.path.exists(name) and not os.path.isfile(name):
        with _opened(name) as file:  # a pipe or a device: nothing to replace
            yield file
        return
    target = os.path.realpath(name)  # a link goes on pointing where it points
    temporary = f"{target}.{os.getpid()}.part"
    try:
        try:
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):  # the new file is as readable as the old one
                os.chmod(temporary, os.stat(target).st_mode & 0o7777)
            os.replace(temporary, target)
        except OSError as error:
            raise FileError(name, f"cannot be written: {_reason(error)}") from error
    finally:
        # Gone already where all went well; otherwise half a file is worth nothing.
        with suppress(OSError):
            os.unlink(temporary)
