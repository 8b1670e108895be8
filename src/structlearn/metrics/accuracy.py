"""The share of tokens, and of whole sentences, that are labelled right."""

from __future__ import annotations

from operator import eq
from typing import Any

from .pairs import Sentences, read_pairs


def token_accuracy(gold: Sentences, predicted: Sentences) -> float:
    """Return the share of tokens whose label is right.

    Tokens whose gold label is None, unknown, are left out, as in the estimators' ``score``; a
    predicted None is wrong. Without any token to judge the result is 0.0.

    Parameters
    ----------
    gold, predicted : iterable of sequences of labels

    Examples
    --------
    >>> token_accuracy([["D", "N", "V"], ["N"]], [["D", "N", "N"], ["N"]])
    0.75
    """
    return _share(token_counts(gold, predicted))


def sequence_accuracy(gold: Sentences, predicted: Sentences) -> float:
    """Return the share of sentences all of whose labels are right.

    Sentences without any known gold label, empty ones too, are left out. Without any sentence to
    judge the result is 0.0.

    Parameters
    ----------
    gold, predicted : iterable of sequences of labels

    Examples
    --------
    >>> sequence_accuracy([["D", "N", "V"], ["N"]], [["D", "N", "N"], ["N"]])
    0.5
    """
    return _share(sequence_counts(gold, predicted))


def token_counts(gold: Sentences, predicted: Sentences) -> list[tuple[int, int]]:
    """Return of each sentence (tokens that are right, tokens)."""
    return [_right(truth, guess) for truth, guess in read_pairs(gold, predicted)]


def sequence_counts(gold: Sentences, predicted: Sentences) -> list[tuple[int, int]]:
    """Return of each sentence (1 if all of it is right, 1); (0, 0) where nothing is known."""
    return [
        (int(right == total), 1) if total else (0, 0)
        for right, total in token_counts(gold, predicted)
    ]


def _right(truth: list[Any], guess: list[Any]) -> tuple[int, int]:
    if None in truth:
        known = [(t, g) for t, g in zip(truth, guess, strict=True) if t is not None]
        return sum(t == g for t, g in known), len(known)
    return sum(map(eq, truth, guess)), len(truth)


def _share(counts: list[tuple[int, int]]) -> float:
    total = sum(n for _, n in counts)
    return sum(right for right, _ in counts) / total if total else 0.0
