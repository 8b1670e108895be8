"""Formats of files of sentences: which one a file has, and whether it begins with a heading."""

from __future__ import annotations

import os
import re

from ..exceptions import LineError

__all__ = ["FORMATS", "guess_format", "split_heading"]

#: Formats of files of sentences.
FORMATS = ("columns", "conllu", "csv", "jsonl", "text")


def guess_format(path: str | os.PathLike[str], text: bytes) -> str:
    """Say what a file is, by its name, else by what is in it.

    One of "conllu", "jsonl", "csv" and "columns", which is everything else.
    """
    name = os.fspath(path).lower().removesuffix(".gz")
    for ending, format in _ENDINGS.items():
        if name.endswith(ending):
            return format
    if _ARRAY.match(text):
        return "jsonl"
    lines = text[:65536].removeprefix(b"\xef\xbb\xbf").splitlines()
    for line in lines:
        if not line.strip() or line.startswith(b"#"):
            continue
        cells = line.split(b"\t")
        head = cells[0].replace(b"-", b"").replace(b".", b"")
        if len(cells) == 10 and head.isdigit():
            return "conllu"
        if line.startswith(b"{") and line.rstrip().endswith(b"}") and b":" in line:
            return "jsonl"
        if len(cells) == 1 and b"," in line:
            from .tables import is_heading

            heading = line.decode(errors="replace").strip().split(",")
            return "csv" if is_heading([cell.strip('" ') for cell in heading]) else "columns"
        return "columns"
    return "columns"


#: An array of objects: read as JSON lines are.
_ARRAY = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*"')

_ENDINGS = {
    ".conllu": "conllu",
    ".conll-u": "conllu",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
}


def split_heading(text: bytes, header: bool) -> tuple[bytes, bytes]:
    """Return the heading of a column file, with its line end, and the rest.

    Raises ``LineError`` where there is a heading and nobody said so (``header``).
    """
    start = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    while text[start : start + 1] in (b"\n", b"\r"):
        start += 1
    end = text.find(b"\n", start) + 1 or len(text)
    line = text[start:end].decode(errors="replace").strip()
    if not header:
        from .tables import is_heading

        cells = line.split("\t") if "\t" in line else line.split()
        if is_heading(cells):
            raise LineError(
                text[:start].count(b"\n") + 1,
                f"this line names the columns ({', '.join(cells)}) and is not a token: delete it, "
                "or have it skipped (--header; in Python read_corpus(path, header=True))",
            )
        return b"", text
    return text[:end], text[end:]
