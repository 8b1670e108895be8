"""JSON lines, and arrays of the same objects."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from ...exceptions import LineError
from ..answers import as_json
from ..files import parsed_json
from ..tables import LONGEST_SENTENCE, WORD_NAMES, Naming, TableColumns, long_sentence, plain_name
from ..tokens import NO_TEXT, is_text
from .format import Format, Sentences, first_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from re import Pattern
    from typing import Any

    from ..answers import Answer

#: Names for labels in files that have columns of the usual names already.
_MORE_NAMES = ("labels", "predicted", *(f"predicted_{i}" for i in range(2, 100)))
#: A label that is a whole number.
_WHOLE = re.compile(r"-?\d{1,18}")
#: An array of objects: read as JSON lines are.
_ARRAY = re.compile(rb'(\xef\xbb\xbf)?\s*\[\s*\{\s*"')


class JsonLines(Format):
    """JSON: an object for each sentence, such as {"tokens": [...], "tags": [...]}.

    Each stands on a line of its own, or all of them are in one array. All have the same lists, in
    any order: the first object's is that of the columns. Any label fits; probabilities are numbers,
    marginals objects, and a label that does not exist is null.

    Objects without lists are the rows of a table, one for each token, as those of CSV are.
    """

    name = "jsonl"
    called = "JSON lines"
    extensions: tuple[str, ...] = (".jsonl", ".ndjson")
    ends: Pattern[bytes] | None = re.compile(rb"\n")

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        line = first_line(head)
        whole = line.startswith(b"{") and line.rstrip().endswith(b"}") and b":" in line
        return whole or _ARRAY.match(head) is not None

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._order: list[str] = []  # of the lists, as the first sentence has them
        self._written: set[str] = set()  # lists with values that are strings
        self._table: TableColumns | None = None  # of objects that are tokens
        self._mark_before: Any = None  # the sentence of the last of them

    def fault(self, label: str, names: Sequence[str]) -> str:
        return ""

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        held: list[bytes] = []  # an array
        for text, line in pieces:
            if held or (line == 0 and text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["):
                held.append(text)
            else:
                yield text, line
        if held:
            yield b"".join(held), 0

    def read(self, text: bytes, line: int) -> Sentences:
        self._objects: list[Any] = []
        items = self._items(text, line)
        first = next(items, None)
        if first is None:
            return []
        items = itertools.chain([first], items)
        if self._table is not None or self._is_token(first[1]):
            return self._tokens(list(items))
        found = []
        for n, item in items:
            names = self._names(item, n)
            lists = [item[name] for name in names]
            if "" in lists[0]:
                raise LineError(n, f"{names[0]!r} has an empty word")
            for name, values in zip(names, lists, strict=True):
                wrong = [v for v in values if not isinstance(v, (str, int))]
                if wrong:
                    raise LineError(n, _no_string(name, wrong[0]))
                wrong = [v for v in values if not is_text(str(v))]
                if wrong:
                    raise LineError(n, f"{name!r} has {wrong[0]!r:.60}: {NO_TEXT}")
                if not all(type(v) is int for v in values):
                    self._written.add(name)
            self._objects.append(item)
            if lists[0]:
                found.append([(n, tuple(map(str, cells))) for cells in zip(*lists, strict=True)])
        self.names = tuple(self._order)
        return found

    def _items(self, text: bytes, line: int) -> Iterator[tuple[int, Any]]:
        """Return the objects of a piece, each with its line."""
        content = self._decoded(text, line)
        self._array = line == 0 and content.lstrip()[:1] == "["
        return self._in_array(content) if self._array else self._on_lines(content, line)

    def _is_token(self, item: Any) -> bool:
        """Tell a row of a table from a sentence."""
        if type(item) is not dict or any(isinstance(v, (list, dict)) for v in item.values()):
            return False
        named = self.naming is not None and self.naming.meets(list(item))
        return named or any(plain_name(name) in ("word", "token", "form") for name in item)

    def _tokens(self, items: list[tuple[int, Any]]) -> Sentences:
        """Return the sentences of objects that are tokens."""
        for n, item in items:
            if type(item) is not dict or any(isinstance(v, (list, dict)) for v in item.values()):
                raise LineError(
                    n, "the first object is a token, a row of a table, and this one is none"
                )
        if self._table is None:
            n, first = items[0]
            try:
                table = self._table = TableColumns(list(first), self.naming)
            except ValueError as error:
                raise LineError(n, str(error)) from None
            rows = [[item.get(name) for name in table.names] for _, item in items]
            if said := table.find_sentences(list(zip(*rows, strict=True))):
                self.findings.append(said)
            self._order = list(table.cell_names)
            self.names = table.cell_names
            self.sentence = "" if table.sentence is None else table.names[table.sentence]
        found: Sentences = [[]]
        for n, item in items:
            mark = item.get(self.sentence) if self.sentence else None
            if mark is not None and mark != self._mark_before and found[-1]:
                found.append([])
            self._mark_before = self._mark_before if mark is None else mark
            for name in self._order:
                value = item.get(name)
                if not isinstance(value, (str, int)) or not str(value) or not is_text(str(value)):
                    raise LineError(n, _no_string(name, value))
                if type(value) is not int:
                    self._written.add(name)
            self._objects.append(item)
            found[-1].append((n, tuple(str(item[name]) for name in self._order)))
        longest = max(found, key=len)
        if len(longest) > LONGEST_SENTENCE:
            self.doubts.append(f"line {longest[0][0]}: {long_sentence(len(longest))}")
        return found

    @property
    def numbers(self) -> list[str]:
        """The names of the lists whose values are whole numbers."""
        return [name for name in self._order if name not in self._written]

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
        # What an earlier run added to labels is no column of the sentence.
        lists = [name for name in lists if not _was_added(name, lists)]
        naming = self.naming or Naming()
        if not (any(plain_name(name) in WORD_NAMES for name in lists) or naming.meets(lists)):
            raise LineError(
                line,
                'a sentence is an object with a list of its words, {"tokens": [...]}; a list of '
                "another name is named (--word NAME; in Python word=...)",
            )
        try:
            table = TableColumns(lists, naming)
        except ValueError as error:
            raise LineError(line, str(error)) from None
        names = [lists[i] for i in table.cells]
        sizes = [len(item[name]) for name in names]
        if len(set(sizes)) > 1:
            told = ", ".join(f"{n} {name}" for n, name in zip(sizes, names, strict=True))
            raise LineError(line, f"the lists of a sentence are of one length, these are {told}")
        if not sizes[0]:
            return names
        self._order = self._order or names
        if set(names) != set(self._order):
            raise LineError(
                line,
                f"a sentence with the lists {', '.join(names)}, where the first one has "
                f"{', '.join(self._order)}: all sentences have the same lists",
            )
        return self._order

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        import json

        self._fill(added, names, place)
        out = []
        for item in self._objects:
            row = json.dumps(item, ensure_ascii=False)
            out.append(row if is_text(row) else json.dumps(item))
        if self._array:
            return self._encoded("[" + ",\n ".join(out) + "]\n")
        return self._encoded("".join(f"{row}\n" for row in out))

    def _fill(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> None:
        """Put labels into the objects that were read last."""
        answers = iter(added)
        if self._table is not None:
            first = self._order[place] if place is not None and place < len(self._order) else ""
            first = first or self.label_name or "tag"
            keys = (first, *(f"{first}_{name}" for name in names[1:]))
            for item, more in zip(self._objects, (m for s in added for m in s), strict=True):
                item.update(zip(keys, map(self._value, more), strict=True))
            return
        for item in self._objects:
            columns = self._names(item, 0)
            given = place is not None and place < len(columns)
            # What the file has beside its words stays: labels of another kind get another name.
            usual = (self.label_name or "tags", "tags", names[0], *_MORE_NAMES)
            fresh = (name for name in usual if not item.get(name))
            first = columns[place] if given and place is not None else next(fresh)
            rows = next(answers) if item[columns[0]] else []
            keys = (first, *(f"{first}_{name}" for name in names[1:]))
            for i, key in enumerate(keys):
                item[key] = [self._value(more[i]) for more in rows]

    def _value(self, answer: Any) -> Any:
        """Return a label, as a number where labels are numbers, or a probability."""
        if self.whole_numbers and isinstance(answer, str) and _WHOLE.fullmatch(answer):
            return int(answer)
        return as_json(answer)


def _was_added(name: str, lists: Sequence[str]) -> bool:
    """Tell the names of further labels and probabilities: tags_label2, tags_confidence."""
    first, _, kind = name.rpartition("_")
    return first in lists and re.fullmatch(r"label\d+|confidence|marginals", kind) is not None


def _no_string(name: str, value: Any) -> str:
    """Return what is wrong with a cell, and how labels that are not known are written."""
    told = f"{name!r} has {value!r:.60}, which is not a string"
    if value is None:
        return f'{told}: a label that nobody knows is "_"'
    if isinstance(value, list) and value:
        return f'{told}: labels of which one is right are one string, "A|B" (--sets "|")'
    return told
