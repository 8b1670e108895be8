"""Formats whose tokens stand on lines: text, columns, CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from itertools import islice

from ...exceptions import LineError
from ..answers import BLANKS, as_text, cell_fault
from ..tables import is_heading
from ..tokenisers import words_of
from .format import Format, Sentences, first_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from ... import _core
    from ..answers import Answer

_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
#: Bytes of a file that tell what it is.
_LOOKED_AT = 1 << 14


class Text(Format):
    """One sentence on each line, words separated by blanks; labels follow the words after a |.

    Readers split tokens at the last | marks: no label has one. If labels of the model do, they
    split at the first one: then words have none, and nothing but the label is added.
    """

    name = called = "text"
    guessed = False
    labelled = False
    ends = re.compile(rb"\n")

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        return lines_are(head) == "text"

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._barred = False  # labels have | in them

    def prepare(self, first: bytes, labels: Sequence[str], beside: bool = False) -> None:
        self._barred = any("|" in label for label in labels)

    def fault(self, label: str, names: Sequence[str]) -> str:
        if label.split() != [label]:
            return "it is empty or has blanks in it, which separate words"
        if "|" in label and len(names) > 1:
            return f"it has '|' in it, which separates it from its {names[1]}"
        return super().fault(label, names)

    def read(self, text: bytes, line: int) -> Sentences:
        self._lines = self._rows(text, line)
        if not self._lines[-1]:
            self._lines.pop()
        sentences: Sentences = []
        for n, row in enumerate(self._lines, line + 1):
            words = self._words(row, n)
            for word in words if self._barred else ():
                if "|" in word:
                    raise LineError(
                        n,
                        f"the word {word!r:.60} has '|' in it, and so have labels of the model: "
                        "nobody could tell them apart. JSON lines hold both",
                    )
            if words:
                sentences.append([(n, (word,)) for word in words])
        return sentences

    def _words(self, row: str, line: int) -> list[str]:
        if self.tokens is None:
            return row.split()
        words = words_of(row, self.tokens)
        for word in words:
            if word.split() != [word]:
                raise LineError(
                    line,
                    f"the token {word!r:.60} has a blank in it, and blanks separate tokens of "
                    "text: write spans (--to prodigy)",
                )
        return words

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        answers = iter(added)
        out = []
        for row in self._lines:
            words = self._words(row, 0)
            tokens = zip(words, next(answers), strict=True) if words else ()
            out.append(" ".join("|".join((w, *map(as_text, more))) for w, more in tokens) + "\n")
        return self._encoded("".join(out))


#: Cells of a line without tabs; white space beyond ASCII is part of them.
_CELLS = re.compile(f"[^{BLANKS}]+")


class Columns(Format):
    """A token on each line; its columns are separated by tabs or blanks. Labels are appended."""

    name = called = "columns"
    native = True
    ends = _BLANK_LINE
    replaces = False
    _conllu = False

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        return True  # whatever else it is not

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        #: What separates columns, and those that are added; empty: no token was seen yet.
        self.separator = self.added = ""
        self._headed = False

    def prepare(self, first: bytes, labels: Sequence[str], beside: bool = False) -> None:
        rows = (row.decode(errors="replace").strip(f"\ufeff\n{BLANKS}") for row in BytesIO(first))
        token = next(islice(filter(None, rows), int(self.header), None), "")
        self._settle(token)
        # Words that stand alone on their lines get a tab before labels that have blanks in them.
        alone = len(_CELLS.findall(token)) == 1
        if alone and any(set(label) & set(BLANKS) for label in labels):
            self.added = "\t"

    def _settle(self, row: str) -> None:
        """Find out what separates the columns, given the line of the first token."""
        self.separator = self.added = "\t" if "\t" in row.rstrip(BLANKS) else " "

    def fault(self, label: str, names: Sequence[str]) -> str:
        return cell_fault(label, self.added != "\t") or super().fault(label, names)

    def read(self, text: bytes, line: int) -> Sentences:
        self._lines = self._rows(text, line)
        self._tokens: list[int] = []  # where they are
        self._heading: int | None = None
        found: Sentences = [[]]
        for n, row in enumerate(self._lines):
            if not row:
                if found[-1]:
                    found.append([])
                continue
            if self._conllu and row.startswith("#"):
                continue
            if self.header and not self._headed and not self._conllu:
                self._headed, self._heading = True, n
                continue
            if not self.separator:
                self._settle(row)
            cells = tuple(row.split("\t") if self.separator == "\t" else _CELLS.findall(row))
            if self._conllu and len(cells) != 10:
                raise LineError(
                    line + n + 1,
                    f"a CoNLL-U line has 10 columns separated by tabs, this one has {len(cells)}",
                )
            if self._conllu and not cells[0].isdecimal():  # a multi-word token, an empty node
                continue
            if "" in cells:
                raise LineError(line + n + 1, f"column {cells.index('') + 1} is empty")
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

    def fill(self, core: _core.Corpus, text: bytes) -> None:
        heading, text = split_heading(text, self.header)
        core.set_line(heading.count(b"\n"))
        core.read(text)

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        tokens = (more for sentence in added for more in sentence)
        for n, more in zip(self._tokens, tokens, strict=True):
            self._lines[n] = self._line(self._lines[n], more, names, place)
        if self._heading is not None:
            self._lines[self._heading] = self.added.join((self._lines[self._heading], *names))
        return self._encoded("\n".join(self._lines))

    def _line(self, row: str, more: Answer, names: Sequence[str], place: int | None) -> str:
        return self.added.join((row, *map(as_text, more)))


class Conllu(Columns):
    """CoNLL-U: what has no column of its own goes to the last one, MISC."""

    name = named_as = "conllu"
    called = "CoNLL-U"
    extensions = (".conllu", ".conll-u")
    replaces = True
    _conllu = True

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        cells = first_line(head).split(b"\t")
        return len(cells) == 10 and cells[0].replace(b"-", b"").replace(b".", b"").isdigit()

    def fill(self, core: _core.Corpus, text: bytes) -> None:
        core.read(text)

    def prepare(self, first: bytes, labels: Sequence[str], beside: bool = False) -> None:
        self._settle("")
        self._beside = beside

    def _settle(self, row: str) -> None:
        self.separator = self.added = "\t"

    def fault(self, label: str, names: Sequence[str]) -> str:
        if "|" in label and (self._beside or {"label2", "marginals"} & set(names)):
            return "it has '|' in it, which separates entries of the last column, such as " + (
                "labels that have no column" if self._beside else "those of nbest and marginals"
            )
        return super().fault(label, names)

    def _line(self, row: str, more: Answer, names: Sequence[str], place: int | None) -> str:
        cells = row.split("\t")
        entries = list(zip(names, map(as_text, more), strict=True))
        if place is not None:
            cells[place] = entries.pop(0)[1]
        misc = [] if cells[9] == "_" else [cells[9]]
        cells[9] = "|".join([*misc, *(f"{name.title()}={value}" for name, value in entries)]) or "_"
        return "\t".join(cells)


def lines_are(text: bytes) -> str | None:
    """Tell running text from columns: "text", "columns", or None where nobody can be sure.

    Columns are equally many on every line, and no line of text has a tab. Of lines without tabs
    those of text have three or more lengths, none of which most lines have; in columns they have
    one length, blank lines end sentences, and labels come again and again.
    """
    text = text[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").replace(b"\r", b"").lstrip()
    lines = (text if len(text) < _LOOKED_AT - 3 else text[: text.rfind(b"\n")]).splitlines()
    if text[:1] in b"([{<":
        return None  # brackets, JSON or XML: neither of both
    if b"\t" in text:
        rows = [line.rstrip().split(b"\t") for line in lines if line.strip()]
        whole = all(len(cell.split()) == 1 for row in rows for cell in row)
        even = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
        numbered = all(row[0].isdigit() for row in rows)
        return "columns" if whole and even and not numbered else None
    rows = [line.split() for line in lines if line.strip()]
    lengths = [len(row) for row in rows]
    if len(set(lengths)) > 2 and 2 * max(map(lengths.count, set(lengths))) <= len(lengths):
        return "text"
    again = 2 * len({row[-1] for row in rows}) <= len(rows)
    if set(lengths) == {max(lengths, default=0)} - {0, 1} and len(rows) >= 10 and again:
        return "columns" if b"\n\n" in text.strip() else None
    return None


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
        cells = line.split("\t") if "\t" in line else line.split()
        if is_heading(cells):
            raise LineError(
                text[:start].count(b"\n") + 1,
                f"this line names the columns ({', '.join(cells)}) and is not a token: delete it, "
                "or have it skipped (--header; in Python read_corpus(path, header=True))",
            )
        return b"", text
    return text[:end], text[end:]
