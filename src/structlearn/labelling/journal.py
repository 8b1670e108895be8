"""The file of answers: every answer is on disk before anybody is told so.

A new answer is a line at the end of the file, in one write and with fsync. What changes an earlier
answer writes the file anew under another name, which then takes its place. So the file is JSON
lines of texts with their labels at every moment, however the process ends. A lock beside it keeps
other processes of ours away; a file that another program has changed is read again first.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..exceptions import FileError, LineError
from ..text.files import parsed_json, replaced
from ..text.formats.span_lines import as_line


class Journal:
    """Answers in a file of JSON lines, an object with a "text" on each.

    Parameters
    ----------
    path : str
        A new file, or one of earlier answers.
    check : callable
        Raises LineError where an object cannot be an answer; gets the object and its line.

    Attributes
    ----------
    items : dict
        The objects by their texts, in the order of the file. Of equal texts the last one counts.
    remark : str
        What there is to say about how the file was read.
    """

    def __init__(self, path: str, check: Callable[[Any, int], None]) -> None:
        self.path, self._check = path, check
        self.items: dict[str, dict[str, Any]] = {}
        self.remark = ""
        self._lock = _locked(f"{path}.lock", path)
        try:
            self._open()
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Let others write the file."""
        if self._lock >= 0:
            os.close(self._file)
            os.close(self._lock)
            self._lock = -1

    # -- reading --------------------------------------------------------------------------------

    def _open(self) -> None:
        new = not os.path.exists(self.path)
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise FileError(self.path, f"cannot be opened: {error.strerror}") from error
        try:
            items, size, tail = self._read(file)
            if size >= 0:
                self.remark = f"{self.path}: half an answer at its end was never told to be saved"
                os.ftruncate(file, size)
            elif tail:
                os.write(file, b"\n")
        except BaseException:
            os.close(file)
            raise
        if new:
            _sync_folder(self.path)
        self._file, self.items = file, items
        self._seen = self._look()

    def _read(self, file: int) -> tuple[dict[str, dict[str, Any]], int, bool]:
        """Return the answers; where half an answer begins, or −1; if the last line has no end."""
        with open(os.dup(file), "rb") as stream:
            stream.seek(0)
            content = stream.read()
        items, at = dict[str, dict[str, Any]](), 0
        for number, row in enumerate(content.split(b"\n"), 1):
            last = at + len(row) >= len(content)
            if row.strip():
                try:
                    item = _parsed(row, number)
                except LineError as error:
                    ours = row.startswith(b'{"text"') or (items and b'{"text"'.startswith(row))
                    if last and ours:
                        return items, at, False
                    raise error.in_file(self.path) from None
                try:
                    self._check(item, number)
                except LineError as error:
                    raise error.in_file(self.path) from None
                items.pop(item["text"], None)  # the later one stands where it was given
                items[item["text"]] = item
            at += len(row) + 1
        return items, -1, bool(content) and not content.endswith(b"\n")

    def _look(self) -> tuple[int, int, int]:
        status = os.stat(self.path)
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _refresh(self) -> bool:
        """Read the file again if another program has changed it; return whether it was."""
        try:
            if self._look() == self._seen:
                return False
        except FileNotFoundError:  # somebody has deleted it; what was saved comes back
            self._write(self.items)
            return True
        before = self._file
        self._open()
        os.close(before)
        return True

    # -- writing --------------------------------------------------------------------------------

    def put(self, item: Mapping[str, Any]) -> None:
        """Save an answer; it is on disk when this returns. A FileError says that it is not."""
        self._refresh()
        if item["text"] in self.items:
            self.rewrite({**self.items, item["text"]: dict(item)})
            return
        line = (as_line(item) + "\n").encode()
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) != len(line):
                raise OSError(28, "the disk has no room for all of it")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)  # half a line would be in the way of the next one
            self._seen = self._look()
            raise FileError(self.path, f"the answer is not saved: {error.strerror}") from error
        self._seen = self._look()
        self.items[item["text"]] = dict(item)

    def remove(self, text: str) -> None:
        """Take an answer back."""
        self._refresh()
        self.rewrite({key: item for key, item in self.items.items() if key != text})

    def rewrite(self, items: Mapping[str, dict[str, Any]]) -> None:
        """Replace all answers; the file is the old one or the new one at every moment."""
        self._refresh()
        self._write(items)

    def _write(self, items: Mapping[str, dict[str, Any]]) -> None:
        with replaced(self.path) as file:
            file.write("".join(f"{as_line(item)}\n" for item in items.values()).encode())
        _sync_folder(self.path)
        before = self._file
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)
        os.close(before)
        self.items, self._seen = dict(items), self._look()


def _parsed(row: bytes, number: int) -> dict[str, Any]:
    try:
        item = parsed_json(row.decode())
    except UnicodeDecodeError:
        raise LineError(number, "not valid UTF-8") from None
    except LineError as error:
        raise LineError(
            number,
            f"no answer of the page, or a damaged one ({error.reason}): mend this line or take it "
            "out, or name another file with --data",
        ) from None
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise LineError(
            number,
            'an answer is an object with a text on one line, {"text": "...", ...}. Files of other '
            "formats are converted first: structlearn convert OLD labels.jsonl --to prodigy",
        )
    return item


def _locked(path: str, of: str) -> int:
    """Return an open file that is locked until it is closed, or the process ends."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise FileError(of, f"cannot be written: {error.strerror}") from error
    try:
        _lock(lock)
    except OSError:
        holder = os.read(lock, 500).decode(errors="replace").strip()
        os.close(lock)
        raise FileError(
            of,
            f"another page writes this file ({holder or 'an unknown process'}): open its link "
            "in one more tab, end it first, or name another file with --data",
        ) from None
    os.ftruncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
    return lock


def _lock(handle: int) -> None:
    """Lock a file for this process as long as it is open; OSError if another has it."""
    if sys.platform == "win32":  # a byte behind the end: what is locked cannot be read by others
        import msvcrt

        os.lseek(handle, 1 << 30, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(path: str) -> None:
    """Make the name of a new file last, too."""
    if sys.platform == "win32":
        return  # folders cannot be opened there, and their entries are written through
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
