"""Trees to learn from and sentences to parse, from files and lists, checked and cleaned."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..exceptions import FileError, LineError
from .files import read_bytes
from .formats import FORMATS, check_format, guess_format, token_formats
from .layouts import format_advice
from .sources import TextPart, check_source, named_file, paired
from .tokens import NO_TEXT, is_text
from .trees import Tree, parse_brackets

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any


class Place:
    """Where a sentence comes from: what errors about it name.

    Attributes
    ----------
    number : int
        Of the sentence, from 1.
    path : str or None
        The file.
    line : int or None
        Where it begins.
    """

    __slots__ = ("line", "number", "path")

    def __init__(self, number: int, path: str | None = None, line: int | None = None) -> None:
        self.number = number
        self.path = path
        self.line = line

    def error(self, reason: str) -> ValueError:
        """Return an error about the sentence."""
        message = f"sentence {self.number} {reason}"
        return FileError(self.path, message, self.line) if self.path else ValueError(message)


class Sentence:
    """A sentence to be parsed: its words, their tags if it has them, and where it stands."""

    __slots__ = ("place", "tags", "words")

    def __init__(self, words: list[str], tags: list[str], place: Place) -> None:
        self.words = words
        self.tags = tags
        self.place = place


def placed_trees(
    source: Any, format: str | None = None, *, functions: bool = False, traces: bool = False
) -> list[tuple[Tree, Place]]:
    """Return the trees of a file, a list or a part, cleaned, each with where it comes from.

    Functional tags and traces are taken out unless they are to be kept. A tree in which no word
    is left raises an error that names the file, the line and the sentence.
    """
    if format not in (None, "brackets"):
        raise ValueError(f"gold trees are read from brackets, not from the format {format!r}")
    if isinstance(source, (str, os.PathLike)):
        path = named_file(source)
        found = _file_trees(path, read_bytes(path))
    elif isinstance(source, TextPart):
        found = _file_trees(source.name, source.text())
    else:
        found = _given(check_source(source))
    return _cleaned(found, functions, traces)


def _cleaned(
    found: list[tuple[Tree, Place]], functions: bool, traces: bool
) -> list[tuple[Tree, Place]]:
    trees = []
    for tree, place in found:
        kept = tree.cleaned(functions=functions, traces=traces)
        if kept is None:
            raise place.error("has no words, only traces")
        if kept.word is not None:
            kept = Tree("", [kept])
        trees.append((kept, place))
    if not trees:
        raise ValueError("there are no sentences")
    return trees


def read_sentences(
    source: Any, *, traces: bool = False, format: str | None = None
) -> list[Sentence]:
    """Return what is to be parsed; no tags where the input has none.

    Parameters
    ----------
    source : path, or list of trees, of lists of words, or of strings
        A file holds bracketed trees, of which words and tags are read, plain text with one sentence
        on each line, CoNLL-U (tags are XPOS), columns (tags are the second), CSV or JSON lines. A
        string in a list is a tree or text. Words may be (word, tag). As in trees, brackets in words
        become -LRB- and -RRB-, and blanks in words of files ``_``.
    format : {"brackets", "text", "columns", "conllu", "csv", "jsonl"}, optional
        Of a file; by default it is guessed from its name, else from its content.
    """
    check_format(format, ("brackets", *token_formats()), "a constituency parser")
    if not isinstance(source, (str, os.PathLike)):
        rows = enumerate(check_source(source), 1)
        return [s for number, row in rows for s in _given_sentences(row, number, traces)]
    path = named_file(source)
    text = read_bytes(path)
    format = format or _guessed(path, text)
    if format == "brackets":
        return [_bare(tree, place, traces) for tree, place in _file_trees(path, text)]
    return _token_sentences(path, text, format)


def has_trees(source: Any) -> bool:
    """Tell whether what :func:`read_sentences` reads has trees, and can be read again."""
    if isinstance(source, (str, os.PathLike)):
        path = named_file(source)
        return path != "-" and _guessed(path, read_bytes(path)) == "brackets"
    return isinstance(source, (list, tuple)) and all(
        isinstance(row, Tree) or (isinstance(row, str) and _bracketed(row)) for row in source
    )


def with_trees(X: Any, y: Any) -> list[Tree]:
    """Return the trees that are given apart from their sentences; both must have the same words."""
    trees = []
    for number, (sentence, item) in enumerate(paired(X, y), 1):
        found = _given([item])
        if len(found) != 1:
            raise ValueError(f"sentence {number}: y has {len(found)} trees, not one")
        words = _given_sentences(sentence, number, True)[0].words
        if found[0][0].words != words:
            raise ValueError(
                f"sentence {number} is {' '.join(words)!r:.60}, its tree in y has the words "
                f"{' '.join(found[0][0].words)!r:.60} (a dev set is given as dev=)"
            )
        trees.append(found[0][0])
    return trees


def _bracketed(text: bytes | str) -> bool:
    start = text.lstrip()[:1]
    return start in (b"(", "(")


def _bare(tree: Tree, place: Place, traces: bool) -> Sentence:
    kept = tree.cleaned(traces=traces)
    if kept is None:
        raise place.error("has no words, only traces")
    return Sentence(kept.words, kept.tags, place)


def read_trees(path: str | os.PathLike[str]) -> list[tuple[Tree, int]]:
    """Read a file of bracketed trees; return each with the line it begins on.

    Plain or gzip, ``-`` is standard input; trees may run over several lines. Outermost
    nodes without a name, or named TOP, ROOT or S1, that have one child are left out.

    Raises
    ------
    FileError
        Names the file, the line and the sentence: brackets that do not match, nodes without
        content, words outside of brackets.
    """
    return read_tree_text(os.fspath(path), read_bytes(path))


def read_tree_text(name: str, content: bytes) -> list[tuple[Tree, int]]:
    """Return the trees of a file's content; ``name`` is for messages."""
    try:
        trees: list[tuple[Tree, int]] = FORMATS["brackets"]().read(content, 0)
    except LineError as error:
        raise error.in_file(name) from None
    if not trees:
        raise FileError(name, "the file contains no sentences")
    return trees


def _file_trees(path: str, text: bytes) -> list[tuple[Tree, Place]]:
    found = enumerate(read_tree_text(path, text), 1)
    return [(tree, Place(number, path, line)) for number, (tree, line) in found]


def _guessed(path: str, text: bytes) -> str:
    """Return the format of a file: lines of several words without tabs are sentences."""
    content = text.removeprefix(b"\xef\xbb\xbf")
    if _bracketed(content):
        return "brackets"
    guess = guess_format(path, text)
    if guess != "columns":
        return guess
    lines = content.splitlines()
    tabs = [b"\t" in line.strip() for line in lines if line.strip()]
    if any(tabs) and not all(tabs):
        number = next(n for n, line in enumerate(lines, 1) if b"\t" in line.strip())
        raise FileError(
            path,
            "a tab, which other lines have not: are these columns, or sentences? Say --format "
            "columns or --format text",
            number,
        )
    return "columns" if any(tabs) or all(len(line.split()) < 2 for line in lines) else "text"


def _token_sentences(path: str, text: bytes, format: str) -> list[Sentence]:
    chosen = FORMATS[format]()
    word, tag = (1, 4) if chosen.named_as == "conllu" else (0, 1)
    sentences = []
    try:
        for number, tokens in enumerate(chosen.read(text, 0), 1):
            words = [_escaped(cells[word]) for _, cells in tokens]
            given = [cells[tag] for _, cells in tokens if len(cells) > tag and cells[tag] != "_"]
            tags = [_escaped(cell) for cell in given]
            place = Place(number, path, tokens[0][0])
            sentences.append(Sentence(words, tags if len(tags) == len(words) else [], place))
    except LineError as error:
        raise error.in_file(path, format_advice(None)) from None
    if not sentences:
        raise FileError(path, "there are no sentences in it")
    return sentences


def _given_sentences(row: Any, number: int, traces: bool) -> list[Sentence]:
    place = Place(number)
    if isinstance(row, Tree) or (isinstance(row, str) and _bracketed(row)):
        return [_bare(tree, Place(number), traces) for tree, _ in _given([row], number)]
    if not isinstance(row, str) and not hasattr(row, "__iter__"):
        raise ValueError(f"sentence {number} is not a list of words, string or tree: {row!r:.60}")
    words: list[Any] = row.split() if isinstance(row, str) else list(row)
    if not words:
        raise place.error("is empty: it has no words")
    tags: list[str] = []
    if all(isinstance(word, (tuple, list)) and len(word) == 2 for word in words):
        words, tags = [word for word, _ in words], [tag for _, tag in words]
    for what, cells in (("word", words), ("tag", tags)):
        for cell in cells:
            if not isinstance(cell, str):
                reason = "words are strings, or all words of a sentence are pairs (word, tag)"
            elif cell.split() != [cell]:
                reason = "empty, or with blanks"
            elif not is_text(cell):
                reason = NO_TEXT
            else:
                continue
            raise ValueError(f"sentence {number}: {cell!r:.60} is not a {what}: {reason}")
    return [Sentence([_escaped(word) for word in words], [_escaped(tag) for tag in tags], place)]


def _escaped(cell: str) -> str:
    """Return a word or tag as trees write it: brackets are theirs, and blanks end it."""
    return "_".join(cell.replace("(", "-LRB-").replace(")", "-RRB-").split()) or "_"


def _given(source: Iterable[Any], first: int = 1) -> list[tuple[Tree, Place]]:
    trees = []
    for number, item in enumerate(source, first):
        if isinstance(item, (Tree, str)) and not is_text(str(item)):
            raise ValueError(f"sentence {number} is {str(item)!r:.60}: {NO_TEXT}")
        if isinstance(item, Tree):
            trees.append((item, Place(number)))
            continue
        if not isinstance(item, str):
            kind = type(item).__name__
            raise ValueError(
                f"sentence {number}: a tree is a Tree or a bracketed string, got {kind}"
            )
        try:
            found = parse_brackets(item)
        except ValueError as error:
            raise ValueError(f"tree {number} of the list: {error}") from None
        if not found:
            raise ValueError(f"tree {number} of the list is empty")
        trees += [(tree, Place(number)) for tree in found]
    return trees
