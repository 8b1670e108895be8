"""Files of sentences in every format, written and read independently of the library."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Rng = np.random.Generator
Sentences = Sequence[Sequence[Sequence[str]]]

#: Names of the second and later cells of a token: tags, then labels.
_CSV_NAMES = ("word", "pos", "tag")
_JSON_NAMES = ("tokens", "pos", "tags")
#: Columns of the cells in CoNLL-U: a tag is UPOS and XPOS, a third cell has no column.
_CONLLU_PLACES = ((1,), (3, 4))
_EIGHT_MORE = "\t_" * 8


@dataclass(frozen=True)
class Spelling:
    """One way to write sentences to a file.

    Attributes
    ----------
    format : str
        The library's name of the format.
    line_end : str
    bom, zipped : bool
        Begin with a byte order mark; compress by gzip.
    final : bool
        End the last line.
    separator : str
        Separator of cells in columns and in CSV.
    numbered : bool
        CSV: a column numbers the sentences; otherwise blank lines end them.
    array : bool
        JSON: one array instead of an object on each line.
    asides : bool
        CoNLL-U: comments, multiword tokens and empty nodes too.
    """

    format: str
    line_end: str = "\n"
    bom: bool = False
    zipped: bool = False
    final: bool = True
    separator: str = "\t"
    numbered: bool = True
    array: bool = False
    asides: bool = False

    @property
    def suffix(self) -> str:
        """The suffix of file names in this format."""
        return {"columns": ".txt", "text": ".txt"}.get(self.format, f".{self.format}")


def draw_spelling(rng: Rng, format: str, line_ends: Sequence[str] = ("\n", "\r\n")) -> Spelling:
    """Return a way to write a format."""
    separators = {"columns": ("\t", " "), "csv": (",", ";", "\t")}.get(format, ("\t",))
    array = bool(rng.random() < 0.2)
    bom, zipped, final, numbered, asides = (bool(b) for b in rng.random(5) < 0.3)
    end = line_ends[int(rng.integers(len(line_ends)))]
    separator = separators[int(rng.integers(len(separators)))]
    return Spelling(format, end, bom, zipped, not final, separator, not numbered, array, asides)


def spell(sentences: Sentences, spelling: Spelling) -> bytes:
    """Return the file of sentences, each a list of tokens, each a tuple of cells.

    Cells are the word, its tag and its label; of two cells, the second is the label.
    """
    if spelling.format == "parquet":
        return _parquet(sentences)
    lines = _WRITERS[spelling.format](sentences, spelling)
    text = spelling.line_end.join(lines)
    if spelling.final:
        text += spelling.line_end
    content = ("\ufeff" * spelling.bom + text).encode()
    return gzip.compress(content, mtime=0) if spelling.zipped else content


def _columns(sentences: Sentences, spelling: Spelling) -> list[str]:
    blocks = [[spelling.separator.join(cells) for cells in s] for s in sentences]
    return [line for block in blocks for line in (*block, "")][:-1]


def _conllu(sentences: Sentences, spelling: Spelling) -> list[str]:
    lines = []
    for number, sentence in enumerate(sentences, 1):
        if spelling.asides:
            lines += [f"# sent_id = {number}", f"0.1\tempty{_EIGHT_MORE}"]
        for i, cells in enumerate(sentence, 1):
            row = [str(i), *"_________"]
            if len(cells) == 10:
                row = list(cells)
            else:
                for places, cell in zip(_CONLLU_PLACES, cells, strict=False):
                    for place in places:
                        row[place] = cell
            if spelling.asides and i == 1 and len(sentence) > 1:
                lines.append(f"1-2\tboth{_EIGHT_MORE}")
            lines.append("\t".join(row))
        lines.append("")
    return lines[:-1] if not spelling.final else lines


def _names(names: Sequence[str], sentences: Sentences) -> list[str]:
    width = len(sentences[0][0])
    return [*names[: width - 1], names[-1]] if width > 1 else [names[0]]


def _csv(sentences: Sentences, spelling: Spelling) -> list[str]:
    def row(cells: Sequence[str]) -> str:
        quoted = ('"' + cell.replace('"', '""') + '"' for cell in cells)
        pairs = zip(cells, quoted, strict=True)
        return spelling.separator.join(q if set(c) & set('",;\t\r\n') else c for c, q in pairs)

    names = _names(_CSV_NAMES, sentences)
    lines = [row(["sentence", *names] if spelling.numbered else names)]
    for number, sentence in enumerate(sentences, 1):
        lines += [row([str(number), *c] if spelling.numbered else c) for c in sentence]
        if not spelling.numbered:
            lines.append("")
    return lines


def _json(sentences: Sentences, spelling: Spelling) -> list[str]:
    names = _names(_JSON_NAMES, sentences)
    rows = [
        json.dumps(dict(zip(names, zip(*s, strict=True), strict=True)), ensure_ascii=spelling.bom)
        for s in sentences
    ]
    if spelling.array:
        return ["[", *(f"{row}," for row in rows[:-1]), rows[-1], "]"]
    return rows


def _parquet(sentences: Sentences) -> bytes:
    import pyarrow
    from pyarrow import parquet

    names, out = _names(_JSON_NAMES, sentences), io.BytesIO()
    rows = [dict(zip(names, map(list, zip(*s, strict=True)), strict=True)) for s in sentences]
    parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


def _text(sentences: Sentences, spelling: Spelling) -> list[str]:
    return [" ".join(cells[0] for cells in sentence) for sentence in sentences]


def _brackets(sentences: Sentences, spelling: Spelling) -> list[str]:
    def escaped(word: str) -> str:
        return word.replace("(", "-LRB-").replace(")", "-RRB-")

    return [f"(S {' '.join(f'(X {escaped(cells[0])})' for cells in s)})" for s in sentences]


_WRITERS = {
    "columns": _columns,
    "conllu": _conllu,
    "csv": _csv,
    "jsonl": _json,
    "text": _text,
    "brackets": _brackets,
}


# -- reading --------------------------------------------------------------------------------------


def read_added(
    content: bytes,
    spelling: Spelling,
    place: tuple[int, ...] | None,
    n: int,
    barred: bool = False,
) -> Any:
    """Return the word of each token of each sentence, and the n strings added to it.

    Parameters
    ----------
    place : tuple of int, optional
        The cells that are joined to the first string; None: it was added as a new cell.
    barred : bool
        Labels contain |: then words do not, and only the label is added to text.
    """
    text = content.decode("utf-8-sig")
    if spelling.format in ("columns", "conllu"):
        blocks = text.replace("\r\n", "\n").strip("\n").split("\n\n")
        read = _conllu_token if spelling.format == "conllu" else _column_token
        rows = [[read(line, place, n) for line in b.split("\n") if _is_token(line, spelling)]
                for b in blocks]  # fmt: skip
        return [row for row in rows if row]
    if spelling.format == "csv":
        return _csv_rows(text, spelling, place, n)
    if spelling.format == "jsonl":
        items = json.loads(text) if spelling.array else map(json.loads, _lines(text))
        return [_json_tokens(item, place, n) for item in items]
    split = partial(str.split if barred else str.rsplit, sep="|", maxsplit=n)
    return [[split(token) for token in row.split(" ")] for row in _lines(text)]


def conllu_rows(content: bytes) -> list[list[list[str]]]:
    """Return the cells of the words of each sentence of a file in CoNLL-U."""
    blocks = content.decode("utf-8-sig").replace("\r\n", "\n").strip("\n").split("\n\n")
    rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    return [[row for row in block if row[0].isdigit()] for block in rows]


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _is_token(line: str, spelling: Spelling) -> bool:
    if spelling.format == "columns":
        return bool(line)
    return bool(line) and line[0] != "#" and line.split("\t")[0].isdigit()


def _column_token(line: str, place: tuple[int, ...] | None, n: int) -> list[str]:
    cells = line.split("\t") if "\t" in line else line.split(" ")
    label = cells[-n] if place is None else "|".join(cells[c] for c in place)
    return [cells[0], label, *cells[len(cells) - n + 1 :]]


def _conllu_token(line: str, place: tuple[int, ...] | None, n: int) -> list[str]:
    cells = line.split("\t")
    added = [entry.partition("=")[2] for entry in cells[9].split("|")] if cells[9] != "_" else []
    if place is None:
        return [cells[1], *added[-n:]]
    return [cells[1], "|".join(cells[c] for c in place), *added[len(added) - n + 1 :]]


def _csv_rows(text: str, spelling: Spelling, place: tuple[int, ...] | None, n: int) -> Any:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=spelling.separator))
    heading, sentences, before = rows[0], [[]], None
    at = int(spelling.numbered)
    first = len(heading) - n if place is None else at + place[0]
    for row in rows[1:]:
        mark = row[0] if spelling.numbered and row else None
        if sentences[-1] and (not row or mark != before):
            sentences.append([])
        before = mark
        if row:
            sentences[-1].append([row[at], row[first], *row[len(row) - n + 1 :]])
    return [s for s in sentences if s]


def _json_tokens(
    item: dict[str, list[str]], place: tuple[int, ...] | None, n: int
) -> list[list[str]]:
    lists = list(item.values())
    label = lists[-n] if place is None else lists[place[0]]
    columns = [item["tokens"], label, *lists[len(lists) - n + 1 :]]
    return [list(map(_printed, cells)) for cells in zip(*columns, strict=True)]


def _printed(value: Any) -> str:
    """Return a probability, or several by label, as printed in other formats."""
    if isinstance(value, dict):
        return ",".join(f"{label}:{_printed(p)}" for label, p in value.items())
    return f"{value:.4f}" if isinstance(value, float) else value


def read_brackets(text: str) -> list[Any]:
    """Return the trees of a text as nested lists: a label, then children, or a word."""
    stack: list[list[Any]] = [[]]
    for mark in text.replace("(", " ( ").replace(")", " ) ").split():
        if mark == "(":
            if len(stack) > 1 and not stack[-1]:
                stack[-1].append("")  # a node without a label
            stack.append([])
        elif mark == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(mark)
    return stack[0]
