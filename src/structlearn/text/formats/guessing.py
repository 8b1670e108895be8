"""Which format a file has: by its name, else by what is in it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...exceptions import FileError
from .lines import lines_are
from .registry import FORMATS, find_installed

#: How names of files of any format end.
_USUAL = ("", ".txt", ".tsv", ".tmp", ".train", ".dev", ".test", ".data")


def check_format(name: str | None, among: Sequence[str], reader: str = "") -> str | None:
    """Return the name of a format that may be read here; None: it is not said.

    ``reader``: who reads it.
    """
    if name is None or name in among:
        return name
    if name not in FORMATS and find_installed() and name in FORMATS:
        return check_format(name, (*among, name) if FORMATS[name].holds == "tokens" else among)
    names = ", ".join(among)
    raise ValueError(
        f"{reader} reads the formats {names}, not {name!r}"
        if reader
        else f"format must be one of {names}, got {name!r}"
    )


def guess_format(path: str | os.PathLike[str], head: bytes, *also: str) -> str:
    """Return the format of a file, given its beginning.

    ``also``: formats that are hard to tell from columns and may be read here: "text", "brackets".
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    known = (*_USUAL, *(end for format in FORMATS.values() for end in format.extensions))
    if os.path.splitext(name)[1] not in known:
        find_installed()
    kinds = [f for f in reversed(FORMATS.values()) if f.guessed or f.name in also]
    named = [format for format in kinds if name.endswith(format.extensions)]
    for format in named[:-1]:  # several are told apart by what they hold
        if format.sniff(head):
            return format.name
    if named:
        return named[-1].name
    return next(format.name for format in kinds if format.sniff(head))


def sure_format(
    source: str | os.PathLike[str], text: bytes, reads: Sequence[str] = ("word",)
) -> str:
    """Return the format of a file of words, whose first piece is given; a guess is a sure one.

    Raises ``FileError`` where nobody can know: several words on a line are a sentence, or the
    columns of one word. ``reads`` names the columns that are needed.
    """
    guess = guess_format(source, text)
    if guess != "columns":
        return guess
    sure = lines_are(text)
    if sure is not None and (sure == "columns" or len(reads) == 1):
        return sure
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        words = line.split()
        if len(words) > 1 and not line.startswith(b"#"):
            if words[0] == b"1" and line.count(b"\t") > 5:
                return "conllu"  # whoever reads it says what is wrong with it
            told = "use --format text if each line is a sentence, --format columns if the first "
            told += "column holds the words"
            if len(reads) > 1:
                told = f"use --format columns if its columns are {', '.join(reads)}"
            raise FileError(
                os.fspath(source), f"it has {len(words)} columns and is not CoNLL-U: {told}", number
            )
        if words:
            break
    return "columns"
