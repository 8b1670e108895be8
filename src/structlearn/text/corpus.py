"""Sentences of tokens in columns: column files and CoNLL-U, read natively and kept compactly."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence

from .. import _core
from ..exceptions import FileError, LineError
from .answers import cell_fault
from .files import read_bytes, written_text
from .formats import FORMATS, check_format, guess_format, token_formats
from .tables import Naming
from .tokens import add_tokens, cells_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    from .formats import Format
CONLLU_COLUMNS = tuple(_core.column_names("conllu", 10))


def column_names(format: str, n_columns: int) -> tuple[str, ...]:
    """Return the names by which templates know the columns of a file."""
    return tuple(_core.column_names(format, n_columns))


def find_column(name: str, format: str, n_columns: int, own: Sequence[str] = ()) -> int:
    """Return the number, from 0, of a column given by its name, or by its number from 1.

    Negative numbers count from the end. ``own``: the names that the file itself has.
    """
    return _core.find_column(str(name), format, n_columns, list(own))


class Sentence(Sequence[tuple[str, ...]]):
    """One sentence: a sequence of tokens, each a tuple of its cells.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    comments : list of str
        The comment lines of a CoNLL-U sentence, with their ``#``.
    """

    def __init__(self, corpus: Corpus, number: int) -> None:
        self._corpus = corpus
        self._number = number
        self.columns = corpus.columns

    def column(self, name: str | int) -> list[str]:
        """Return the cells of one column, given by name or by its number from 0."""
        return self._corpus.cells(self._number, name)

    @property
    def comments(self) -> list[str]:
        """The comment lines."""
        asides = self._corpus.core.asides(self._number)
        return [text for _, text in asides if text.startswith("#")]

    def __len__(self) -> int:
        return int(self._corpus.core.length(self._number))

    def __getitem__(self, i: Any) -> Any:
        return list(self)[i]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        columns = range(self._corpus.n_columns)
        return zip(*(self._corpus.core.cells(self._number, c) for c in columns), strict=True)

    def __repr__(self) -> str:
        return f"<Sentence of {len(self)} tokens: {' '.join(self.column(self._word))[:60]}>"

    @property
    def _word(self) -> int:
        return 1 if self._corpus.format == "conllu" else 0


class Corpus(Sequence[Sentence]):
    """Sentences of tokens in columns, four bytes per cell; each distinct string is kept once.

    A sequence of :class:`Sentence`. Made by :func:`read_corpus` or :meth:`from_sentences`.

    Attributes
    ----------
    format : {"columns", "conllu"}
        What kind of file it came from.
    columns : tuple of str
        Names of the columns: those of CoNLL-U, or word, pos, chunk, c4, c5, ...
    n_tokens, n_columns : int
        Sizes.
    path : str or None
        The file it was read from.
    cut_by : str
        The tokeniser that has cut its texts; empty: they came in tokens.
    table : dict
        Of a table: the names of its columns in the order of the cells ("names"), of those that
        tell sentences apart ("sentence") or have whole texts ("text"), and of those with whole
        numbers ("numbers"). Empty: the file has no names.
    remarks : list of str
        What there is to say about how the file was read.
    weights : list of float
        Of the sentences, as :meth:`weighted` has set them; empty: all 1.
    core : structlearn._core.Corpus
        The same sentences as the native functions of the library take them.
    """

    cut_by = ""

    def __init__(
        self,
        core: _core.Corpus,
        format: str,
        path: str | None = None,
        table: dict[str, Any] | None = None,
        remarks: Sequence[str] = (),
    ) -> None:
        self.core = core
        self.format = format
        self.path = path
        self.table = dict(table or {})
        self.remarks = list(remarks)

    def _with(self, core: _core.Corpus) -> Corpus:
        """Return a corpus of the same file and of other sentences."""
        corpus = Corpus(core, self.format, self.path, self.table, self.remarks)
        corpus.cut_by = self.cut_by
        return corpus

    @classmethod
    def from_sentences(cls, sentences: Iterable[Any], format: str = "columns") -> Corpus:
        """Make a corpus from Python: each sentence a list of tokens, a token a string or a tuple.

        A sentence that is a string is split at white space. Tokens of the format "conllu" have its
        ten columns.

        Examples
        --------
        >>> from structlearn.text import Corpus
        >>> corpus = Corpus.from_sentences([[("fish", "N"), ("sleep", "V")], [("fish", "N")]])
        >>> corpus.n_tokens, corpus[0].column("word")
        (3, ['fish', 'sleep'])
        """
        core = _core.Corpus(format)
        for number, sentence in enumerate(sentences):
            add_tokens(core, cells_of(sentence, number), number)
        return cls(core, format)

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return int(self.core.n_tokens)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.core.n_columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return column_names(self.format, self.n_columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The file's own names of the columns; empty: it has none."""
        return tuple(self.table.get("names", ()))

    @property
    def weights(self) -> list[float]:
        """The weights of the sentences; empty: all 1."""
        return list(self.core.weights)

    def weighted(self, weights: Iterable[float]) -> Corpus:
        """Return a copy whose sentences have weights ≥ 0; those of weight 0 are left out.

        A sentence of weight k counts as k copies of it wherever occurrences are counted, rounded to
        whole ones and at least 1.
        """
        given = list(weights)
        kept = [i for i, weight in enumerate(given) if weight]
        core = self.core.copy() if len(kept) == len(given) else self.core.subset(kept)
        core.set_weights([given[i] for i in kept])
        return self._with(core)

    def find_column(self, name: str | int) -> int:
        """Return the number, from 0, of a column given by name or by its number from 1.

        Its name is the file's own, or the one that templates know it by.
        """
        try:
            return find_column(str(name), self.format, self.n_columns, self.names)
        except ValueError as error:
            raise FileError(self.path or "the corpus", str(error)) from None

    def cells(self, sentence: int, column: str | int) -> list[str]:
        """Return one column of one sentence; the column by name or by its number from 0."""
        index = column if isinstance(column, int) else self.find_column(column)
        return list(self.core.cells(sentence, index))

    def column(self, name: str | int) -> list[list[str]]:
        """Return one column of all sentences."""
        index = name if isinstance(name, int) else self.find_column(name)
        rows: list[list[str]] = self.core.column(index)
        return rows

    def labels(self, column: int, unknown: str) -> list[list[str | None]]:
        """Return a column of labels; None where a label is unknown, ``unknown`` in the file."""
        return [[None if k == unknown else k for k in row] for row in self.column(column)]

    def known_labels(self, column: int, unknown: str) -> list[list[str | None]]:
        """Return a column of labels to learn from or to be judged by: some must be known."""
        labels = self.labels(column, unknown)
        if all(k is None for row in labels for k in row):
            raise FileError(self.path or "the corpus", f"no token has a label: all are {unknown!r}")
        return labels

    def counts(self, name: str | int) -> dict[str, int]:
        """Return how often each string of a column is there, in the order of first occurrence."""
        index = name if isinstance(name, int) else self.find_column(name)
        pairs = zip(self.core.strings(index), self.core.counts(index), strict=True)
        return {string: times for string, times in pairs if times}

    def in_iobes(self, column: int, unknown: str) -> Corpus:
        """Return a copy in which a column of chunk labels is in the scheme IOBES."""
        copy = self._with(self.core.copy())
        copy.core.to_iobes(column, unknown)
        return copy

    def with_sets(self, column: int, mark: str, unknown: str) -> Corpus:
        """Return a copy in which cells such as ``PER|ORG`` of a column are sets of labels.

        Their tokens are unknown to whoever reads the column; what learns from it reads the sets.
        """
        copy = self._with(self.core.copy())
        try:
            copy.core.to_sets(column, mark, unknown)
        except LineError as error:
            raise error.in_file(self.path or "the corpus") from None
        return copy

    def joined(self, columns: Sequence[int], unknown: str) -> Corpus:
        """Return a copy whose first one of these columns has the cells of all, joined by "|".

        A token whose cells are all unknown is unknown. Cells may have "|" in them in the last
        column only, so that labels can be split again.
        """
        copy = self._with(self.core.copy())
        try:
            copy.core.join(list(columns), unknown)
        except LineError as error:
            raise error.in_file(self.path or "the corpus") from None
        return copy

    def lexicon(
        self, column: int, functions: list[Any], target: int, unknown: str, types: bool
    ) -> _core.Lexicon:
        """Count the labels of words.

        Parameters
        ----------
        column, target : int
            Of the words and of their labels.
        functions : list
            What is done to the words first, as the core takes it.
        unknown : str
            A label that is not counted.
        types : bool
            Of labels of chunks count the types alone.
        """
        return _core.LexiconCounts(self.core, column, functions, target, unknown, types).lexicon()

    def subset(self, sentences: Iterable[int]) -> Corpus:
        """Return a corpus of the sentences with these numbers, as if it had been read by itself.

        They keep their weights.
        """
        return self._with(self.core.subset(list(sentences)))

    def __len__(self) -> int:
        return int(self.core.n_sentences)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [Sentence(self, j) for j in range(*i.indices(len(self)))]
        number = i + len(self) if i < 0 else i
        if not 0 <= number < len(self):
            raise IndexError(f"there is no sentence {i}: the corpus has {len(self)}")
        return Sentence(self, number)

    def __repr__(self) -> str:
        return (
            f"<Corpus of {len(self)} sentences, {self.n_tokens} tokens, "
            f"columns {', '.join(self.columns)}>"
        )

    @property
    def separator(self) -> str:
        """What separates the columns: a tab or a blank; empty if nothing did yet."""
        return "\t" if self.format == "conllu" else self.core.separator.strip("\0")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the corpus as a file of its format; comments and multi-word tokens included."""
        lone = self.n_columns == 1  # a reader splits it at white space
        for i, sentence in enumerate(self):
            for c, cell in ((c, cell) for token in sentence for c, cell in enumerate(token, 1)):
                if fault := cell_fault(cell, lone, last=c == self.n_columns):
                    reason = f"a cell is {cell!r:.60}: {fault}"
                    raise FileError(os.fspath(path), f"sentence {i} cannot be written: {reason}")
        with written_text(path) as file:
            self._write(file)

    def _write(self, file: IO[bytes]) -> None:
        separator = self.separator or "\t"
        if len(self) and self[0][0][0].startswith("\ufeff"):
            file.write("\ufeff".encode())  # one that readers take away
        for i in range(len(self)):
            asides = self.core.asides(i)
            at = 0
            lines = []
            for position, token in enumerate(self[i]):
                while at < len(asides) and asides[at][0] <= position:
                    lines.append(asides[at][1])
                    at += 1
                lines.append(separator.join(token))
            lines.extend(text for _, text in asides[at:])
            file.write(("\n".join(lines) + "\n\n").encode())
        for _, text in self.core.closing_asides():
            file.write(f"{text}\n".encode())


def read_corpus(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    header: bool = False,
    tokens: str | None = None,
    sentence: str | None = None,
    word: str | None = None,
    text: str | None = None,
    target: str | int | None = None,
) -> Corpus:
    """Read sentences from a file.

    Parameters
    ----------
    path : path
        Plain or compressed by gzip; ``-`` is standard input.
    format : {"columns", "conllu", "csv", "jsonl", "text", "prodigy", "doccano", "labelstudio",
            "brat", "docbin"}, optional
        By default it goes by the file's name, else by its content. Columns are separated by tabs,
        or by runs of white space where the first line has no tab; sentences by blank lines. CSV
        names its columns in the first line; one called sentence (or blank lines) tells sentences
        apart. JSON lines have an object for each sentence, ``{"tokens": [...], "tags": [...]}``.
        Text has one sentence on each line, words separated by blanks. Tables in Parquet, with a row
        for each token or lists in a row for each sentence, need pyarrow. The others hold texts with
        spans: their tokens have labels B-, I- and O.
    header : bool, default=False
        The first line of a column file names the columns and is skipped.
    tokens : {"blank", "words", "characters", "english"} or a regular expression, optional
        How texts with spans are cut into tokens; by default "words"
        (:mod:`structlearn.text.tokenisers`).
    sentence, word, text, target : str, optional
        The file's own names of the columns of a table: rows with equal values in ``sentence``, one
        after another, are a sentence; ``word`` has a word in each row, or ``text`` a whole
        sentence, and its labels, separated by blanks; ``target`` has the labels. By default they go
        by the usual names (sentence_id, token, tag, ...). Without a column for the sentence it is
        the one whose values change with it, such as address_id, or blank lines tell.

    Raises
    ------
    structlearn.exceptions.FileError
        Where the file cannot be read; the message names it and the line.
    """
    naming = Naming(sentence, word, text, target)
    content = read_bytes(path)
    return corpus_of(path, content, format, header=header, naming=naming, tokens=tokens)


def corpus_of(
    path: str | os.PathLike[str],
    text: bytes,
    format: str | None,
    *,
    header: bool = False,
    naming: Naming | None = None,
    advice: str = 'Then its format is text (format="text")',
    tokens: str | None = None,
    split: bool = True,
) -> Corpus:
    """Return the corpus of a file whose content has been read; as :func:`read_corpus`.

    ``advice`` says what to do about running text in the place of columns. Not ``split``: tokens of
    texts stay whole where spans cut them.
    """
    kind = check_format(format, token_formats()) or table_format(path, text, naming)
    chosen = FORMATS[kind](header)
    chosen.naming, chosen.tokens, chosen.splits = naming, tokens, split
    core = _core.Corpus(chosen.named_as)
    try:
        chosen.fill(core, text)
    except LineError as error:
        raise error.in_file(os.fspath(path), advice) from None
    warn_of_remarks(os.fspath(path), chosen.remarks)
    if core.n_tokens == 0:
        raise FileError(os.fspath(path), "the file contains no sentences")
    for doubt in chosen.doubts:
        warnings.warn(f"{os.fspath(path)}, {doubt}", stacklevel=2)
    corpus = Corpus(core, chosen.named_as, os.fspath(path), table_of(chosen), chosen.findings)
    if chosen.spans:
        corpus.cut_by = tokens or "words"
    return corpus


#: Remarks on a file that are written out; of the others the number.
_MOST_REMARKS = 5


def warn_of_remarks(path: str, remarks: list[tuple[int, str]]) -> None:
    """Warn of what was done about odd things in a file; of nothing if there are none."""
    if not remarks:
        return
    rows = [f"line {line}: {what}" if line else what for line, what in remarks[:_MOST_REMARKS]]
    more = len(remarks) - len(rows)
    rows += [f"and {more} more"] if more else []
    warnings.warn(
        f"{path}: tokens were split where spans cut them, or texts left out: {'; '.join(rows)}",
        stacklevel=4,
    )


def table_format(path: str | os.PathLike[str], text: bytes, naming: Naming | None) -> str:
    """Return the format of a file; with names that are known, columns may be a table.

    ``naming``: of its columns, as somebody gave them or a model knows them.
    """
    guess = guess_format(path, text)
    name = os.fspath(path)
    if guess == "columns" and name.endswith(".txt") and os.path.exists(f"{name[:-4]}.ann"):
        raise FileError(
            name,
            f"{name[:-4]}.ann beside it has its spans, as brat writes them: name that file, or the "
            "folder. If this one has columns, say so (--format columns)",
        )
    if naming is None or guess != "columns":
        return guess
    return "csv" if naming.given or naming.heads(text) else guess


def table_of(read: Format) -> dict[str, Any]:
    """Return what a corpus keeps of the names that a file has."""
    if not read.names:
        return {}
    table: dict[str, Any] = {"names": list(read.names)}
    table |= {name: getattr(read, name) for name in ("sentence", "text") if getattr(read, name)}
    if numbers := list(getattr(read, "numbers", ())):
        table["numbers"] = numbers
    return table
