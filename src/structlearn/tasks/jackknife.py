"""Tags of training sentences by taggers that have not seen them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from ..estimators.jackknife import jackknife
from ..text.corpus import Corpus
from .tagging.model import TaggerModel

__all__ = ["jackknifed_tags"]


def jackknifed_tags(
    corpus: Corpus, folds: int, learn: Callable[[Corpus], TaggerModel], n_jobs: int = 1
) -> tuple[array[int], list[str]]:
    """Return predicted tags for the sentences that taggers are to be learned from.

    Parameters
    ----------
    corpus : Corpus
        Sentences with their tags.
    learn : callable
        Makes a tagger from a part of the corpus.

    Returns
    -------
    numbers : array of unsigned int
        The number of each token's tag.
    names : list of str
        The tags that they stand for.
    """
    names: dict[str, int] = {}

    def predict(tagger: TaggerModel, held_out: Sequence[int]) -> list[int]:
        outputs = tagger.inputs(corpus.subset(held_out)).solve(n_jobs).outputs
        numbers = [names.setdefault(name, len(names)) for name in tagger.shown]
        return [numbers[cell] for row in outputs for cell in row]

    found = jackknife(len(corpus), folds, lambda rest: learn(corpus.subset(rest)), predict)
    return array("I", found), list(names)
