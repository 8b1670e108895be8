"""Dictionaries: files of words, with weights where somebody gives them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...exceptions import FileError
from ...text.files import read_bytes

if TYPE_CHECKING:
    from typing import Any

#: Characters of a word that can be looked for.
LONGEST = 64


def read_dictionary(source: Any, blanks: bool = False) -> dict[str, float]:
    """Return words with their weights; infinite: always a word.

    Parameters
    ----------
    source : path, mapping or list
        A word on each line, and after a tab or a comma its weight if it has one; ``#`` begins a
        comment.
    blanks : bool
        Words may have blanks in them.
    """
    if isinstance(source, Mapping):
        pairs = [(word, float(weight), "the dictionary", 0) for word, weight in source.items()]
    elif isinstance(source, (str, os.PathLike)):
        pairs = list(_lines(os.fspath(source)))
    elif isinstance(source, (list, tuple, set, frozenset)):
        pairs = [(word, math.inf, "the dictionary", 0) for word in source]
    else:
        raise TypeError(f"a dictionary is a file's name, a list or a mapping, got {source!r:.60}")
    words: dict[str, float] = {}
    for word, weight, name, line in pairs:
        fault = _fault(word, weight, blanks)
        if fault:
            raise FileError(name, fault, line or None)
        words[word] = weight
    return words


def _fault(word: Any, weight: float, blanks: bool) -> str:
    if not isinstance(word, str) or not word.strip():
        return f"{word!r:.60} is not a word"
    if len(word) > LONGEST:
        return f"the word {word!r:.60} has {len(word)} characters; {LONGEST} are possible"
    if math.isnan(weight):
        return f"the weight of {word!r:.60} is not a number"
    if not blanks and any(blank in word for blank in " \t"):
        return f"the word {word!r:.60} has a blank in it, and blanks separate words"
    return ""


def _lines(name: str) -> Any:
    try:
        text = read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(name, f"not valid UTF-8: {error.reason}") from None
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip("\r ")
        if not bare or bare.startswith("#"):
            continue
        for separator in ("\t", ","):
            word, mark, weight = bare.partition(separator)
            if mark and word:
                break
        else:
            word, weight = bare, ""
        try:
            value = math.inf if weight.strip() in ("", "always") else float(weight)
        except ValueError:
            raise FileError(
                name,
                f"the weight of {word!r:.60} is a number or always, got {weight!r:.60}",
                number,
            ) from None
        yield word, value, name, number


def read_entries(source: Any) -> list[tuple[str, str | None]]:
    """Return words with their tags, None for those that have none, for the training of a lattice.

    Parameters
    ----------
    source : path or list
        A word on each line, after a tab or a comma its tag; lines of a dictionary of MeCab, ``word,
        number, number, cost, tag, ...``, are read too. Of a list words, or (word, tag).
    """
    if not isinstance(source, (str, os.PathLike)):
        pairs = [word if isinstance(word, tuple) else (word, None) for word in source]
        for word, _ in pairs:
            if fault := _fault(word, 0.0, True):
                raise FileError("the dictionary", fault)
        return [(word, tag) for word, tag in pairs]
    name = os.fspath(source)
    try:
        text = read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(name, f"not valid UTF-8: {error.reason}") from None
    entries: list[tuple[str, str | None]] = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip("\r ")
        if not bare or bare.startswith("#"):
            continue
        cells = bare.split("\t" if "\t" in bare else ",")
        if not cells[0]:  # a comma is a word too
            cells = [bare[0], *bare[2:].split(",")]
        tag = cells[4] if len(cells) > 4 and _is_number(cells[3]) else "".join(cells[1:2])
        if fault := _fault(cells[0], 0.0, True):
            raise FileError(name, fault, number)
        entries.append((cells[0], None if _is_number(tag) or tag in ("", "always") else tag))
    return entries


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
