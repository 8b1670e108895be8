"""Gold and predicted labels, paired sentence by sentence and checked for equal lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

#: One sequence of labels per sentence: lists, tuples, arrays.
Sentences = Iterable[Iterable[Any]]


def read_pairs(gold: Sentences, predicted: Sentences) -> list[tuple[list[Any], list[Any]]]:
    """Return the (gold, predicted) labels of each sentence; ValueError names one that does not fit.

    Parameters
    ----------
    gold, predicted : iterable of sequences of labels
        The same sentences in the same order.

    Returns
    -------
    list of (list, list)
    """
    golds, guesses = _rows(gold, "gold"), _rows(predicted, "predicted")
    if len(golds) != len(guesses):
        raise ValueError(
            f"gold has {len(golds)} sentences, predicted has {len(guesses)}: give one prediction "
            "for each sentence, in the same order"
        )
    for i, (truth, guess) in enumerate(zip(golds, guesses, strict=True)):
        if len(truth) != len(guess):
            raise ValueError(
                f"sentence {i}: gold has {len(truth)} labels, predicted has {len(guess)}; "
                "every token needs one label in both"
            )
    return list(zip(golds, guesses, strict=True))


def _rows(sentences: Sentences, name: str) -> list[list[Any]]:
    if isinstance(sentences, (str, bytes)):
        raise TypeError(f"{name} is a string; give a list of sentences, each a list of labels")
    try:
        rows = list(sentences)
    except TypeError:
        raise TypeError(
            f"{name} is of type {type(sentences).__name__}; give a list of sentences, each a list "
            "of labels"
        ) from None
    return [_labels(row, name, i) for i, row in enumerate(rows)]


def _labels(row: Any, name: str, i: int) -> list[Any]:
    if isinstance(row, (list, tuple)):
        return list(row)
    if hasattr(row, "tolist"):  # an array: its labels as plain Python objects, several times faster
        row = row.tolist()
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise TypeError(
            f"sentence {i}: {name} is {row!r}, not a sequence of labels; give a list of sentences, "
            "each a list of labels"
        )
    return list(row)
