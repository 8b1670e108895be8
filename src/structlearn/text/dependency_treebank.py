"""What a dependency parser reads: trees in CoNLL-U, and sentences in several formats."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from .. import _core
from ..exceptions import FileError, LineError
from .answers import cell_fault
from .corpus import Corpus, corpus_of, read_corpus
from .files import read_bytes
from .formats import check_format, sure_format, token_formats
from .labelling import label_pieces, piece_size
from .layouts import format_advice
from .sources import TextPart, check_source, named_file, paired
from .tokens import add_tokens, split_sentence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .formats import Format, Sentences


def read_treebank(source: Any, format: str | None = None) -> Corpus:
    """Return the corpus of CoNLL-U that a path, a corpus or a list of sentences stands for."""
    if format not in (None, "conllu"):
        raise ValueError(f"a parser's trees are read from CoNLL-U, not from the format {format!r}")
    if isinstance(source, (str, os.PathLike)):
        source = read_corpus(named_file(source), "conllu")
    elif isinstance(source, TextPart):
        source = corpus_of(source.name, source.text(), "conllu")
    if isinstance(source, Corpus):
        if source.format != "conllu":
            raise FileError(
                source.path or "the corpus",
                "it is not CoNLL-U (ten columns, separated by tabs), from which a parser's trees "
                "are read",
            )
        return source
    return as_conllu(_sentences(source))


def _sentences(source: Any) -> Iterator[list[Any]]:
    for number, sentence in enumerate(check_source(source)):
        tokens = split_sentence(sentence) if hasattr(sentence, "__iter__") else [sentence]
        if not all(isinstance(token, (str, tuple, list)) for token in tokens):
            raise ValueError(
                f"sentence {number} is not a list of words, each a string or a tuple of cells: "
                f"{sentence!r:.60}"
            )
        yield tokens


def as_conllu(sentences: Any) -> Corpus:
    """Return a corpus of CoNLL-U made from Python.

    A token is a tuple of the ten columns, or (form, tag), or (form, tag, head, relation); a string
    is a form. The tag is UPOS and XPOS.
    """
    core = _core.Corpus("conllu")
    for number, sentence in enumerate(sentences):
        add_tokens(core, [_row(token, i, number) for i, token in enumerate(sentence, 1)], number)
    return Corpus(core, "conllu")


def _row(token: Any, i: int, number: int) -> tuple[str, ...]:
    cells = (token,) if isinstance(token, str) else tuple(token)
    if len(cells) == 10:
        return tuple(map(str, cells))
    if len(cells) not in (1, 2, 4):
        raise ValueError(
            f"sentence {number}, word {i}: {len(cells)} cells; give (form,), (form, tag), "
            "(form, tag, head, relation) or the ten columns of CoNLL-U"
        )
    form, tag, head, label = (*map(str, cells), "_", "_", "_")[:4]
    return (str(i), form, "_", tag, tag, "_", head, label, "_", "_")


def check_trees(corpus: Corpus) -> None:
    """Refuse a corpus of CoNLL-U with a bad tree; the error names file and line."""
    try:
        _core.check_trees(corpus.core)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None


def gold_trees(corpus: Corpus, sentence: int | None = None) -> list[list[tuple[int, str]]]:
    """Return the trees of a corpus of CoNLL-U, or of one of its sentences.

    A bad tree is an error that names file and line.
    """
    begin, end = (0, len(corpus)) if sentence is None else (sentence, sentence + 1)
    try:
        return _core.read_trees(corpus.core, begin, end)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None


def gold_tree(corpus: Corpus, sentence: int) -> list[tuple[int, str]] | None:
    """Return the tree that a sentence comes with; None where a word has no head."""
    if "_" in corpus.cells(sentence, "head"):
        return None
    return gold_trees(corpus, sentence)[0]


def with_trees(X: Any, y: Any) -> list[list[tuple[Any, ...]]]:
    """Return sentences whose words have the heads and relations that are given apart."""
    found = []
    for number, (sentence, tree) in enumerate(paired(X, y)):
        tokens = split_sentence(sentence)
        if len(tokens) != len(tree):
            raise ValueError(f"sentence {number} has {len(tokens)} words, y has {len(tree)}")
        rows = []
        for token, arc in zip(tokens, tree, strict=True):
            cells = (token,) if isinstance(token, str) else tuple(token)
            if not isinstance(arc, (tuple, list)) or len(arc) != 2:
                raise ValueError(
                    f"sentence {number}: y has (head, relation) for each word, not {arc!r} (a dev "
                    "set is given as dev=)"
                )
            if len(cells) == 10:
                rows.append((*cells[:6], *arc, *cells[8:]))
            else:
                rows.append((*cells, "_")[:2] + tuple(arc))
        found.append(rows)
    return found


def check_tags(corpus: Corpus) -> None:
    """Refuse to read tags that are not there: the parser would guess without a warning."""
    s = _core.untagged_sentence(corpus.core) if len(corpus) else None
    if s is None:
        return
    reason = (
        f"sentence {s + 1}: no word has a tag (UPOS or XPOS), and tags are to be read: tag the "
        "text first, or take a parser that was trained without gold_tags (--gold-tags) and "
        "leave that option out"
    )
    if corpus.path:
        raise FileError(corpus.path, reason, corpus.core.line_number(s))
    raise ValueError(reason)


def settled_format(source: str | os.PathLike[str], text: bytes, format: str | None) -> str:
    """Return the format of a file to parse, whose first piece is given."""
    chosen = check_format(format, token_formats(), "a dependency parser")
    return chosen or sure_format(source, text)


def read_words(source: Any, format: str | None = None) -> Corpus:
    """Return sentences to parse as CoNLL-U: of any format, where a path is given."""
    if not isinstance(source, (str, os.PathLike)):
        return read_treebank(source)
    path = named_file(source)
    text = read_bytes(path)
    corpus = corpus_of(path, text, settled_format(path, text, format))
    if corpus.format == "conllu":
        return corpus
    found = as_conllu(corpus.column(0))
    found.path = path
    return found


def label_words(
    labeller: Any,
    written: Format,
    source: str | os.PathLike[str],
    output: Any,
    threads: int,
    progress: Any,
    read: Iterable[tuple[bytes, int]],
) -> int:
    """Parse the words of a file that is neither CoNLL-U nor columns; return their number.

    Parameters
    ----------
    labeller : _core.ParseLabeller
        Of files in columns.
    written : Format
        The file's.
    read : iterable of (bytes, int)
        Pieces of the file, with the number of lines before each.
    """
    lines: list[int] = []  # where each line of the column file comes from
    wrong: list[FileError] = []  # an error in the file itself, whose line is its own

    def columns() -> Iterator[tuple[bytes, int]]:
        size = piece_size(source, threads)
        for text, before in written.whole(read):
            out: list[str] = []
            # As if a line came before: a first word may begin as a byte order mark does.
            begin = len(lines) + 1
            try:
                sentences = written.read(text, before)
                _check_words(sentences)
            except LineError as error:
                wrong.append(error.in_file(os.fspath(source), format_advice(None)))
                raise wrong[0] from None
            for sentence in sentences:
                # A second column tells blanks inside words from those that separate columns.
                out += [*(f"{cells[0]}\t_" for _, cells in sentence), ""]
                lines.extend(at for at, _ in sentence)
                lines.append(sentence[-1][0])
                if len(out) >= size >> 9:  # a sentence on each line: the file is one piece
                    yield "\n".join([*out, ""]).encode(), begin
                    out, begin = [], len(lines) + 1
            if out:
                yield "\n".join([*out, ""]).encode(), begin

    try:
        return label_pieces(None, labeller, source, output, "columns", threads, progress, columns())
    except FileError as error:
        if wrong or not error.line or not 0 <= error.line - 2 < len(lines):
            raise
        raise FileError(error.path, error.reason, lines[error.line - 2]) from None


def _check_words(sentences: Sentences) -> None:
    for at, (word, *_) in (token for sentence in sentences for token in sentence):
        if fault := cell_fault(word, False, last=False):
            raise LineError(at, f"CoNLL-U cannot hold the word {word!r:.60}: {fault}")
