"""Near-duplicates: how much a text is like those that were asked for already."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

_DIGITS = re.compile(r"\d")


class Variety:
    """How much each text is like the most similar one that was asked for.

    Two texts are as similar as the share of the pairs of neighbouring words that they have in
    common, of all that either has (Jaccard). Case does not count, nor which digits there are: lines
    of a log and letters of one form are near-duplicates.

    Parameters
    ----------
    sentences : sequence of sequences of str
        The words of each text.

    Examples
    --------
    >>> variety = Variety([["Room", "12"], ["room", "34"], ["Ann", "sleeps"]])
    >>> variety.add(0)
    >>> variety.nearest.tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self.nearest: npt.NDArray[np.float64] = np.zeros(len(sentences))
        number: dict[tuple[str, str], int] = {}
        self._pairs = [
            np.unique([number.setdefault(pair, len(number)) for pair in _pairs(words)])
            for words in sentences
        ]
        self._sizes = np.array([len(pairs) for pairs in self._pairs], dtype=np.float64)
        # The texts of each pair, one after the other.
        flat = np.concatenate([np.empty(0, np.int64), *self._pairs])
        owners = np.repeat(np.arange(len(self._pairs)), self._sizes.astype(np.int64))
        order = np.argsort(flat, kind="stable")
        self._texts = owners[order]
        self._begins = np.searchsorted(flat[order], np.arange(len(number) + 1))

    def similarities(self, text: int) -> npt.NDArray[np.float64]:
        """Return how similar each text is to one of them."""
        lists = [self._texts[self._begins[p] : self._begins[p + 1]] for p in self._pairs[text]]
        counts = np.bincount(np.concatenate(lists), minlength=len(self._sizes))
        shared: npt.NDArray[np.float64] = counts.astype(np.float64)
        shares: npt.NDArray[np.float64] = shared / (self._sizes + self._sizes[text] - shared)
        return shares

    def add(self, text: int) -> None:
        """Count a text among those that were asked for."""
        np.maximum(self.nearest, self.similarities(text), out=self.nearest)

    def chosen(
        self, doubts: npt.NDArray[np.float64], candidates: Iterable[int], n: int
    ) -> list[int]:
        """Return the n texts that are worth most, each unlike those before it.

        A text is worth its doubt times what is new in it. Those that were asked for are told apart
        by ``candidates``; the object stays as it is.
        """
        numbers = np.array(list(candidates), dtype=np.int64)
        nearest, found = self.nearest.copy(), list[int]()
        while len(found) < n and len(numbers):
            worth = doubts[numbers] * (1 - nearest[numbers])
            best = int(np.argmax(worth))
            text = int(numbers[best])
            found.append(text)
            numbers = np.delete(numbers, best)
            if len(found) < n:
                np.maximum(nearest, self.similarities(text), out=nearest)
        return found


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    plain = ["", *(_DIGITS.sub("0", word.lower()) for word in words), ""]
    return set(itertools.pairwise(plain))
