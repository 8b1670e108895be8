"""Data frames of tokens as corpora."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral

from .corpus import Corpus
from .tables import LONGEST_SENTENCE, Naming, TableColumns, long_sentence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def read_frame(
    frame: Any,
    *,
    sentence: str | None = None,
    word: str | None = None,
    target: str | None = None,
    columns: Sequence[str] | None = None,
) -> Corpus:
    """Return the sentences of a data frame (pandas, polars) with a row for each token.

    Parameters
    ----------
    frame : DataFrame
    sentence : str, optional
        The column that tells sentences apart: rows with equal values in it, one after another, are
        a sentence. By default the one called sentence, sentence_id, sent_id or the like, or
        another one whose values change with the sentence, such as address_id.
    word : str, optional
        The column of the words, by default the one called word, token or form.
    target : str, optional
        The column of the labels, by default the one called label, tag or the like, or the last.
    columns : list of str, optional
        The columns to take, in the order that training and prediction read them, the label last.
        By default the words, then tags, chunks and all others, the labels last.

    Examples
    --------
    A tagger from a table, with pandas::

        frame = pandas.read_excel("tokens.xlsx")  # sentence, word, tag
        tagger = Tagger().fit(read_frame(frame))
    """
    if not hasattr(frame, "columns"):
        raise ValueError(f"frame must be a data frame, got {type(frame).__name__}")
    names = [str(name) for name in frame.columns]
    table = TableColumns(names, Naming(sentence, word, target=target))
    values = [list(frame[name]) for name in frame.columns]
    remark = table.find_sentences(values)
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
    found: list[list[tuple[Any, ...]]] = []
    before: Any = None
    for row, mark in enumerate(values[table.sentence]):
        missing = mark is None or mark != mark  # NaN: the sentence goes on
        if not found or (not missing and mark != before):
            found.append([])
        before = before if missing else mark
        token = tuple(_cell(values[i][row]) for i in cells)
        for i, cell in zip(cells, token, strict=True):
            if not isinstance(cell, str):
                raise ValueError(
                    f"row {row}: {names[i]!r} is {cell!r}, not a string; fill what is missing in "
                    "and make strings of numbers first, or leave the column out (columns=...)"
                )
        found[-1].append(token)
    corpus = Corpus.from_sentences(found)
    corpus.table = {"names": [names[i] for i in cells], "sentence": names[table.sentence]}
    corpus.remarks = [remark] if remark else []
    if longest := [len(tokens) for tokens in found if len(tokens) > LONGEST_SENTENCE]:
        warnings.warn(f"the data frame: {long_sentence(max(longest))}", stacklevel=2)
    return corpus


def _cell(value: Any) -> Any:
    """Return a cell as text if it is a whole number, as it would be in a file."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return str(value) if whole else value
