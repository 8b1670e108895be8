"""What a tagger reads of sentences that are laid out unlike the files it was trained on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .. import _core
from .corpus import Corpus, find_column, table_format
from .formats import check_format, guess_format, lines_are, sure_format, token_formats

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .tables import Naming


class Layout:
    """Which columns of an input stand for those of the files that a model was trained on.

    Parameters
    ----------
    model : TaggerModel or SegmentModel
    named_as : {"columns", "conllu"}
        How the columns of the input are named.
    n_given : int
        How many it has.
    names : sequence of str
        The input's own names of them; empty: it has none.

    Attributes
    ----------
    sources : list of int or None
        For each column of the training files that of the input, None where it has none.
    target : int or None
        The column of the input that holds labels of this kind; None: it has none.

    Raises
    ------
    ValueError
        Where the input lacks a column that the model reads.
    """

    def __init__(self, model: Any, named_as: str, n_given: int, names: Sequence[str] = ()) -> None:
        self.model = model
        own = list(model.table_names.get("names", ())) if names else []
        self.alike = named_as == model.format == "columns" and (not own or own == list(names))
        wanted = own or _core.common_names(model.format, model.n_columns)
        given = list(names) if own else _core.common_names(named_as, n_given)
        self.sources: list[int | None]
        if own:
            # Words come first, whatever they are called.
            found = [given.index(name) if name in given else None for name in wanted]
            self.sources = [0, *found[1:]]
        else:
            # Of column files the core compares the numbers of columns and says what is missing.
            self.sources = _core.columns_for(model.format, model.n_columns, named_as, n_given)
        if named_as == "conllu" != model.format and _are_chunks(model):
            self.sources[model.target] = None  # CoNLL-U has no column for chunks
        whole = all(self.sources[c] is not None for c in model.targets)
        self.target = self.sources[model.target] if whole else None
        read = [find_column(c, model.format, model.n_columns) for c in model.templates.columns()]
        missing = [
            f"{wanted[i]} (column {i + 1})" for i in sorted(set(read)) if self.sources[i] is None
        ]
        if missing:
            names = ", ".join(wanted[i] for i in sorted(set(read)))
            has = ", ".join(given) if len(given) < 6 else f"{', '.join(given[:5])}, ..."
            raise ValueError(
                f"the model reads the columns {names}, and the input has {has}: {missing[0]} is "
                f"missing (the model was trained on {model.n_columns} columns, the input has "
                f"{n_given})"
            )

    def row(self, number: int, cells: Sequence[str], known: bool = False) -> tuple[str, ...]:
        """Return the cells of a token as the model reads them.

        Parameters
        ----------
        number : int
            Of the token in its sentence, from 1.
        known : bool
            Give the label too.
        """
        model = self.model
        if self.alike:
            return tuple(cells)
        row = ["_" if i is None else cells[i] for i in self.sources]
        if not known:
            for c in model.targets:
                row[c] = "_"
        if model.format == "conllu":
            row[0], row[6:10] = str(number), "____"
        return tuple(row)


class SpanLayout(Layout):
    """The layout of texts with spans, whose labels go where the model has its own."""

    def __init__(self, model: Any) -> None:
        super().__init__(model, "columns", 1)
        self.alike = False
        self.sources = [0 if i == 0 else None for i in range(model.n_columns)]
        self.sources[model.target] = 1


def has_place(model: Any) -> bool:
    """Tell whether CoNLL-U has a column for the labels of a model of another format."""
    try:
        return not model.further and Layout(model, "conllu", 10).target is not None
    except ValueError:
        return True  # a column is missing: reading the file says which


def _are_chunks(model: Any) -> bool:
    """Tell labels such as B-NP, which a tagger of segments writes, from tags."""
    return hasattr(model, "first") or any(k[:2] in ("B-", "I-") for k in model.labels)


def as_trained(model: Any, corpus: Corpus) -> Corpus:
    """Return a corpus with the columns of the training files; itself where it has them."""
    if not len(corpus):
        return corpus
    moved = corpus.cut_by and model.format == "columns" and model.target != 1
    own = model.table_names.get("names") if corpus.names else None
    alike = corpus.format == model.format and corpus.n_columns >= model.columns_needed
    if alike and not moved and (own is None or list(corpus.names) == own):
        return corpus
    layout = Layout(model, corpus.format, corpus.n_columns, corpus.names)
    if corpus.cut_by and model.format == "columns":
        layout = SpanLayout(model)
    rows = [[layout.row(i, cells, True) for i, cells in enumerate(s, 1)] for s in corpus]
    found = Corpus.from_sentences(rows, model.format)
    found.path = corpus.path
    return found


def input_format(
    model: Any,
    source: str | os.PathLike[str],
    text: bytes,
    format: str | None = None,
    naming: Naming | None = None,
) -> str:
    """Return the format of a file to label, whose first piece is given.

    Numbers of columns tell a model that was trained on columns what is a column file, and columns
    that somebody named (``naming``) a table.
    """
    if check_format(format, token_formats(), "a tagger") is not None:
        return str(format)
    reads = columns_read(model)
    if naming is not None and table_format(source, text, naming) == "csv":
        return "csv"
    if model.format == "conllu":
        return sure_format(source, text, reads)
    if model.tokens and len(reads) == 1 and guess_format(source, text) == "columns":
        # It has learned from running text: more of it is likelier than columns.
        return "columns" if lines_are(text) == "columns" else "text"
    return guess_format(source, text, *(["text"] if len(reads) == 1 else []))


def columns_read(model: Any) -> list[str]:
    """Return the names of the columns that a model reads, as those of column files."""
    names = _core.common_names(model.format, model.n_columns)
    read = {find_column(c, model.format, model.n_columns) for c in model.templates.columns()}
    return [names[i] for i in sorted(read)]


def format_advice(model: Any) -> str:
    """Say what to do about running text in the place of columns; parsers, without a model of
    columns, read words alone.
    """
    reads = ["word"] if model is None else columns_read(model)
    if len(reads) == 1:
        return 'Then its format is text (--format text; in Python read_corpus(path, "text"))'
    return (
        f"The model reads the columns {', '.join(reads)}, which text has not: write each word with "
        "these on a line of its own, and a blank line after each sentence"
    )
