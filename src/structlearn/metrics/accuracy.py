"""Accuracy of tokens and of whole sentences."""

from __future__ import annotations

from operator import eq
from typing import Any

from .pairs import Sentences, read_pairs


def token_accuracy(gold: Sentences, predicted: Sentences) -> float:
    """Return the share of tokens whose label is right.

    Tokens with an unknown gold label, None, are left out, as in the estimators' ``score``; a
    predicted None is wrong. If there is no token to judge, the result is 0.0.

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

    Sentences without a known gold label, including empty ones, are left out. If there is no
    sentence to judge, the result is 0.0.

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
    """Return (correct tokens, tokens) for each sentence."""
    return [_right(truth, guess) for truth, guess in read_pairs(gold, predicted)]


def sequence_counts(gold: Sentences, predicted: Sentences) -> list[tuple[int, int]]:
    """Return (1 if all of it is right, 1) for each sentence; (0, 0) if nothing is known."""
    return [
        (int(right == total), 1) if total else (0, 0)
        for right, total in token_counts(gold, predicted)
    ]


def _right(truth: list[Any], guess: list[Any]) -> tuple[int, int]:
    if None in truth:
        pairs = [(t, g) for t, g in zip(truth, guess, strict=True) if t is not None]
        return sum(t == g for t, g in pairs), len(pairs)
    return sum(map(eq, truth, guess)), len(truth)


def _share(counts: list[tuple[int, int]]) -> float:
    total = sum(n for _, n in counts)
    return sum(right for right, _ in counts) / total if total else 0.0
