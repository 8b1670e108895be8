r"""Cut texts: sentences whose words, or some of their boundaries, are known.

=========  =======================================================================================
cut        words separated by blanks, a sentence on each line
tagged     the same with tags: ``word/tag``; a backslash takes the meaning from the next sign
partial    between all characters a sign, ``|`` where a word begins, ``-`` where none does, a blank
           where nobody knows: ``火-星| |猫``, as KyTea and Vaporetto have it; tags follow words
columns    a word on each line, its tag in the last column, a blank line after each sentence
conllu     CoNLL-U; tags are those of the column UPOS
=========  =======================================================================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...exceptions import FileError, LineError
from ...text.files import read_bytes
from ...text.tokens import NO_TEXT, is_text

if TYPE_CHECKING:
    from typing import Any

#: What is known of a character: a word begins there, goes on, or nobody knows.
BEGINS, GOES_ON, UNKNOWN = range(3)
_MARKS = {"|": BEGINS, "-": GOES_ON, " ": UNKNOWN}
#: Blanks between words; wider ones are characters.
_BLANKS = " \t\r\f\v\n"
_BOM = "\ufeff"
#: Lines that tell the format of a file.
_LOOKED_AT = 200


class Cut:
    """A sentence with what is known of its words.

    Attributes
    ----------
    text : str
        The sentence. Where words have no blanks in them, none is left between them.
    marks : bytes
        Of each character of it: ``BEGINS``, ``GOES_ON`` or ``UNKNOWN``.
    tags : list of str or None
        Of each word from its begin to the next known one; None: the sentence has none. Empty: this
        word has none.
    """

    __slots__ = ("marks", "tags", "text")

    def __init__(self, text: str, marks: bytes, tags: list[str] | None = None) -> None:
        self.text, self.marks, self.tags = text, marks, tags

    @classmethod
    def of_words(
        cls, words: Sequence[str], tags: list[str] | None = None, gaps: Sequence[str] = ()
    ) -> Cut:
        """Return a sentence of words; ``gaps``: what stands before each."""
        text, marks = "", bytearray()
        for word, gap in zip(words, gaps or [""] * len(words), strict=True):
            if gap and text:  # a blank between words is a word that is not written
                text += gap
                marks += bytes([BEGINS, *[GOES_ON] * (len(gap) - 1)])
            text += word
            marks += bytes([BEGINS, *[GOES_ON] * (len(word) - 1)])
        return cls(text, bytes(marks), tags)

    @property
    def whole(self) -> bool:
        """Whether all of it is known."""
        return UNKNOWN not in self.marks

    def spans(self) -> list[tuple[int, int]]:
        """Return the places of the words, of a sentence that is known as a whole."""
        begins = [i for i, mark in enumerate(self.marks) if mark == BEGINS]
        places = zip(begins, [*begins[1:], len(self.marks)], strict=True)
        return [(a, b) for a, b in places if self.text[a:b].strip(_BLANKS)]

    def words(self) -> list[str]:
        """Return the words, of a sentence that is known as a whole."""
        return [self.text[a:b] for a, b in self.spans()]


def read_cut(source: Any, format: str | None = None, tag: str | int | None = None) -> list[Cut]:
    """Read cut sentences.

    Parameters
    ----------
    source : path, or list
        A sentence of a list is a string of words with blanks between them, a list of words, or of
        pairs (word, tag), or a :class:`Cut`.
    format : str, optional
        Of the file; by default it is told from its content.
    tag : str or int, optional
        The column of the tags: a name, or a number from 1.
    """
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        sentences = parse_cut(name, read_bytes(name), format, tag)
        if not sentences:
            raise FileError(name, "there are no sentences in it")
        return sentences
    if not isinstance(source, Iterable):
        raise TypeError(f"sentences are a file's name or a list, got {source!r:.60}")
    return [_given(one, number) for number, one in enumerate(source)]


def _given(sentence: Any, number: int) -> Cut:
    """Return a sentence from Python."""
    if isinstance(sentence, Cut):
        return sentence
    items = _split(sentence) if isinstance(sentence, str) else sentence
    if not isinstance(items, (list, tuple)):
        raise ValueError(f"sentence {number} is a list of words, or a string, got {items!r:.60}")
    pairs = [item if isinstance(item, tuple) else (item,) for item in items]
    for pair in pairs:
        if not 1 <= len(pair) <= 2 or not all(isinstance(part, str) for part in pair):
            raise ValueError(f"sentence {number}: a word or (word, tag), got {pair!r:.60}")
        if not pair[0]:
            raise ValueError(f"sentence {number} has an empty word")
        if not is_text("".join(pair)):
            raise ValueError(f"sentence {number} has {pair[0]!r:.60}: {NO_TEXT}")
    if len({len(pair) for pair in pairs}) > 1:
        raise ValueError(f"sentence {number}: some words have tags, others have none")
    words = [pair[0] for pair in pairs]
    return _joined(words, [pair[1] for pair in pairs] if pairs and len(pairs[0]) > 1 else None)


def _joined(words: list[str], tags: list[str] | None) -> Cut:
    """Return a sentence of words, with blanks between them if words have blanks in them."""
    inner = any(set(word) & set(_BLANKS) for word in words)
    return Cut.of_words(words, tags, [" "] * len(words) if inner else ())


def _split(line: str) -> list[str]:
    """Cut a line at ASCII blanks: wider ones are characters of a text."""
    for blank in _BLANKS[1:]:
        line = line.replace(blank, " ")
    return [word for word in line.split(" ") if word]


# -- files ----------------------------------------------------------------------------------------


def parse_cut(
    name: str, data: bytes, format: str | None = None, tag: str | int | None = None
) -> list[Cut]:
    """Return the sentences of a file's bytes; ``name``: of the file, for messages."""
    try:
        text = data.decode().removeprefix(_BOM)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(name, "not valid UTF-8: convert the file to UTF-8 first", line) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise FileError(name, "a NUL character: this is not text", line)
    lines = text.split("\n")
    reader = format or _guess(name, lines)
    if reader not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {reader!r:.60}")
    if tag is not None and reader not in ("columns", "conllu"):
        raise ValueError(f"a column of tags is for columns and CoNLL-U, and {name} is {reader}")
    try:
        return list(FORMATS[reader](lines, tag))
    except LineError as error:
        raise error.in_file(name) from None


def _guess(name: str, lines: list[str]) -> str:
    """Tell the format of a file from its name, else from its first lines."""
    if name.removesuffix(".gz").endswith((".conllu", ".conll-u")):
        return "conllu"
    head = [line.rstrip("\r") for line in lines[:_LOOKED_AT]]
    full = [line for line in head if line.strip(_BLANKS)]
    if any(len(line.split("\t")) == 10 and line[0] != "#" for line in full[:20]):
        return "conllu"
    if any("\t" in line for line in full):
        return "columns"
    if full and all(_is_partial(line) for line in full):
        return "partial"
    words = [word for line in full for word in _split(line)]
    if words and all("/" in word[1:-1] for word in words):
        return "tagged"
    return "cut"


def _is_partial(line: str) -> bool:
    """Tell whether signs of boundaries stand between the characters of a line."""
    try:
        return len(_partial(line, 0).text) > 1
    except LineError:
        return False


def _cut_lines(lines: list[str], tag: Any) -> Iterator[Cut]:
    for line in lines:
        if words := _split(line):
            yield Cut.of_words(words)


def _tagged_lines(lines: list[str], tag: Any) -> Iterator[Cut]:
    for number, line in enumerate(lines, 1):
        pairs = [_word_and_tag(word, number) for word in _split(line)]
        if pairs:
            yield Cut.of_words([word for word, _ in pairs], [tag for _, tag in pairs])


def _word_and_tag(token: str, line: int) -> tuple[str, str]:
    """Cut a token at its last slash; a backslash takes its meaning from the next sign."""
    plain: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(token):
        if token[at] == "\\" and at + 1 < len(token):
            at += 1
        elif token[at] == "/":
            places.append(len(plain))
        plain.append(token[at])
        at += 1
    place = places[-1] if places else 0
    whole = "".join(plain)
    if not 0 < place < len(whole) - 1:
        raise LineError(line, f"{token!r:.60} is not a word, a slash and its tag")
    return whole[:place], whole[place + 1 :]


def _partial_lines(lines: list[str], tag: Any) -> Iterator[Cut]:
    for number, line in enumerate(lines, 1):
        if line.strip("\r"):
            yield _partial(line.strip("\r"), number)


def _partial(line: str, number: int) -> Cut:
    """Read characters with signs between them."""
    text: list[str] = []
    marks, tags = bytearray(), [""]
    mark, at = BEGINS, 0
    while at < len(line):
        if line[at] == "\\" and at + 1 < len(line):
            at += 1
        if mark == BEGINS and text:
            tags.append("")
        text.append(line[at])
        marks.append(mark)
        at += 1
        if at < len(line) and line[at] == "/":
            end = at + 1
            while end < len(line) and line[end] not in _MARKS:
                end += 1
            tags[-1], at = line[at + 1 : end], end
        if at == len(line):
            break
        if line[at] not in _MARKS:
            raise LineError(
                number,
                f"{line[at]!r} after {''.join(text[-10:])!r}: between characters there is | where "
                "a word begins, - where none does, a blank where that is not known",
            )
        mark = _MARKS[line[at]]
        at += 1
        if at == len(line):
            raise LineError(number, "the line ends with the sign of a boundary")
    return Cut("".join(text), bytes(marks), tags if any(tags) else None)


def _column_lines(lines: list[str], tag: str | int | None) -> Iterator[Cut]:
    rows: list[list[str]] = []
    width = 0
    for number, line in enumerate([*lines, ""], 1):
        bare = line.rstrip("\r\n")
        # A wide blank may be a word: only tabs and spaces separate columns.
        if not bare.strip(_BLANKS):
            if rows:
                yield _of_rows(rows, _tag_column(width, tag))
            rows = []
            continue
        cells = bare.split("\t") if "\t" in bare else _split(bare)
        width = width or len(cells)
        if len(cells) != width:
            raise LineError(number, f"{len(cells)} columns where the lines before have {width}")
        if "" in cells:
            raise LineError(number, f"column {cells.index('') + 1} is empty")
        rows.append(cells)


def _tag_column(width: int, tag: str | int | None) -> int | None:
    if tag is None:
        return width - 1 if width > 1 else None
    if not str(tag).isdecimal() or not 2 <= int(tag) <= width:
        raise ValueError(f"the column of the tags is a number from 2 to {width}, got {tag!r:.60}")
    return int(tag) - 1


def _of_rows(rows: list[list[str]], column: int | None) -> Cut:
    tags = None if column is None else [row[column] for row in rows]
    return _joined([row[0] for row in rows], tags)


#: Characters of the number of a token, or of a range of them.
_MOST_DIGITS = 20
_CONLLU = {"lemma": 2, "upos": 3, "xpos": 4}


def _conllu_lines(lines: list[str], tag: str | int | None) -> Iterator[Cut]:
    column = _CONLLU.get(str(tag or "upos").lower())
    if column is None:
        raise ValueError(f"the column of the tags is upos, xpos or lemma, got {tag!r:.60}")
    words: list[str] = []
    tags: list[str] = []
    gaps: list[str] = []
    gap, skip = "", 0
    for number, line in enumerate([*lines, ""], 1):
        bare = line.rstrip("\r\n")
        if not bare.strip():
            if words:
                inner = any(" " in word for word in words)
                yield Cut.of_words(words, tags, gaps if inner or any(gaps) else ())
            words, tags, gaps, gap, skip = [], [], [], "", 0
            continue
        if bare.startswith("#"):
            continue
        cells = bare.split("\t")
        if len(cells) != 10 or not cells[1]:
            raise LineError(
                number,
                f"a CoNLL-U line has 10 columns separated by tabs, this one has {len(cells)}",
            )
        if "." in cells[0]:
            continue
        first, _, last = cells[0].partition("-")
        wrong = not first.isdecimal() or (last and not last.isdecimal())
        if wrong or len(cells[0]) > _MOST_DIGITS:
            raise LineError(number, f"{cells[0]!r:.20} is not the number of a token")
        if not last and int(first) <= skip:
            continue  # a word of the token before, which is written as one
        skip = int(last) if last else skip
        words.append(cells[1])
        tags.append(cells[column])
        gaps.append(gap)
        gap = "" if "SpaceAfter=No" in cells[9].split("|") else " "


FORMATS: dict[str, Callable[[list[str], Any], Iterator[Cut]]] = {
    "cut": _cut_lines,
    "tagged": _tagged_lines,
    "partial": _partial_lines,
    "columns": _column_lines,
    "conllu": _conllu_lines,
}
