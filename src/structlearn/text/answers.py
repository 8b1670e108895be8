"""Labels and probabilities that are added to tokens: as text, as JSON, and where they fit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from ..exceptions import FileError

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    #: What is added to a token: labels (None: the sentence has no more labellings), the probability
    #: of the first one, the probabilities of all labels.
    Answer = Sequence[str | float | dict[str, float] | None]

#: White space of ASCII on a line: it ends lines, and separates columns where there are no tabs.
BLANKS = " \t\r\f\v"
#: Digits after the point of probabilities in files.
_DIGITS = 4
#: What stands in a column of labels where the sentence has no more labellings.
_NO_LABEL = "-"
#: The end of an entry of marginals as text, "N:0.7500,V:0.2500".
_ENTRY = re.compile(rf":\d\.\d{{{_DIGITS}}},")


def as_text(value: Any) -> str:
    """Return a value as a cell of text: probabilities have four digits."""
    if value is None:
        return _NO_LABEL
    if isinstance(value, dict):
        return ",".join(f"{label}:{p:.{_DIGITS}f}" for label, p in value.items())
    return f"{value:.{_DIGITS}f}" if isinstance(value, float) else str(value)


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: probabilities are numbers, rounded to four digits."""
    if isinstance(value, dict):
        return {name: as_json(p) for name, p in value.items()}
    return round(value, _DIGITS) if isinstance(value, float) else value


def cell_fault(cell: str, blanks: bool, last: bool = True) -> str:
    """Say why a string cannot be a cell of a line, so that readers find it again; empty: it can.

    Parameters
    ----------
    blanks : bool
        Blanks separate the columns; otherwise tabs do.
    last : bool
        The cell may be the last one of its line, and blanks there are not read.
    """
    if not cell:
        return "it is empty"
    if "\n" in cell or "\r" in cell:
        return "it has a line end in it"
    if "\t" in cell:
        return "it has a tab in it"
    if blanks and any(c in cell for c in BLANKS):
        return "it has a blank in it, and blanks separate the columns"
    return "it ends in a blank" if last and cell[-1] in BLANKS else ""


def list_fault(label: str, names: Sequence[str]) -> str:
    """Say why a label would be ambiguous among further labels or marginals; empty: it is not."""
    if label == _NO_LABEL and "label2" in names:
        return 'it stands for "no more labellings" in columns of further labels'
    if "marginals" in names and _ENTRY.search(label):
        return "it looks like the end of an entry of marginals"
    return ""


#: What to do about labels that a tagger cannot write into a file.
_INSTEAD = 'JSON lines hold any label: {"tokens": [...]} on each line of a .jsonl file'
#: The same, of a parser.
TREES_INSTEAD = "in Python predict returns trees with any labels"


def check_labels(
    source: str | os.PathLike[str],
    called: str,
    labels: Iterable[str],
    fault: Callable[[str], str],
    instead: str = _INSTEAD,
) -> None:
    """Refuse to label a file if the format of the result cannot hold every label of the model.

    Parameters
    ----------
    called : str
        The format.
    fault : callable
        Says why a label cannot be written; empty: it can.
    instead : str
        What to do.
    """
    for label in labels:
        if reason := fault(label):
            raise FileError(
                os.fspath(source),
                f"{called} cannot hold the label {label!r:.60} of the model: {reason}; {instead}",
            )
