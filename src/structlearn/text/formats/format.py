"""A format of text files: how it is recognised, read, and written with what a model found.

A new format is a subclass of :class:`Format`: a file in this folder and a name in ``FORMATS``, or
one of another package that :func:`register` is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...exceptions import LineError
from ..answers import BLANKS, list_fault
from ..tokens import add_tokens

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from re import Pattern
    from typing import Any

    from ... import _core
    from ..answers import Answer
    from ..tables import Naming

#: Sentences of a piece: the line and the cells of each token.
Sentences = list[list[tuple[int, tuple[str, ...]]]]


class Format:
    """One file of a format. ``read`` a piece of it, then ``write`` the piece with what was found.

    Parameters
    ----------
    header : bool
        The first line names the columns, whatever it looks like.
    """

    #: By this name the command line and functions know it, and by this one messages.
    name = called = ""
    #: How the names of its files end.
    extensions: tuple[str, ...] = ()
    #: What is read: "tokens", sentences of cells in columns; or "trees".
    holds = "tokens"
    #: Whether it is told from column files by the content, wherever sentences are read.
    guessed = True
    #: Whether files may have labels to learn from.
    labelled = True
    #: The core reads it, and labels its files from text to text.
    native = False
    #: Where a text may be cut, after the match; None: nowhere.
    ends: Pattern[bytes] | None = None
    #: The format whose names of columns it has.
    named_as = "columns"
    #: Labels are written where the file has such labels already.
    replaces = True
    #: It holds texts with spans, which a tokeniser cuts.
    spans = False
    #: The name of that tokeniser; None: the usual one.
    tokens: str | None = None
    #: Tokens of texts are split where spans cut them.
    splits = True
    #: Labels that a file has already stay as they are when it is labelled.
    known = False
    #: The columns of a table that somebody named; None: the usual names decide.
    naming: Naming | None = None
    #: The file's own names of the cells of a token, once the first piece was read; empty: none.
    names: tuple[str, ...] = ()
    #: Which column tells sentences apart, and which one has whole texts; empty: none.
    sentence = text = ""
    #: What the labels are called that are added to a file; empty: as usual in this format.
    label_name = ""
    #: The labels are whole numbers, and written as such if the format has numbers.
    whole_numbers = False

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        """Tell whether a file is of this format, by its beginning."""
        raise AssertionError

    def __init__(self, header: bool = False) -> None:
        self.header = header
        self._mark = ""  # the byte order mark of a file, which stays
        #: What was done about odd things in what was read: the line, and what is said of it.
        self.remarks: list[tuple[int, str]] = []
        #: What was found out about the file, and what there is to doubt, as sentences.
        self.findings: list[str] = []
        self.doubts: list[str] = []

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

    def read(self, text: bytes, line: int) -> Any:
        """Return what a piece holds: sentences, or trees with the line that each begins on.

        ``line``: the number of lines before the piece. A mistake in it is a ``LineError``.
        """
        raise AssertionError

    def fill(self, core: _core.Corpus, text: bytes) -> None:
        """Read a whole file into a corpus of the core."""
        for number, sentence in enumerate(self.read(text, 0)):
            lines, tokens = zip(*sentence, strict=True)
            try:
                add_tokens(core, list(tokens), number, lines)
            except ValueError as error:
                raise LineError(lines[0], str(error)) from None

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


def first_line(head: bytes) -> bytes:
    """Return the first line that is neither blank nor a comment; empty: there is none."""
    lines = head[:65536].removeprefix(b"\xef\xbb\xbf").splitlines()
    return next((line for line in lines if line.strip() and not line.startswith(b"#")), b"")
