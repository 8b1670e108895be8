"""Data frames of tokens as corpora."""

from __future__ import annotations

from collections.abc import Sequence

from .corpus import Corpus
from .tables import TableColumns

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["read_frame"]


def read_frame(
    frame: Any,
    *,
    sentence: str | None = None,
    word: str | None = None,
    columns: Sequence[str] | None = None,
) -> Corpus:
    """Return the sentences of a data frame (pandas, polars) with a row for each token.

    Parameters
    ----------
    frame : DataFrame
    sentence : str, optional
        The column that tells sentences apart: rows with equal values in it, one after another, are
        a sentence. By default the one called sentence, sentence_id, sent_id or the like.
    word : str, optional
        The column of the words, by default the one called word, token or form.
    columns : list of str, optional
        The columns to take, in the order that training and prediction read them, the label last.
        By default the words, then all others, those called label or tag last.

    Examples
    --------
    A tagger from a table, with pandas::

        frame = pandas.read_excel("tokens.xlsx")  # sentence, word, tag
        tagger = Tagger().fit(read_frame(frame))
    """
    if not hasattr(frame, "columns"):
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}")
    names = [str(name) for name in frame.columns]
    table = TableColumns(names, sentence, word)
    if table.sentence is None:
        raise ValueError(
            f"no column tells the sentences apart: the columns are {names}; name it, sentence=..."
        )
    cells = table.cells
    if columns is not None:
        for name in columns:
            if name not in names:
                raise ValueError(f"there is no column {name!r}: the columns are {names}")
        cells = [names.index(name) for name in columns]
    values = [list(frame[name]) for name in frame.columns]
    found: list[list[tuple[Any, ...]]] = []
    before: Any = None
    for row, mark in enumerate(values[table.sentence]):
        missing = mark is None or mark != mark  # NaN: the sentence goes on
        if not found or (not missing and mark != before):
            found.append([])
        before = before if missing else mark
        token = tuple(values[i][row] for i in cells)
        for i, cell in zip(cells, token, strict=True):
            if not isinstance(cell, str):
                raise ValueError(
                    f"row {row}: {names[i]!r} is {cell!r}, not a string; fill what is missing in "
                    "and make strings of numbers first, or leave the column out (columns=...)"
                )
        found[-1].append(token)
    return Corpus.from_sentences(found)
