"""CSV: tables of tokens whose columns have names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...exceptions import LineError
from ..answers import as_text
from ..tables import TableColumns, is_heading, table_separator
from .format import Format, Sentences, first_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..answers import Answer

__all__ = ["Csv"]


class Csv(Format):
    """CSV with names of the columns in the first line; a row for each token.

    Commas separate the columns, or semicolons or tabs where the first line has these.

    A column called sentence or sentence_id tells sentences apart (where it is empty the sentence
    goes on); otherwise blank lines do. A label that is blank does not fit: it would be missing.
    """

    name = "csv"
    called = "CSV"
    extensions = (".csv",)

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        cells = first_line(head).decode(errors="replace").strip().split(",")
        return is_heading([cell.strip('" ') for cell in cells])

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._table: TableColumns | None = None
        self._separator = ","
        self._sentence = ""  # what its column has in the last row

    def fault(self, label: str, names: Sequence[str]) -> str:
        if not label.strip():
            return "it is blank, as if it were missing"
        return super().fault(label, names)

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        held: list[bytes] = []  # a cell in quotes may have blank lines in it
        before = quotes = 0
        for text, line in pieces:
            before = before if held else line
            held.append(text)
            quotes += text.count(b'"')
            if quotes % 2 == 0:
                yield b"".join(held), before
                held = []
        if held:
            yield b"".join(held), before

    def read(self, text: bytes, line: int) -> Sentences:
        import csv
        import io

        content = self._decoded(text, line)
        if self._table is None:
            heading = re.split("[\r\n]", content.lstrip(), maxsplit=1)[0]
            self._separator = table_separator(heading.strip())
        rows = csv.reader(io.StringIO(content, newline=""), delimiter=self._separator)
        self._table_rows: list[list[str]] = []
        self._heading: list[str] | None = None
        found: Sentences = [[]]
        try:
            for row in rows:
                at = line + rows.line_num
                if self._table is None and any(row):
                    self._learn(row, at)
                    self._heading = row
                    continue
                if not any(cell.strip() for cell in row):
                    self._table_rows.append([])
                    if found[-1]:
                        found.append([])
                    continue
                self._token(row, at, found)
        except csv.Error as error:
            raise LineError(line + rows.line_num, f"not CSV: {error}") from None
        self._check_words(found)
        return [sentence for sentence in found if sentence]

    def _check_words(self, found: list[Any]) -> None:
        """Refuse whole sentences in the place of words; a word such as "10 000" is allowed."""
        tokens = [token for sentence in found for token in sentence]
        long = [(at, cells[0]) for at, cells in tokens if len(cells[0].split()) > 1]
        if self._table is not None and 2 * len(long) > len(tokens):
            at, words = long[0]
            name = self._table.names[self._table.cells[0]]
            raise LineError(
                at,
                f"the column {name!r} has several words in a row, {words!r:.60}: write a row for "
                "each word, with the columns sentence, word, tag (the number of its sentence, the "
                "word, its label)",
            )

    def _learn(self, row: list[str], line: int) -> None:
        if not self.header and not is_heading(row):
            raise LineError(
                line,
                f"the first line of a CSV file names its columns, and {', '.join(row)!r:.60} does "
                "not look like names such as sentence,word,tag; if these are the names, say so "
                "(--header); otherwise add a first line with names",
            )
        self._table = TableColumns(row)

    def _token(self, row: list[str], at: int, found: list[Any]) -> None:
        table = self._table
        assert table is not None
        if len(row) != len(table.names):
            raise LineError(at, f"{len(row)} columns, where the heading has {len(table.names)}")
        if table.sentence is not None:
            sentence = row[table.sentence]
            if sentence and sentence != self._sentence and found[-1]:
                found.append([])
            self._sentence = sentence or self._sentence
        for i in table.cells:
            if not row[i].strip():
                raise LineError(at, f"the column {table.names[i]!r} is empty")
        self._table_rows.append(row)
        found[-1].append((at, tuple(row[i] for i in table.cells)))

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        import csv
        import io

        table = self._table
        assert table is not None
        old = None if place is None or place >= len(table.cells) else table.cells[place]
        out = io.StringIO()
        dialect: Any = {"delimiter": self._separator, "lineterminator": "\n"}
        plain = csv.writer(out, **dialect)
        quoted = csv.writer(out, **dialect, quoting=csv.QUOTE_ALL)

        def put(row: list[str]) -> None:
            # A carriage return ends a line for readers, and the writer does not quote it.
            (quoted if any("\r" in cell for cell in row) else plain).writerow(row)

        if self._heading is not None:
            put([*self._heading, *(names if old is None else names[1:])])
        tokens = (more for sentence in added for more in sentence)
        for row in self._table_rows:
            if not row:
                out.write("\n")
                continue
            more = list(map(as_text, next(tokens)))
            if old is not None:
                row[old] = more.pop(0)
            put([*row, *more])
        return self._encoded(out.getvalue())
