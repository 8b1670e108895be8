"""CSV: tables of tokens whose columns have names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...exceptions import LineError
from ..answers import as_text
from ..tables import (
    LONGEST_SENTENCE,
    Naming,
    TableColumns,
    is_heading,
    long_sentence,
    looks_like_heading,
    table_separator,
)
from .format import Format, Sentences, first_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..answers import Answer

#: A cell in quotes, with the quotes in it written twice.
_ENCLOSED = re.compile(r'"(?:[^"]|"")+"')


class Csv(Format):
    """CSV with names of the columns in the first line; a row for each token, or for each text.

    Commas separate the columns, or semicolons or tabs where the first line has these. In files
    with tabs quotes may be words: they enclose cells only if every quote in the file does.

    A column called sentence or sentence_id tells sentences apart (where it is empty the sentence
    goes on), or another one whose values change with the sentence; otherwise blank lines do. A
    label that is blank does not fit: it would be missing.
    """

    name = "csv"
    called = "CSV"
    extensions = (".csv",)

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        line = first_line(head).decode(errors="replace").strip()
        cells = line.split("\t" if "\t" in line else ",")
        return is_heading([cell.strip('" ') for cell in cells])

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._table: TableColumns | None = None
        self._separator = ","
        self._mark_before = ""  # what the column of the sentence has in the last row
        self._quoting = True

    def fault(self, label: str, names: Sequence[str]) -> str:
        if not label.strip():
            return "it is blank, as if it were missing"
        if self.text and label.split() != [label]:
            return "it has blanks in it, which separate the labels of a text"
        if not self._quoting and "\t" in label:
            return "it has a tab in it"
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
            self._quoting = self._separator != "\t" or _quotes_enclose(content)
        dialect: Any = {} if self._quoting else {"quoting": csv.QUOTE_NONE}
        rows = csv.reader(io.StringIO(content, newline=""), delimiter=self._separator, **dialect)
        self._table_rows: list[list[str]] = []
        self._heading: list[str] | None = None
        lines: list[int] = []
        first = self._table is None
        try:
            for row in rows:
                at = line + rows.line_num
                if self._table is None and any(row):
                    self._learn(row, at)
                    self._heading, self._heading_at = row, len(lines)
                    continue
                blank = not any(cell.strip() for cell in row)
                self._table_rows.append([] if blank else row)
                lines.append(at)
        except csv.Error as error:
            raise LineError(line + rows.line_num, f"not CSV: {error}") from None
        if self._table is None:
            return []
        self._check_widths(lines)
        if first:
            self._settle(self._table)
        found: Sentences = [[]]
        for row, at in zip(self._table_rows, lines, strict=True):
            if row:
                self._row(row, at, found)
            elif found[-1]:
                found.append([])
        self._check_words(found)
        found = [sentence for sentence in found if sentence]
        longest = max(found, key=len, default=[])
        if len(longest) > LONGEST_SENTENCE:
            self.doubts.append(f"line {longest[0][0]}: {long_sentence(len(longest))}")
        return found

    def _check_widths(self, lines: Sequence[int]) -> None:
        """Refuse rows with more or fewer cells than the heading."""
        width = len(self._table.names) if self._table is not None else 0
        for row, at in zip(self._table_rows, lines, strict=True):
            if row and len(row) != width:
                raise LineError(at, f"{len(row)} columns, where the heading has {width}")

    def _settle(self, table: TableColumns) -> None:
        """Find the column that tells sentences apart, once the first rows are known."""
        if all(self._table_rows) and self._table_rows:
            columns = list(zip(*self._table_rows, strict=True))
            if said := table.find_sentences(columns):
                self.findings.append(said)
        self.names = table.cell_names
        self.sentence = "" if table.sentence is None else table.names[table.sentence]
        self.text = "" if table.text is None else table.names[table.text]

    def _check_words(self, found: list[Any]) -> None:
        """Refuse whole sentences in the place of words; a word such as "10 000" is allowed."""
        tokens = [token for sentence in found for token in sentence]
        long = [(at, cells[0]) for at, cells in tokens if len(cells[0].split()) > 1]
        if self._table is not None and 2 * len(long) > len(tokens):
            at, words = long[0]
            name = self._table.names[self._table.cells[0]]
            raise LineError(
                at,
                f"the column {name!r} has several words in a row, {words!r:.60}: if each row is a "
                f"text, say so (--text {name}); otherwise write a row for each word, with the "
                "columns sentence, word, tag (the number of its sentence, the word, its label)",
            )

    def _learn(self, row: list[str], line: int) -> None:
        naming = self.naming or Naming()
        if not (self.header or is_heading(row) or looks_like_heading(row) or naming.meets(row)):
            for name in naming.given:  # it says which one is missing
                self._columns(row, line, Naming(word=name))
            raise LineError(
                line,
                f"the first line of a CSV file names its columns, and {', '.join(row)!r:.60} does "
                "not look like names such as sentence,word,tag; if these are the names, say so "
                "(--header, or --word with the name of the column of words); otherwise add a first "
                "line with names",
            )
        self._table = self._columns(row, line, naming)

    def _columns(self, row: list[str], line: int, naming: Naming) -> TableColumns:
        try:
            return TableColumns(row, naming)
        except ValueError as error:
            raise LineError(line, str(error)) from None

    def _row(self, row: list[str], at: int, found: list[Any]) -> None:
        table = self._table
        assert table is not None
        if table.text is not None:
            self._whole_text(row, at, found)
            return
        if table.sentence is not None:
            mark = row[table.sentence]
            if mark and mark != self._mark_before and found[-1]:
                found.append([])
            self._mark_before = mark or self._mark_before
        for i in table.cells:
            if not row[i].strip():
                raise LineError(at, f"the column {table.names[i]!r} is empty")
        found[-1].append((at, tuple(row[i] for i in table.cells)))

    def _whole_text(self, row: list[str], at: int, found: list[Any]) -> None:
        """Add the sentence that is a row: its words, and labels for all of them or for none."""
        table = self._table
        assert table is not None
        parts = [row[i].split() for i in table.cells]
        for i, part in zip(table.cells[1:], parts[1:], strict=True):
            if not part:
                part.extend("_" * len(parts[0]))
            if len(part) != len(parts[0]):
                raise LineError(
                    at,
                    f"the text has {len(parts[0])} words, and the column {table.names[i]!r} has "
                    f"{len(part)} labels: blanks separate both",
                )
        found[-1:] = [[(at, cells) for cells in zip(*parts, strict=True)], []]

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        import csv
        import io

        table = self._table
        assert table is not None
        old = None if place is None or place >= len(table.cells) else table.cells[place]
        if old is None and self.label_name and self.label_name not in table.names:
            names = [self.label_name, *names[1:]]
        out = io.StringIO()
        dialect: Any = {"delimiter": self._separator, "lineterminator": "\n"}
        plain = csv.writer(out, **dialect)
        quoted = csv.writer(out, **dialect, quoting=csv.QUOTE_ALL)

        def put(row: list[str]) -> None:
            if not self._quoting:
                out.write("\t".join(row) + "\n")
                return
            # A carriage return ends a line for readers, and the writer does not quote it.
            (quoted if any("\r" in cell for cell in row) else plain).writerow(row)

        rows = zip(self._table_rows, self._answers(added, len(names)), strict=True)
        for number, (row, more) in enumerate(rows):
            if self._heading is not None and number == self._heading_at:
                put([*self._heading, *(names if old is None else names[1:])])
            if not row:
                out.write("\n")
                continue
            if old is not None:
                row[old] = more.pop(0)
            put([*row, *more])
        return self._encoded(out.getvalue())

    def _answers(self, added: list[list[Answer]], n_added: int) -> Iterable[list[str]]:
        """Yield what is added to each row: to that of a token, or of a whole text."""
        sentences = iter(added)
        tokens = (more for sentence in added for more in sentence)
        for row in self._table_rows:
            if not row:
                yield []
            elif not self.text:
                yield list(map(as_text, next(tokens)))
            elif self._table is not None and row[self._table.cells[0]].split():
                yield [
                    " ".join(map(as_text, cells)) for cells in zip(*next(sentences), strict=True)
                ]
            else:
                yield [""] * n_added


def _quotes_enclose(content: str) -> bool:
    """Tell whether all quotes in a table with tabs enclose cells, so that none is a word."""
    cells = (cell for row in content.splitlines() for cell in row.split("\t") if '"' in cell)
    return all(_ENCLOSED.fullmatch(cell) for cell in cells)
