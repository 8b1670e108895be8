"""One format of sentences: cells that a model reads, and labels written beside them.

Files of the format that a model was trained on are labelled in the core. A codec reads any other
format piece by piece, and writes each piece again with what was found for its tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exceptions import LineError
from .answers import BLANKS, list_fault

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .answers import Answer

__all__ = ["Codec", "Sentences"]

#: Sentences of a piece: the line and the cells of each token.
Sentences = list[list[tuple[int, tuple[str, ...]]]]


class Codec:
    """One format. ``read`` a piece, then ``write`` it with what was found."""

    #: What the format is called.
    called = ""
    #: The format whose names of columns it has.
    named_as = "columns"
    #: Labels are written where the file has such labels already.
    replaces = True

    def __init__(self, header: bool = False) -> None:
        self.header = header
        self._mark = ""  # the byte order mark of a file, which stays

    def prepare(self, first: bytes, labels: Sequence[str], beside: bool = False) -> None:
        """Get ready to write labels into a file.

        Parameters
        ----------
        first : bytes
            The first piece of the file.
        labels : sequence of str
            All that may be written.
        beside : bool
            The format has columns, and none for these labels.
        """

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        """Return pieces that can be read one by one, of those that end at blank lines."""
        return pieces

    def read(self, text: bytes, line: int) -> Sentences:
        """Return the sentences of a piece. ``line``: the number of lines before it."""
        raise AssertionError

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        """Return the piece that was read last, with labels.

        Parameters
        ----------
        added : list of lists
            What was found for each token of each sentence.
        names : sequence of str
            What that is called.
        place : int or None
            The column of the cells in which the label belongs; None: a new one.
        """
        raise AssertionError

    def fault(self, label: str, names: Sequence[str]) -> str:
        """Say why a label cannot be written so that it is read again; empty: it can."""
        return list_fault(label, names)

    def _decoded(self, text: bytes, line: int) -> str:
        try:
            content = text.decode()
        except UnicodeDecodeError as error:
            number = line + text[: error.start].count(b"\n") + 1
            raise LineError(number, "not valid UTF-8: convert the file to UTF-8 first") from None
        self._mark = "\ufeff" if line == 0 and content.startswith("\ufeff") else ""
        return content.removeprefix(self._mark)

    def _rows(self, text: bytes, line: int) -> list[str]:
        """Return the lines without blanks at their ends; what follows the last line end is one."""
        rows = [row.rstrip(BLANKS) for row in self._decoded(text, line).split("\n")]
        for number, row in enumerate(rows, line + 1):
            if "\r" in row:
                raise LineError(
                    number, "a carriage return inside the line: convert the line ends first"
                )
        return rows

    def _encoded(self, content: str) -> bytes:
        return (self._mark + content).encode()
