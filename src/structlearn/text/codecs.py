"""Formats of sentences as cells and back: what a model reads of them, and labels written in them.

Files of the format that a model was trained on are labelled in the core. A codec reads any other
format piece by piece, and writes each piece again with what was found for its tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..exceptions import LineError
from .corpus import NO_TEXT, is_text
from .files import parsed_json
from .tables import WORD_NAMES, TableColumns, is_heading, plain_name, table_separator

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CODECS", "Codec"]

#: What was found for a token: its label, and what else there is to say.
Added = Sequence[str]


class Codec:
    """One format. ``read`` a piece, then ``write`` it with what was found."""

    #: The format whose names of columns it has.
    named_as = "columns"
    #: Labels are written where the file has such labels already.
    replaces = True

    def __init__(self, header: bool = False) -> None:
        self.header = header

    def read(self, text: bytes, line: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        """Return the sentences: the line and the cells of each token. ``line``: those before."""
        raise AssertionError

    def write(self, added: list[list[Added]], names: Sequence[str], place: int | None) -> bytes:
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

    def _decoded(self, text: bytes, line: int) -> str:
        try:
            return text.decode("utf-8-sig" if line == 0 else "utf-8")
        except UnicodeDecodeError as error:
            number = line + text[: error.start].count(b"\n") + 1
            raise LineError(number, "not valid UTF-8: convert the file to UTF-8 first") from None

    def _rows(self, text: bytes, line: int) -> list[str]:
        """Return the lines without blanks at their ends; what follows the last line end is one."""
        rows = [row.rstrip(" \t\r\f\v") for row in self._decoded(text, line).split("\n")]
        for number, row in enumerate(rows, line + 1):
            if "\r" in row:
                raise LineError(
                    number, "a carriage return inside the line: convert the line ends first"
                )
        return rows


class TextCodec(Codec):
    """One sentence on each line, words separated by blanks; labels follow the words after a |."""

    def read(self, text: bytes, line: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        self._lines = self._rows(text, line)
        if not self._lines[-1]:
            self._lines.pop()
        rows = ((n, row.split()) for n, row in enumerate(self._lines, line + 1))
        return [[(n, (word,)) for word in words] for n, words in rows if words]

    def write(self, added: list[list[Added]], names: Sequence[str], place: int | None) -> bytes:
        found = iter(added)
        out = []
        for row in self._lines:
            words = row.split()
            tokens = zip(words, next(found), strict=True) if words else ()
            out.append(" ".join("|".join((word, *more)) for word, more in tokens) + "\n")
        return "".join(out).encode()


class LinesCodec(Codec):
    """A token on each line; its columns are separated by tabs or blanks. Labels are appended."""

    replaces = False
    _conllu = False

    def read(self, text: bytes, line: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        self._lines = self._rows(text, line)
        self._tokens: list[int] = []  # where they are
        found: list[list[tuple[int, tuple[str, ...]]]] = [[]]
        for n, row in enumerate(self._lines):
            if not row:
                if found[-1]:
                    found.append([])
                continue
            if self._conllu and row.startswith("#"):
                continue
            cells = tuple(row.split("\t") if "\t" in row or self._conllu else row.split())
            if self._conllu and len(cells) != 10:
                raise LineError(
                    line + n + 1,
                    f"a CoNLL-U line has 10 columns separated by tabs, this one has {len(cells)}",
                )
            if self._conllu and not cells[0].isdecimal():  # a multi-word token, an empty node
                continue
            first = found[0][0][1] if found[0] else cells
            if len(cells) != len(first):
                raise LineError(
                    line + n + 1,
                    f"{len(cells)} columns where the lines before have {len(first)}. Is this "
                    "running text, one sentence on each line?",
                )
            self._tokens.append(n)
            found[-1].append((line + n + 1, cells))
        return [sentence for sentence in found if sentence]

    def write(self, added: list[list[Added]], names: Sequence[str], place: int | None) -> bytes:
        tokens = (more for sentence in added for more in sentence)
        for n, more in zip(self._tokens, tokens, strict=True):
            self._lines[n] = self._line(self._lines[n], more, names, place)
        return "\n".join(self._lines).encode()

    def _line(self, row: str, more: Added, names: Sequence[str], place: int | None) -> str:
        return ("\t" if "\t" in row else " ").join((row, *more))


class ConlluCodec(LinesCodec):
    """CoNLL-U: what has no column of its own goes to the last one, MISC."""

    named_as = "conllu"
    replaces = True
    _conllu = True

    def _line(self, row: str, more: Added, names: Sequence[str], place: int | None) -> str:
        cells = row.split("\t")
        told = list(zip(names, more, strict=True))
        if place is not None:
            cells[place] = more[0]
            told = told[1:]
        misc = [] if cells[9] == "_" else [cells[9]]
        cells[9] = "|".join([*misc, *(f"{name.title()}={value}" for name, value in told)]) or "_"
        return "\t".join(cells)


#: Names for labels in files that have columns of the usual names already.
_MORE_NAMES = ("labels", "predicted", *(f"predicted_{i}" for i in range(2, 100)))


class JsonCodec(Codec):
    """JSON: an object for each sentence, such as {"tokens": [...], "tags": [...]}.

    Each stands on a line of its own, or all of them are in one array.
    """

    def read(self, text: bytes, line: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        self._objects: list[Any] = []
        content = self._decoded(text, line)
        self._array = line == 0 and content.lstrip()[:1] == "["
        found = []
        for n, item in self._in_array(content) if self._array else self._on_lines(content, line):
            names = self._names(item, n)
            lists = [item[name] for name in names]
            if any(len(values) != len(lists[0]) for values in lists):
                sizes = ", ".join(f"{len(item[name])} {name}" for name in names)
                raise LineError(n, f"the lists of a sentence are of one length, these are {sizes}")
            for name, values in zip(names, lists, strict=True):
                wrong = [v for v in values if not isinstance(v, (str, int)) or v == ""]
                if wrong:
                    raise LineError(n, f"{name!r} has {wrong[0]!r}, which is not a string")
                wrong = [v for v in values if not is_text(str(v))]
                if wrong:
                    raise LineError(n, f"{name!r} has {wrong[0]!r:.60}: {NO_TEXT}")
            self._objects.append(item)
            if lists[0]:
                found.append([(n, tuple(map(str, cells))) for cells in zip(*lists, strict=True)])
        return found

    def _on_lines(self, content: str, line: int) -> Iterator[tuple[int, Any]]:
        for n, row in enumerate(content.split("\n"), line + 1):
            if not row.strip():
                continue
            try:
                item = parsed_json(row)
            except LineError:
                raise LineError(
                    n,
                    f"not a JSON object: {row.strip()!r:.60}. Each line is an object, such as "
                    '{"tokens": ["Fish", "sleep"], "tags": ["N", "V"]}, or the file is an array of '
                    "them, [{...}, {...}]",
                ) from None
            yield n, item

    def _in_array(self, content: str) -> Iterator[tuple[int, Any]]:
        import json

        try:
            items = parsed_json(content)
        except LineError as error:
            reason = f"not a JSON array of objects, [{{...}}, {{...}}]: {error.reason}"
            raise LineError(error.line or 1, reason) from None
        decoder, before, at, n = json.JSONDecoder(), 0, content.index("[") + 1, 1
        for item in items:  # decoded once more, to know where each of them stands
            while content[at].isspace() or content[at] == ",":
                at += 1
            n += content.count("\n", before, at)
            yield n, item
            before, at = at, decoder.raw_decode(content, at)[1]

    def _names(self, item: Any, line: int) -> list[str]:
        entries = item.items() if isinstance(item, dict) else ()
        lists = [name for name, value in entries if isinstance(value, list)]
        if not any(plain_name(name) in WORD_NAMES for name in lists):
            raise LineError(
                line, 'a sentence is an object with a list of its words, {"tokens": [...]}'
            )
        table = TableColumns(lists)
        return [lists[i] for i in table.cells]

    def write(self, added: list[list[Added]], names: Sequence[str], place: int | None) -> bytes:
        import json

        found = iter(added)
        out = []
        for item in self._objects:
            columns = self._names(item, 0)
            given = place is not None and place < len(columns)
            # What the file has beside its words stays: labels of another kind get another name.
            fresh = (name for name in ("tags", names[0], *_MORE_NAMES) if not item.get(name))
            first = columns[place] if given and place is not None else next(fresh)
            rows = next(found) if item[columns[0]] else []
            keys = (first, *(f"{first}_{name}" for name in names[1:]))
            for i, key in enumerate(keys):
                item[key] = [more[i] for more in rows]
            row = json.dumps(item, ensure_ascii=False)
            out.append(row if is_text(row) else json.dumps(item))
        if self._array:
            return ("[" + ",\n ".join(out) + "]\n").encode()
        return "".join(f"{row}\n" for row in out).encode()


class CsvCodec(Codec):
    """CSV with names of the columns in the first line; a row for each token.

    Commas separate the columns, or semicolons or tabs where the first line has these.

    A column called sentence or sentence_id tells sentences apart (where it is empty the sentence
    goes on); otherwise blank lines do.
    """

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._table: TableColumns | None = None
        self._separator = ","
        self._mark = ""

    def read(self, text: bytes, line: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        import csv
        import io

        content = self._decoded(text, line)
        if self._table is None:
            heading = re.split("[\r\n]", content.lstrip(), maxsplit=1)[0]
            self._separator = table_separator(heading.strip())
        rows = csv.reader(io.StringIO(content, newline=""), delimiter=self._separator)
        self._table_rows: list[list[str]] = []
        self._heading: list[str] | None = None
        found: list[list[tuple[int, tuple[str, ...]]]] = [[]]
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
            mark = row[table.sentence]
            if mark and mark != self._mark and found[-1]:
                found.append([])
            self._mark = mark or self._mark
        for i in table.cells:
            if not row[i].strip():
                raise LineError(at, f"the column {table.names[i]!r} is empty")
        self._table_rows.append(row)
        found[-1].append((at, tuple(row[i] for i in table.cells)))

    def write(self, added: list[list[Added]], names: Sequence[str], place: int | None) -> bytes:
        import csv
        import io

        table = self._table
        assert table is not None
        old = None if place is None or place >= len(table.cells) else table.cells[place]
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self._separator, lineterminator="\n")
        if self._heading is not None:
            writer.writerow([*self._heading, *(names if old is None else names[1:])])
        tokens = (more for sentence in added for more in sentence)
        for row in self._table_rows:
            if not row:
                out.write("\n")
                continue
            more = list(next(tokens))
            if old is not None:
                row[old] = more.pop(0)
            writer.writerow([*row, *more])
        return out.getvalue().encode()


#: By the name of the format.
CODECS: dict[str, type[Codec]] = {
    "columns": LinesCodec,
    "conllu": ConlluCodec,
    "csv": CsvCodec,
    "jsonl": JsonCodec,
    "text": TextCodec,
}
