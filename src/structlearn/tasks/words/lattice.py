"""The segmenter of texts without blanks whose model is a lattice of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...exceptions import CapabilityError
from .cut_text import BEGINS, GOES_ON, UNKNOWN, Cut
from .dictionary import read_entries
from .lattice_model import LatticeModel
from .segmenter import SEPARATORS, WordSegmenter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: Paths that are looked at for cuts that differ, at most: tags differ more often than words.
_MOST_PATHS = 4096


class LatticeSegmenter(WordSegmenter):
    """Cuts texts into words with tags: the best path through a lattice of words.

    The words that may stand at a place are those of a dictionary, which the training text makes,
    and unknown ones by the kinds of their characters. A path scores

    .. math:: \\sum_j s(w_j, t_j) + b(i_j) + p(c_{j-1}, c_j),

    what a word has by itself (its entry, tag, length, characters), what speaks for a word beginning
    at its place (the features of :class:`WordSegmenter`), and the pair of it and the word before:
    of classes, which are tags with kinds of characters, and frequent words themselves.

    Parameters
    ----------
    learner : {"perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"}
        The estimator that learns the weights.
    dictionary : path or list, optional
        Words beside those of the training texts: a word on each line, and after a tab its tag if
        it has one; lines of a dictionary of MeCab are read too.
    tags : bool, default=True
        Learn the tags of words too, if the training file has any.
    tag : str or int, optional
        The column of the tags, of column files (a number from 1; default: the last one) and of
        CoNLL-U (default: upos).
    min_count, min_words : int, default=1
        Leave out features, and words of the training texts, that are there fewer times than this.
    whole : bool, default=True
        Runs of Latin letters and of digits stay whole, if the training texts hardly ever cut them.
    prune : float, default=0.0
        Leave weights of places of at most this absolute value out of the model.
    {learning}

    Attributes
    ----------
    model_ : LatticeModel
        What was learned.
    history_ : list of dict
        A record for each pass.

    References
    ----------
    T. Kudo, K. Yamamoto & Y. Matsumoto (2004), Applying conditional random fields to Japanese
    morphological analysis.

    Examples
    --------
    >>> from structlearn.tasks import LatticeSegmenter
    >>> cut = [[("東京", "N"), ("は", "P"), ("日本", "N"), ("の", "P"), ("首都", "N")]] * 5
    >>> words = LatticeSegmenter().fit(cut)
    >>> words.predict_tags(["日本の東京"])
    [[('日本', 'N'), ('の', 'P'), ('東京', 'N')]]
    """

    task = "word lattice"
    _model_kind = LatticeModel
    _title = "Word segmenter with a lattice"

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"LatticeSegmenter(learner={self.learner!r}{state})"

    # -- learning -------------------------------------------------------------------------------

    @property
    def _fitting(self) -> Any:
        from .lattice_fitting import LatticeFitting

        return LatticeFitting

    def _listed_words(self) -> Any:
        return read_entries(self.dictionary)

    def _without_tags(self, sentences: list[Cut]) -> list[Cut]:
        return sentences if self.tags else [Cut(cut.text, cut.marks) for cut in sentences]

    def _learn_tags(self, model: Any, sentences: list[Cut], weights: Any) -> None:
        """Do nothing: paths have tags."""

    # -- cutting --------------------------------------------------------------------------------

    def _found(self, cutter: Any, text: str) -> list[tuple[int, int]]:
        return [(begin, end) for begin, end, _ in cutter.places(text)]

    def _found_with_tags(self, cutter: Any, texts: list[str]) -> list[list[tuple[int, int, str]]]:
        tags = self._fitted().tags
        return [[(a, b, tags[t] or "_") for a, b, t in cutter.places(text)] for text in texts]

    def predict_kbest(
        self, X: Any, n: int = 5, *, forbidden: Any = None, **reading: Any
    ) -> list[list[tuple[float, Any]]]:
        """Return the n best cuts of each text as (score, words), best first.

        Of paths that differ in their tags alone, the best one counts.
        """
        rows: list[list[tuple[float, Any]]] = []
        for text in self._texts(X):
            asked = int(n)
            while True:
                paths = super().predict_kbest([text], asked, forbidden=forbidden, **reading)[0]
                first: dict[tuple[str, ...], tuple[float, Any]] = {}
                for score, words in paths:
                    first.setdefault(tuple(words), (score, words))
                if len(first) >= n or len(paths) < asked or asked >= _MOST_PATHS:
                    break
                asked *= 4
            rows.append(list(first.values())[: int(n)])
        return rows

    def boundaries(self, X: Any, *, temperature: float | None = None) -> list[list[float]]:
        """Return for each character of each text the probability that a word begins there."""
        self._fitted()
        at, rows = self._at(temperature), []
        for text in self._texts(X):
            row = [0.0] * len(text)
            for begin, _, p in self._word_probabilities(text, at):
                row[begin] = min(1.0, row[begin] + p)
            rows.append(row)
        return rows

    def likely_words(
        self, X: Any, least: float = 0.1, *, most: int = 16, temperature: float | None = None
    ) -> list[list[tuple[int, int, float]]]:
        """Return (begin, end, probability) of all words that are likely in each text, for search.

        Parameters
        ----------
        least : float
            Words of at least this probability.
        most : int
            Characters of the longest word.
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        at = self._at(temperature)
        return [
            [
                (begin, end, p)
                for begin, end, p in self._word_probabilities(text, at)
                if p >= least and end - begin <= most
            ]
            for text in self._texts(X)
        ]

    def _word_probabilities(self, text: str, at: float) -> list[tuple[int, int, float]]:
        """Return (begin, end, probability) of the words that a text may have."""
        if not text.strip(SEPARATORS):
            return []
        return self._summed_words(text, self._inputs([text]).marginals(at)[0])

    def _summed_words(self, text: str, parts: Any) -> list[tuple[int, int, float]]:
        """Return the probabilities of words, whatever their tags."""
        places, sums = self._characters(text), dict[tuple[int, int], float]()
        for begin, end, _, p in parts:
            place = (places[begin], places[end - 1] + 1)
            if text[place[0] : place[1]].strip(SEPARATORS):
                sums[place] = min(1.0, sums.get(place, 0.0) + p)
        return [(begin, end, p) for (begin, end), p in sorted(sums.items())]

    # -- hooks of a model -----------------------------------------------------------------------

    def _words_of(self, text: str, output: Any) -> list[tuple[int, int, int]]:
        """Return the words of an output as (begin, end, tag) in the text."""
        places = self._characters(text)
        words = zip(output[::3], output[1::3], output[2::3], strict=True)
        found = [(places[a], places[b - 1] + 1, tag) for a, b, tag in words]
        return [word for word in found if text[word[0] : word[1]].strip(SEPARATORS)]

    def _named(self, inputs: Any, i: int, output: Any) -> list[str]:
        text = inputs.source[i]
        return [text[a:b] for a, b, _ in self._words_of(text, output)]

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> Any:
        text = inputs.source[i]
        begins = dict.fromkeys(self._characters(text), 0.0)
        for begin, _, p in self._summed_words(text, parts):
            begins[begin] = min(1.0, begins[begin] + p)
        return begins

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        forbidden = []
        for i, parts in enumerate(inputs.marginals(1.0, 0.0, self.n_threads)):
            text = inputs.source[i]
            marks = self._marks(text, outputs[i])
            begins = [at for at, mark in enumerate(marks) if mark == BEGINS]
            words = set(zip(begins, [*begins[1:], len(marks)], strict=True))
            forbidden.append([(a, b, t) for a, b, t, _ in parts if (a, b) not in words])
        sums: list[float] = inputs.without(forbidden).log_partition(temperature, self.n_threads)
        return [-math.inf if math.isnan(value) else value for value in sums]

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        tags, rows = self._fitted().tags, []
        for output, cut in zip(outputs, gold, strict=True):
            marks = bytes(cut.marks[at] for at in self._characters(cut.text)) + bytes([BEGINS])
            known = dict(zip((a for a, _ in cut.spans()), cut.tags or (), strict=False))
            places = self._characters(cut.text)
            row: list[bool | None] = []
            for a, b, tag in zip(output[::3], output[1::3], output[2::3], strict=True):
                expected = bytes([BEGINS, *[GOES_ON] * (b - a - 1), BEGINS])
                seen = marks[a : b + 1]
                pairs = list(zip(seen, expected, strict=True))
                if any(mark not in (UNKNOWN, wanted) for mark, wanted in pairs):
                    row.append(False)
                elif UNKNOWN in seen:
                    row.append(None)
                else:
                    row.append(not cut.tags or known.get(places[a], tags[tag]) == tags[tag])
            rows.append(row)
        return rows

    def _pairs(self) -> Iterable[tuple[str, str, float]]:
        raise CapabilityError("the classes of a lattice have no names")
