"""Tags that agree: UPOS, XPOS and features, chosen together among the combinations seen.

Three taggers, one of each column, give the probabilities of their tags at each word. The
combination (u, x, f) with the greatest log P(u) + log P(x) + log P(f) is taken, of those that the
treebank has: 395 in English, where taggers alone could give thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...estimators.jackknife import jackknife
from ...text.corpus import Corpus
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

__all__ = [
    "TAG_COLUMNS",
    "AgreeingTagger",
    "jackknifed",
    "seen_combinations",
    "train_tagger",
]

TAG_COLUMNS = ("upos", "xpos", "feats")
#: Not a label of any treebank: the _ of an empty column is a label like others here.
_NOTHING_UNKNOWN = "\x00"
#: The temperature of perceptrons that no dev set has calibrated.
_TEMPERATURE = 10.0
_LEAST = 1e-12


class AgreeingTagger:
    """Tags words with combinations of tags.

    Parameters
    ----------
    models : list of TaggerModel
        Of UPOS, XPOS and FEATS.
    combinations : list of (str, str, str)
        Those that words may have.
    """

    def __init__(
        self, models: Sequence[TaggerModel], combinations: Sequence[tuple[str, str, str]]
    ) -> None:
        if not combinations:
            raise ValueError("there are no combinations of tags")
        self.models = list(models)
        self.combinations = [tuple(combination) for combination in combinations]
        index = [{name: k for k, name in enumerate(model.shown)} for model in self.models]
        self._columns = [
            np.array([index[c][combination[c]] for combination in self.combinations])
            for c in range(len(TAG_COLUMNS))
        ]

    def numbers(
        self, corpus: Corpus, threads: int = 1
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the number of the combination of each word, and the probability of its UPOS.

        Parameters
        ----------
        corpus : Corpus
            Of CoNLL-U; its tags are not read.
        """
        found = [np.zeros(0, np.int64)]
        certain = [np.zeros(0)]
        readers = [(m, m.reader(corpus), m.temperature or _TEMPERATURE) for m in self.models]
        for s in range(len(corpus)):
            total: Any = 0.0
            first: Any = None
            for (model, reader, temperature), column in zip(readers, self._columns, strict=True):
                p = np.frombuffer(reader.marginals(s, temperature)).reshape(-1, len(model.labels))
                first = p if first is None else first
                total = total + np.log(np.maximum(p, _LEAST))[:, column]
            best = total.argmax(axis=1)
            found.append(best)
            certain.append(first[np.arange(len(best)), self._columns[0][best]])
        return np.concatenate(found), np.concatenate(certain)

    def __call__(self, corpus: Corpus, threads: int = 1) -> list[tuple[str, str, str]]:
        """Return (UPOS, XPOS, FEATS) of each word of all sentences."""
        return [self.combinations[k] for k in self.numbers(corpus, threads)[0]]


def seen_combinations(corpus: Corpus) -> list[tuple[str, str, str]]:
    """Return the combinations of tags in a treebank, the most frequent first."""
    counts: dict[tuple[str, str, str], int] = {}
    for s in range(len(corpus)):
        columns = (corpus.cells(s, name) for name in TAG_COLUMNS)
        for combination in zip(*columns, strict=True):
            counts[combination] = counts.get(combination, 0) + 1
    return sorted(counts, key=lambda combination: (-counts[combination], combination))


def train_tagger(corpus: Corpus, column: str, **parameters: Any) -> TaggerModel:
    """Learn a tagger of one column; parameters are those of :class:`~structlearn.tasks.Tagger`."""
    # Candidates would leave values without a probability, and take twice the file.
    fixed: dict[str, Any] = {"names": False, "unknown": _NOTHING_UNKNOWN, "candidates": 0}
    tagger = Tagger("pos", target=column, **fixed, **parameters)
    model: TaggerModel = tagger.fit(corpus).model_
    return model


def jackknifed(
    corpus: Corpus, folds: int, tagger: AgreeingTagger, **parameters: Any
) -> list[tuple[str, str, str]]:
    """Return the tags of training sentences by taggers that have not seen them."""

    def learn(rest: Sequence[int]) -> AgreeingTagger:
        part, models = corpus.subset(rest), []
        for column, whole in zip(TAG_COLUMNS, tagger.models, strict=True):
            models.append(train_tagger(part, column, **parameters))
            models[-1].calibration = whole.calibration
        return AgreeingTagger(models, seen_combinations(part))

    def predict(model: AgreeingTagger, held_out: Sequence[int]) -> list[tuple[str, str, str]]:
        return model(corpus.subset(held_out))

    return jackknife(len(corpus), folds, learn, predict)
