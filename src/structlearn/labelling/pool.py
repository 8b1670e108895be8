"""The texts that are labelled: read, each once, and the order in which they are asked for."""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from .kinds import Kind, Text
from .order import ORDERS, doubts
from .variety import Variety

#: Texts whose doubt is asked at a time, and those that are asked again before one is chosen.
_AT_ONCE, _AGAIN = 256, 64
#: Tokens of a text; a browser does not show more of them with ease.
MOST_TOKENS = 20_000


class Pool:
    """Texts, and how much a tagger doubts each.

    Parameters
    ----------
    texts : sequence of str, or of Text
        Equal ones, those without a token and those with more than ``MOST_TOKENS`` are left out.
    kind : Kind

    Attributes
    ----------
    texts : list of Text
    number : dict
        Of each text.
    left_out, too_long : int
        Texts that are empty or equal to an earlier one, and those with too many tokens.
    """

    def __init__(self, texts: Sequence[str | Text], kind: Kind) -> None:
        self.texts: list[Text] = []
        self.number: dict[str, int] = {}
        self.left_out = self.too_long = 0
        for one in texts:
            text = one if isinstance(one, Text) else kind.cut(0, one)
            if text.text in self.number or not text.places:
                self.left_out += 1
            elif len(text.places) > MOST_TOKENS:
                self.too_long += 1
            else:
                text.number = self.number[text.text] = len(self.texts)
                self.texts.append(text)
        self.variety = Variety([text.words for text in self.texts])
        self._chance = random.Random(0).sample(range(len(self.texts)), len(self.texts))
        self._doubts: dict[str, Any] = {}
        self._lock = threading.Lock()

    def answered(self, text: str) -> None:
        """Count a text among those that were asked for."""
        if text in self.number:
            with self._lock:
                self.variety.add(self.number[text])

    def learned(self, tagger: Any, by: str) -> None:
        """Ask a tagger how much it doubts each text."""
        worth = np.zeros(len(self.texts))
        for first in range(0, len(self.texts), _AT_ONCE):
            part = self.texts[first : first + _AT_ONCE]
            worth[first : first + len(part)] = self._asked(tagger, part, by)
        self._doubts = {by: worth}

    def _asked(self, tagger: Any, texts: Sequence[Text], by: str) -> Any:
        """Return the doubt about each text: of its sentences the largest one."""
        rows = [[text.words[t] for t in sentence] for text in texts for sentence in text.sentences]
        told, at, found = doubts(tagger, rows, by), 0, []
        for text in texts:
            found.append(float(max(told[at : at + len(text.sentences)])))
            at += len(text.sentences)
        return np.array(found)

    def next(self, order: str, left: Collection[int], tagger: Any, most: int = 1) -> list[int]:
        """Return the texts to ask for next, of those that are left.

        Parameters
        ----------
        order : str
            One of :data:`ORDERS`. Without a tagger, texts are asked for that are unlike those
            before.
        """
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
        if order == "plain":
            return sorted(left, key=lambda i: (-self.texts[i].rank, i))[:most]
        if order == "random":
            return [i for i in self._chance if i in left][:most]
        with self._lock:
            numbers = np.array(sorted(left), dtype=np.int64)
            if tagger is None or not len(numbers):
                shuffled = [i for i in self._chance if i in left]
                return self.variety.chosen(np.ones(len(self.texts)), shuffled, most)
            doubts_before = self._doubts.get(order)
            if doubts_before is None:  # the order was changed: a few are asked, until all are
                doubts_before = np.ones(len(self.texts))
            worth = doubts_before[numbers] * (1 - self.variety.nearest[numbers])
            first = numbers[np.argsort(-worth, kind="stable")[: max(most, _AGAIN)]]
            now = np.array(doubts_before)
            now[first] = self._asked(tagger, [self.texts[i] for i in first], order)
            return self.variety.chosen(now, first.tolist(), most)
