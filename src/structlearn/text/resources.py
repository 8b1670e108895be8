"""Files that templates name: lists of phrases, and word vectors."""

from __future__ import annotations

import os
from array import array
from math import isfinite

from ..exceptions import FileError
from .files import read_bytes


def _text(path: str) -> str:
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"not valid UTF-8: {error.reason}") from None


def _lower(text: str) -> str:
    """Lower case character by character, as lower() in templates has it (no final sigma)."""
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def read_phrases(path: str, lower: bool = False) -> list[tuple[list[str], str]]:
    """Read a list of phrases: one per line, its words separated by spaces; after a tab, its name.

    Phrases without a name are named after the file.
    """
    usual = os.path.splitext(os.path.basename(path.removesuffix(".gz")))[0]
    phrases = []
    for line in _text(path).splitlines():
        phrase, _, name = line.partition("\t")
        words = (_lower(phrase) if lower else phrase).split()
        if words:
            phrases.append((words, name.strip() or usual))
    if not phrases:
        raise FileError(path, "the file contains no phrases")
    return phrases


def read_vectors(path: str) -> tuple[list[str], array[float], int]:
    """Read word vectors as text: one word with its numbers per line (word2vec's and GloVe's
    format).

    A first line of two numbers, the sizes, is passed over.
    """
    names: dict[str, None] = {}
    values = array("f")
    width = 0
    # Not splitlines: words of vectors may have other line ends of Unicode in them.
    text = _text(path).removesuffix("\n")
    for number, line in enumerate(text.split("\n") if text else [], 1):
        fields = line.rstrip(" \r").split(" ")
        if number == 1 and len(fields) == 2 and all(f.isdigit() for f in fields):
            continue
        if len(fields) < 2:
            raise FileError(path, "a word and its numbers expected", number)
        width = width or len(fields) - 1
        if len(fields) - 1 != width:
            raise FileError(path, f"{len(fields) - 1} numbers where {width} are expected", number)
        if fields[0] in names:
            continue  # the first of a word that comes twice
        try:
            values.extend(float(f) for f in fields[1:])
        except ValueError as error:
            raise FileError(path, str(error), number) from None
        names[fields[0]] = None
    if not names:
        raise FileError(path, "the file contains no vectors")
    for i, x in enumerate(values):
        if not isfinite(x):
            raise FileError(path, f"the vector of {list(names)[i // width]!r} is not finite")
    return list(names), values, width
