"""Tags that agree: UPOS, XPOS and features, chosen together among the combinations seen.

Three taggers, one of each column, give the probabilities of their tags at each word. The
combination (u, x, f) with the greatest log P(u) + log P(x) + log P(f) is taken, of those that the
treebank has: 395 in English, where taggers alone could give thousands.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from functools import partial

from ... import _core
from ...models.temperature import temperature_of
from ...text.corpus import Corpus
from ..dependencies.tags import TAG_COLUMNS
from ..tagging.model import TaggerModel
from ..tagging.tagger import Tagger

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...fitting.parts import Parts
    from ...fitting.split_corpus import Counts, SplitCorpus

__all__ = [
    "TAG_COLUMNS",
    "AgreeingTagger",
    "jackknifed_tags",
    "seen_combinations",
    "train_tagger",
]

#: Not a label of any treebank: the _ of an empty column is a label like others here.
_NOTHING_UNKNOWN = "\x00"


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
        self.combinations = list(combinations)
        self._labels = []
        self._made: tuple[list[float], Any] | None = None
        for column, model in zip(zip(*self.combinations, strict=True), self.models, strict=True):
            index = {name: k for k, name in enumerate(model.shown)}
            self._labels.append(array("I", map(index.__getitem__, column)))

    def __reduce__(self) -> Any:
        return AgreeingTagger, (self.models, self.combinations)

    def numbers(self, corpus: Corpus, threads: int = 1) -> array[int]:
        """Return the number of the combination of each word.

        Parameters
        ----------
        corpus : Corpus
            Of CoNLL-U; its tags are not read.
        threads : int
            The result does not depend on it.
        """
        return array("I", self._prepared()[0].choose(corpus.core, threads))

    def single(self, forms: list[str]) -> list[tuple[str, str, str]] | None:
        """Return the tags of one sentence, in one call; None if features read more than forms."""
        tags: list[tuple[str, str, str]] | None = self._prepared()[1].predict(forms)
        return tags

    def _prepared(self) -> tuple[_core.AgreeingTags, _core.SentenceCalls]:
        """Return what tags corpora and single sentences, at the temperatures of the models."""
        temperatures = [temperature_of(model.temperature) for model in self.models]
        if self._made is None or temperatures != self._made[0]:  # calibrated since
            names = list(map("\t".join, self.combinations))
            cores = [model.core for model in self.models]
            core = _core.AgreeingTags(cores, temperatures, self._labels, names)
            calls = _core.SentenceCalls(core, {1: [-1, 0]}, self.combinations)
            self._made = temperatures, (core, calls)
        return self._made[1]

    def __call__(self, corpus: Corpus, threads: int = 1) -> list[tuple[str, str, str]]:
        """Return (UPOS, XPOS, FEATS) of each word of all sentences."""
        return [self.combinations[k] for k in self.numbers(corpus, threads)]


def seen_combinations(corpus: Corpus | SplitCorpus) -> list[tuple[str, str, str]]:
    """Return the combinations of tags in a treebank, the most frequent first."""
    from ...fitting.split_corpus import SplitCorpus

    counts = SplitCorpus.of(corpus).parts.sum(_combinations).counts
    return sorted(counts, key=lambda combination: (-counts[combination], combination))


def _combinations(corpus: Corpus) -> Counts:
    from ...fitting.split_corpus import Counts

    columns = ([cell for row in corpus.column(name) for cell in row] for name in TAG_COLUMNS)
    return Counts(Counter(zip(*columns, strict=True)))


def train_tagger(corpus: Corpus | SplitCorpus, column: str, **parameters: Any) -> TaggerModel:
    """Learn a tagger of one column; parameters are those of :class:`~structlearn.tasks.Tagger`."""
    # Candidates would leave values without a probability, and take twice the file.
    fixed: dict[str, Any] = {"names": False, "unknown": _NOTHING_UNKNOWN, "candidates": 0}
    given = {"learner": "perceptron", **parameters}
    tagger = Tagger("pos", target=column, **fixed, **given)
    model: TaggerModel = tagger.fit(corpus).model_
    return model


def jackknifed_tags(
    parts: Parts, folds: int, tagger: AgreeingTagger, threads: int, **parameters: Any
) -> Parts:
    """Return training sentences and their tags by taggers that have not seen them."""
    from ...fitting.jackknife import jackknifed

    def learn(rest: SplitCorpus) -> AgreeingTagger:
        models = []
        for column, whole in zip(TAG_COLUMNS, tagger.models, strict=True):
            models.append(train_tagger(rest, column, **parameters))
            models[-1].calibration = whole.calibration
        return AgreeingTagger(models, seen_combinations(rest))

    return jackknifed(
        parts, _itself, folds, learn, partial(AgreeingTagger.__call__, threads=threads)
    )


def _itself(corpus: Corpus) -> Corpus:
    return corpus
