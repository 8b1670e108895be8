"""Lexical categories: weighted lists of words, some of them open to new words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from structlearn.datasets.randomness import Draw

# Shares of an open class for words derived from the lists, and for coined words.
_DERIVED = 0.025
_COINED = 0.015


class Category:
    """A lexical category: a tag, a list of words with frequencies, perhaps a coiner.

    Parameters
    ----------
    tag : str
        The tag of the words.
    words : sequence of str
        The listed words.
    weights : sequence of float
        Their relative frequencies.
    coin : callable, optional
        Makes a new word from uniform numbers.
    coined : float
        Share of the tokens that are coined.
    """

    __slots__ = ("_bounds", "coin", "coined", "tag", "words")

    def __init__(
        self,
        tag: str,
        words: Sequence[str],
        weights: Sequence[float],
        coin: Callable[[Draw], str] | None = None,
        coined: float = 0.0,
    ) -> None:
        self.tag = tag
        self.words = tuple(words)
        self.coin = coin
        self.coined = coined if coin else 0.0
        scale = (1.0 - self.coined) / sum(weights)
        bounds = [self.coined + scale * total for total in accumulate(weights)]
        bounds[-1] = 1.0  # rounding must not leave a gap at the end
        self._bounds = bounds

    def sample(self, draw: Draw) -> str:
        """Return one word."""
        u = draw()
        if self.coin is not None and u < self.coined:
            return self.coin(draw)
        return self.words[bisect_right(self._bounds, u)]


def zipf_weights(count: int, total: float) -> list[float]:
    """Return Zipf-like frequencies that sum to ``total``.

    The first ranks are flattened, so that no word dominates its class, and the last ones fall
    faster than by rank: words beyond the lists have their own share.
    """
    raw = [1.0 / ((rank + 1.5) * (1.0 + rank / 16.0)) for rank in range(count)]
    scale = total / sum(raw)
    return [scale * value for value in raw]


def open_category(
    tag: str,
    listed: Sequence[str],
    derived: Sequence[str] = (),
    coin: Callable[[Draw], str] | None = None,
    coined: float = _COINED,
) -> Category:
    """Return an open class: listed words by rank, then derived ones, and a coiner for the rest."""
    seen = set(listed)
    tail = [word for word in dict.fromkeys(derived) if word not in seen]
    share = _DERIVED if tail else 0.0
    weights = zipf_weights(len(listed), 1.0 - share) + [share / max(len(tail), 1)] * len(tail)
    return Category(tag, [*listed, *tail], weights, coin, coined)


def closed_category(tag: str, text: str) -> Category:
    """Return a closed class from its words, each with a weight after a colon unless it is 1."""
    pairs = [(word, weight) for word, _, weight in (item.rpartition(":") for item in text.split())]
    return Category(
        tag,
        [word or weight for word, weight in pairs],
        [float(weight) if word else 1.0 for word, weight in pairs],
    )
