"""The formats of text files by their names."""

from __future__ import annotations

from .brackets import Brackets
from .csv_table import Csv
from .format import Format
from .json_lines import JsonLines
from .lines import Columns, Conllu, Text

__all__ = ["FORMATS", "register", "token_formats"]

#: A file is tried for each from the last one to the first: whatever is no other format is a column
#: file, and those that were registered come before ours.
FORMATS: dict[str, type[Format]] = {
    format.name: format for format in (Columns, Text, Brackets, Csv, Conllu, JsonLines)
}


def register(format: type[Format]) -> type[Format]:
    """Let files of another format be read and labelled, as a decorator of its class.

    The format is known by its ``name`` to functions and to commands that this process runs.
    """
    if not (isinstance(format, type) and issubclass(format, Format)):
        raise TypeError(f"a format is a subclass of Format, got {format!r:.60}")
    if not format.name or not format.called:
        raise ValueError(f"{format.__name__} needs a name, and what it is called in messages")
    if format.name in FORMATS:
        raise ValueError(f"there is a format {format.name!r} already: {FORMATS[format.name]!r}")
    FORMATS[format.name] = format
    return format


def token_formats(labelled: bool = False) -> tuple[str, ...]:
    """Return the names of those with sentences in columns; ``labelled``: with labels, too."""
    tokens = (format for format in FORMATS.values() if format.holds == "tokens")
    return tuple(sorted(format.name for format in tokens if format.labelled or not labelled))
