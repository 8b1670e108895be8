"""Word emissions of a hidden Markov model.

Training counts with NumPy; labelling from the counts does without it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import _core

#: The index of an unknown word.
_UNSEEN = (1 << 32) - 1


@dataclass
class WordCounts:
    """The number of times each word was seen with each label.

    Attributes
    ----------
    index : dict of str to int
        Row of each word.
    table : array or memoryview of float, of shape (V, K)
        Weighted counts.
    """

    index: dict[str, int]
    table: Any

    @classmethod
    def of(cls, words: list[str], labels: Any, weights: Any, n_labels: int) -> WordCounts:
        """Count words with their labels (indices)."""
        import numpy as np

        index: dict[str, int] = {}
        rows = np.fromiter(
            (index.setdefault(w, len(index)) for w in words), np.int64, count=len(words)
        )
        flat = np.bincount(rows * n_labels + labels, weights, minlength=len(index) * n_labels)
        return cls(index, flat.astype(np.float64, copy=False).reshape(-1, n_labels))

    def __add__(self, other: WordCounts) -> WordCounts:
        import numpy as np

        index = dict(self.index)
        rows = [index.setdefault(word, len(index)) for word in other.index]
        table = np.zeros((len(index), self.table.shape[1]))
        table[: len(self.table)] = self.table
        table[rows] += other.table
        return WordCounts(index, table)


class CategoricalEmissions:
    """P(word | label), estimated from the spelling for unseen words.

    The label distribution of a word w is smoothed from general to special: the label frequencies;
    those of rare words; of rare words that are (or are not) capitalised; of those with the same
    last 1, 2, …, ``suffix_length`` letters; of w in lower case; and of w itself. Each step adds α
    pseudo-observations (the last one ``word_alpha``) drawn from the previous step:

        P(k | step) = (c(step, k) + α·P(k | previous step)) / (c(step) + α).

    Steps without a count are skipped. Bayes' rule inverts P(k | w):

        P(w | k) = P(w)·P(k | w) / Z_k,   P(w) = (1 − u)·c(w)/N,   u = V/(N + V),

    where u, the probability of an unseen word, is Witten and Bell's for V words of N tokens, and
    Z_k = Σ_w P(w)·P(k | w) + u·P(k | rare) normalises the known words and the single event "unknown
    word" to one for each label. An unknown word has P(w) = u: its spelling enters as the likelihood
    ratio P(k | w) / P(k | rare).

    Parameters
    ----------
    counts : WordCounts
    alpha, word_alpha : float
        Pseudo-observations, > 0.
    suffix_length : int
        Longest suffix; 0: spelling and case are ignored, words are mere symbols.
    rare : float
        Spelling is learned from words seen at most this often.

    References
    ----------
    T. Brants (2000), TnT: a statistical part-of-speech tagger; I. Witten & T. Bell (1991), The
    zero-frequency problem.
    """

    def __init__(
        self,
        counts: WordCounts,
        *,
        alpha: float,
        word_alpha: float,
        suffix_length: int,
        rare: float,
    ) -> None:
        self.counts = counts
        self.options = {
            "alpha": alpha,
            "word_alpha": word_alpha,
            "suffix_length": suffix_length,
            "rare": rare,
        }
        self._longest = suffix_length + 1 if suffix_length else 0  # a suffix with its mark
        n_labels = counts.table.shape[1]
        flat = array("d", bytes(counts.table))
        rows = [flat[i : i + n_labels] for i in range(0, len(flat), n_labels)]
        # Words of weight 0 are unknown.
        known_words = [(w, row) for w, row in zip(counts.index, rows, strict=True) if any(row)]
        self._index = {word: i for i, (word, _) in enumerate(known_words)}
        self._lower: dict[str, int] = {}
        #: Suffixes of rare words; 0 is the empty one.
        self._suffixes: dict[str, int] = {}
        uncommon = array("I", (i for i, (_, row) in enumerate(known_words) if sum(row) <= rare))
        parents = array("I", [0])
        leaves = array("I", (self._learn_suffixes(known_words[i][0], parents) for i in uncommon))
        lower = array("I")
        if suffix_length:
            lower.extend(self._lower.setdefault(w.lower(), len(self._lower)) for w in self._index)
        self._core = _core.WordEmissions(
            n_labels,
            b"".join(row.tobytes() for _, row in known_words),
            parents,
            uncommon,
            leaves,
            array("I", map(self._suffix, self._index)),
            lower,
            alpha,
            word_alpha,
        )

    def __reduce__(self) -> Any:
        return _made_again, (self.counts, self.options)

    @property
    def words(self) -> list[str]:
        """The known words."""
        return list(self._index)

    @property
    def log_unknown(self) -> Any:
        """Log P(unknown word | label), for any spelling: an array of shape (K,)."""
        import numpy as np

        return np.frombuffer(self._core.scores(*(array("I", [k]) for k in (_UNSEEN, 0, _UNSEEN))))

    def scores(self, words: Sequence[str]) -> Any:
        """Return log P(word | label), an array with one row per word."""
        import numpy as np

        n_labels = self.counts.table.shape[1]
        return np.frombuffer(self._scores(words)).reshape(-1, n_labels)

    def vector(self, word: str) -> array[float]:
        """Return log P(word | label) in single precision, as taggers read it."""
        return array("f", array("d", self._scores([word])))

    def _scores(self, words: Sequence[str]) -> bytes:
        """Return log P(word | label), one row per word."""
        numbers = array("I", (self._index.get(word, _UNSEEN) for word in words))
        suffixes, lower = array("I", bytes(4 * len(words))), array("I", [_UNSEEN]) * len(words)
        spellings: dict[str, tuple[int, int]] = {}
        for i, number in enumerate(numbers):
            if number == _UNSEEN:
                word = words[i]
                if word not in spellings:
                    spellings[word] = self._suffix(word), self._lower.get(word.lower(), _UNSEEN)
                suffixes[i], lower[i] = spellings[word]
        return self._core.scores(numbers, suffixes, lower)

    # -- spelling -------------------------------------------------------------------------------

    def _learn_suffixes(self, word: str, parents: array[int]) -> int:
        """Number the suffixes of a rare word; return the number of the longest one."""
        spelling, number = _spelling(word), 0
        for length in range(1, min(len(spelling), self._longest) + 1):
            suffix = _ending(spelling, length)
            if suffix not in self._suffixes:
                self._suffixes[suffix] = len(parents)
                parents.append(number)
            number = self._suffixes[suffix]
        return number

    def _suffix(self, word: str) -> int:
        """Return the longest suffix of a word that is known from rare words."""
        spelling = _spelling(word)
        for length in range(min(len(spelling), self._longest), 0, -1):
            number = self._suffixes.get(_ending(spelling, length))
            if number is not None:
                return number
        return 0


def _made_again(counts: WordCounts, options: dict[str, Any]) -> CategoricalEmissions:
    return CategoricalEmissions(counts, **options)


def _spelling(word: str) -> str:
    """Return the word in lower case, after a mark for capitalisation."""
    return ("+" if word[:1].isupper() else "-") + word.lower()


def _ending(spelling: str, length: int) -> str:
    """Return the mark and the last ``length − 1`` letters."""
    return spelling[0] + spelling[len(spelling) - length + 1 :]
