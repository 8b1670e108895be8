"""What the labels of a hidden Markov model emit: words, or vectors of numbers.

Statistics are additive (``+`` joins those of two parts of the data); a model is made from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CategoricalEmissions", "GaussianEmissions", "Moments", "WordCounts"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

#: A feature whose standard deviation is this share of its mean, or less, is constant but for
#: rounding.
_ROUNDING = 64 * np.finfo(np.float64).eps

#: Keeps logarithms finite where a product of tiny probabilities underflows.
_SMALLEST = 1e-300


def log(p: Array) -> Array:
    """Return log p, finite for p = 0."""
    result: Array = np.log(np.maximum(p, _SMALLEST))
    return result


def smooth(counts: Array, coarser: Array, strength: float) -> Array:
    """Return (c + α·coarser) / (Σ c + α) along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    result: Array = (counts + strength * coarser) / (total + strength)
    return result


# -- words ----------------------------------------------------------------------------------------


@dataclass
class WordCounts:
    """How often each word was seen with each label.

    Attributes
    ----------
    index : dict of str to int
        Row of each word.
    table : array of shape (V, K)
        Weighted counts.
    """

    index: dict[str, int]
    table: Array

    @classmethod
    def of(cls, words: list[str], labels: Indices, weights: Array, n_labels: int) -> WordCounts:
        """Count words with their labels (indices)."""
        index: dict[str, int] = {}
        rows = np.fromiter(
            (index.setdefault(w, len(index)) for w in words), np.int64, count=len(words)
        )
        flat = np.bincount(rows * n_labels + labels, weights, minlength=len(index) * n_labels)
        return cls(index, flat.astype(np.float64, copy=False).reshape(-1, n_labels))

    def __add__(self, other: WordCounts) -> WordCounts:
        index = dict(self.index)
        rows = [index.setdefault(word, len(index)) for word in other.index]
        table = np.zeros((len(index), self.table.shape[1]))
        table[: len(self.table)] = self.table
        table[rows] += other.table
        return WordCounts(index, table)


class CategoricalEmissions:
    """P(word | label), for words never seen from their spelling.

    What a word w says of its label is smoothed from the general to the special: the label
    frequencies; those of rare words; of rare words that are (or are not) capitalised; of those with
    the same last 1, 2, …, ``suffix_length`` letters; of w in lower case; and of w itself. Each step
    adds α imaginary observations (the last one ``word_alpha``) drawn from the step before:

        P(k | step) = (c(step, k) + α·P(k | step before)) / (c(step) + α).

    Steps without a count are passed over. Bayes' rule turns P(k | w) round:

        P(w | k) = P(w)·P(k | w) / Z_k,   P(w) = (1 − u)·c(w)/N,   u = V/(N + V),

    where u, the probability of a word never seen, is Witten and Bell's for V words of N tokens, and
    Z_k = Σ_w P(w)·P(k | w) + u·P(k | rare) makes the known words and the one event "unknown word"
    sum to one for each label. An unknown word has P(w) = u: its spelling enters as the likelihood
    ratio P(k | w) / P(k | rare).

    Parameters
    ----------
    counts : WordCounts
    alpha, word_alpha : float
        Imaginary observations, > 0.
    suffix_length : int
        Longest suffix; 0: nothing is made of spelling or case, words are mere symbols.
    rare : float
        Words seen at most this often tell about spelling.

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
        self._alpha = alpha
        self._suffix_length = suffix_length
        totals = counts.table.sum(axis=1)
        seen = np.flatnonzero(totals > 0)  # words of weight 0 are unknown
        words = [w for w, known in zip(counts.index, totals > 0, strict=True) if known]
        table, totals = counts.table[seen], totals[seen]
        self._index = {w: i for i, w in enumerate(words)}
        n_labels = table.shape[1]
        frequencies = smooth(table.sum(axis=0), np.full(n_labels, 1.0 / n_labels), alpha)
        uncommon = np.flatnonzero(totals <= rare)
        self._unknown = smooth(table[uncommon].sum(axis=0), frequencies, alpha)
        self._learn_spelling([words[i] for i in uncommon], table[uncommon])
        self._learn_lower_case(words, table)
        given = smooth(table, self._from_spelling(words), word_alpha)

        mass = len(words) / (totals.sum() + len(words))
        prior = (1.0 - mass) * totals / totals.sum()
        self._log_normaliser = log(prior @ given + mass * self._unknown)
        self._log_unseen = float(log(mass))
        self._scores = log(prior)[:, np.newaxis] + log(given) - self._log_normaliser

    @property
    def words(self) -> list[str]:
        """The known words."""
        return list(self._index)

    @property
    def log_unknown(self) -> Array:
        """Log P(unknown word | label), whatever its spelling."""
        result: Array = self._log_unseen + log(self._unknown) - self._log_normaliser
        return result

    def scores(self, words: list[str]) -> Array:
        """Return log P(word | label), one row per word."""
        rows = np.array([self._index.get(w, -1) for w in words], dtype=np.int64)
        result: Array = self._scores[rows]
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            places: dict[str, int] = {}
            which = [places.setdefault(words[i], len(places)) for i in missing]
            given = log(self._from_spelling(list(places)))
            result[missing] = (self._log_unseen + given - self._log_normaliser)[which]
        return result

    # -- spelling -------------------------------------------------------------------------------

    def _learn_spelling(self, words: list[str], table: Array) -> None:
        """Make P(k | capitalisation, suffix) for all suffixes of the rare words, shortest first."""
        keys: dict[str, int] = {}
        levels: list[Array] = []
        above = [0] * len(words)  # each word's row one level up
        n_above, parents = 1, self._unknown[np.newaxis]
        alive = list(range(len(words))) if self._suffix_length else []
        spellings = [_spelling(w) for w in words]
        for length in range(1, self._suffix_length + 2):
            alive = [i for i in alive if len(spellings[i]) >= length]
            if not alive:
                break
            level: dict[str, int] = {}
            rows = [level.setdefault(_suffix(spellings[i], length), len(level)) for i in alive]
            counts = np.zeros((len(level), table.shape[1]))
            np.add.at(counts, rows, table[alive])
            up = np.empty(len(level), dtype=np.int64)
            up[rows] = [above[i] for i in alive]
            for i, row in zip(alive, rows, strict=True):
                above[i] = row
            parents = smooth(counts, parents[up], self._alpha)
            keys.update({key: n_above + row for key, row in level.items()})
            n_above += len(level)
            levels.append(parents)
        self._suffixes = keys
        self._given_suffix = np.concatenate([self._unknown[np.newaxis], *levels])

    def _learn_lower_case(self, words: list[str], table: Array) -> None:
        self._lower: dict[str, int] = {}
        if self._suffix_length:
            rows = [self._lower.setdefault(w.lower(), len(self._lower)) for w in words]
            self._lower_counts = np.zeros((len(self._lower), table.shape[1]))
            np.add.at(self._lower_counts, rows, table)

    def _from_spelling(self, words: list[str]) -> Array:
        """Return P(k | word) as far as spelling and case tell."""
        if not self._suffix_length:
            return np.tile(self._unknown, (len(words), 1))
        found = self._given_suffix[[self._longest_suffix(_spelling(w)) for w in words]]
        lower = np.array([self._lower.get(w.lower(), -1) for w in words], dtype=np.int64)
        known = np.flatnonzero(lower >= 0)
        found[known] = smooth(self._lower_counts[lower[known]], found[known], self._alpha)
        result: Array = found
        return result

    def _longest_suffix(self, spelling: str) -> int:
        for length in range(min(len(spelling), self._suffix_length + 1), 0, -1):
            row = self._suffixes.get(_suffix(spelling, length))
            if row is not None:
                return row
        return 0


def _spelling(word: str) -> str:
    """Return the word in lower case, after a mark that says whether it was capitalised."""
    return ("+" if word[:1].isupper() else "-") + word.lower()


def _suffix(spelling: str, length: int) -> str:
    """Return the mark and the last ``length − 1`` letters."""
    return spelling[0] + spelling[len(spelling) - length + 1 :]


# -- vectors --------------------------------------------------------------------------------------


@dataclass
class Moments:
    """Weight, mean and scatter Σ w (x − mean)(x − mean)ᵀ of the vectors of each label."""

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, values: Array, labels: Indices, weights: Array, n_labels: int) -> Moments:
        """Collect the moments of vectors (rows) by label (indices)."""
        d = values.shape[1]
        found = cls(np.zeros(n_labels), np.zeros((n_labels, d)), np.zeros((n_labels, d, d)))
        for k in range(n_labels):
            mine = (labels == k) & (weights > 0)
            if not mine.any():
                continue
            x, w = values[mine], weights[mine]
            found.weight[k] = w.sum()
            mean = w @ x / w.sum()
            centred = x - mean  # before squaring: large means would swallow variances
            rounding = w @ centred / w.sum()  # of the mean; none is left of a constant feature
            found.mean[k] = mean + rounding
            centred -= rounding
            found.scatter[k] = (centred * w[:, np.newaxis]).T @ centred
        return found

    def __add__(self, other: Moments) -> Moments:
        # Chan, Golub & LeVeque (1983): no difference of large sums.
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        gap = other.mean - self.mean
        outer = gap[:, :, np.newaxis] * gap[:, np.newaxis, :]
        return Moments(
            weight,
            self.mean + share[:, np.newaxis] * gap,
            self.scatter + other.scatter + (self.weight * share)[:, np.newaxis, np.newaxis] * outer,
        )


class GaussianEmissions:
    """P(x | label) = Normal(mean_k, Σ_k), with covariances that lean on each other.

    With n_k vectors of label k, S_k their scatter, d features that are not constant, N vectors in
    all and T the variances of the data as a whole:

        W   = (Σ_k S_k + diag(T)) / (N + 1)                   (what the labels share)
        Σ_k = (1 − ρ)·(S_k + d·W) / (n_k + d) + ρ·diag(W).

    A label seen once gets the shared covariance, one seen often its own. Scaling a feature, or
    adding a constant to it, changes no posterior. A constant feature (one that varies by no more
    than its rounding) has variance 1 and the same mean for every label, and so tells nothing.

    Parameters
    ----------
    moments : Moments
    shrinkage : float
        ρ, from 0 to 1; 1 is one diagonal covariance for all labels.

    Attributes
    ----------
    means : array of shape (K, d)
    covariances : array of shape (K, d, d)
    """

    def __init__(self, moments: Moments, *, shrinkage: float) -> None:
        weight, size = moments.weight, moments.mean.shape[1]
        total = weight.sum()
        self._origin = weight @ moments.mean / total
        self.means = np.where(weight[:, np.newaxis] > 0, moments.mean, self._origin)
        within = moments.scatter.sum(axis=0)
        between = weight @ (self.means - self._origin) ** 2
        variance = (np.diag(within) + between) / total
        constant = np.sqrt(variance) <= _ROUNDING * np.abs(self._origin)
        self.means[:, constant] = self._origin[constant]
        d = max(1, int((~constant).sum()))
        shared = (within + np.diag(variance)) / (total + 1.0)
        seen = weight[:, np.newaxis, np.newaxis] + d
        self.covariances: Array = (1.0 - shrinkage) * (moments.scatter + d * shared) / seen
        self.covariances += shrinkage * np.diag(np.diag(shared))
        self.covariances[:, constant, :] = 0.0
        self.covariances[:, :, constant] = 0.0
        self.covariances[:, constant, constant] = 1.0
        if not np.isfinite(self.covariances).all():
            raise ValueError("the features of X are too large: their squares overflow")
        try:
            factors = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise ValueError(
                "a covariance is singular: features depend on each other; raise shrinkage"
            ) from None
        self._whiten = np.linalg.inv(factors)
        self._centres = np.einsum("kij,kj->ki", self._whiten, self.means - self._origin)
        half_log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        self._constant: Array = -half_log_det - 0.5 * size * np.log(2.0 * np.pi)

    def scores(self, values: Array) -> Array:
        """Return log P(x | label), one row per vector."""
        values = values - self._origin
        scores = np.empty((len(values), len(self.means)))
        for k, (whiten, centre) in enumerate(zip(self._whiten, self._centres, strict=True)):
            # One product per vector: BLAS rounds differently for different numbers of rows.
            white = np.matmul(whiten, values[:, :, np.newaxis])[:, :, 0]
            scores[:, k] = self._constant[k] - 0.5 * ((white - centre) ** 2).sum(axis=1)
        return scores
