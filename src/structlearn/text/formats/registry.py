"""The formats of text files by their names."""

from __future__ import annotations

from ...exceptions import FileError
from .brackets import Brackets
from .brat import Brat
from .csv_table import Csv
from .doc_bin import DocBin
from .format import Format
from .json_lines import JsonLines
from .label_studio import LabelStudio
from .lines import Columns, Conllu, Text
from .parquet import Parquet
from .span_lines import Doccano, Prodigy

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

#: A file is tried for each from the last one to the first: whatever is no other format is a column
#: file, and those that were registered come before ours.
FORMATS: dict[str, type[Format]] = {
    format.name: format
    for format in (
        *(Columns, Text, Brackets, Csv, Conllu, JsonLines, Parquet),
        *(Prodigy, Doccano, LabelStudio, Brat, DocBin),
    )
}


#: Entry points of this group are formats of installed packages.
GROUP = "structlearn.formats"
_looked_for: set[str] = set()


def find_installed(group: str = GROUP) -> bool:
    """Register the formats of installed packages; tell whether any is new.

    That takes as long as labelling thousands of tokens: it is for names that are not known.
    """
    if group in _looked_for:
        return False
    _looked_for.add(group)
    from importlib.metadata import entry_points

    before = len(FORMATS)
    for point in entry_points(group=group):
        try:
            register(point.load())
        except Exception as error:  # of another package; others do not suffer from it
            import warnings

            told = f"the format {point.name!r} of the package {point.module!r}"
            warnings.warn(f"{told} cannot be used: {error}", stacklevel=3)
    return len(FORMATS) > before


def register(format: type[Format]) -> type[Format]:
    """Let files of another format be read and labelled, as a decorator of its class.

    The format is known by its ``name`` to functions and to commands that this process runs. Those
    of an installed package are known to every process, if it has them as entry points of the group
    ``structlearn.formats``; they are registered when a format, or the ending of a file, is unknown.
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


def span_formats() -> tuple[str, ...]:
    """Return the names of formats of texts with spans."""
    return tuple(format.name for format in FORMATS.values() if format.spans)


def is_spans(name: str) -> bool:
    """Tell whether a format holds texts with spans."""
    return name in FORMATS and FORMATS[name].spans


def rewriting(source: Format | None, to: str, path: object) -> Format:
    """Return what reads texts of one format and writes their spans in another.

    Parameters
    ----------
    source : Format or None
        What reads the file; None: each line is a text.
    to : str
        The name of the other one.
    path : path
        The file, for messages.
    """
    from .rewritten import Rewritten
    from .span_format import SpanFormat

    names = ", ".join(span_formats())
    if not is_spans(to):
        raise ValueError(f"spans are written as one of {names}, not as {to!r}")
    if source is not None and not isinstance(source, SpanFormat):
        raise FileError(
            str(path),
            f"its tokens have no places in a text; spans are found in {names}, and in text "
            "(--format text). structlearn convert makes texts of tokens",
        )
    target: Any = FORMATS[to]()
    return Rewritten(source, target)


class FormatNames:
    """The names of formats, as choices of an option: those of installed packages too.

    Parameters
    ----------
    names : callable
        Gives the names of those that are known.
    """

    def __init__(self, names: Callable[[], Collection[str]]) -> None:
        self._names = names

    def __contains__(self, name: object) -> bool:
        return name in self._names() or (find_installed() and name in self._names())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())
